//! Larger values.

use std::sync::Arc;

use anyhow::Result;
use forebay_rig::Redis;
use ours::{Compression, Grown};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tally::rounds::{Side, play};
use tokio::runtime::Runtime;

use super::{Curve, Extent, Line, Scale, TASKS, copies::named, each, reads, reads::Reads};
use crate::steps::Track;

/// From 64 B to 1 MiB.
const SIZES: [u64; 8] = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Two for each task.
const KEYS: u64 = 128;

const ABOUT: &str = "\
128 values of each size, made of words drawn from a thousand, so that they compress about as text does. In Redis, 64 tasks
read one value each at a time; compressed is what is above 16 KiB, as by default. In process memory one thread reads.";

const BENDS: &str = "\
Up to a few KiB a read costs its way there and back, whatever it brings. Above that it costs what its bytes cost: Redis
copies them into its answer, the kernel into the buffer of a socket and out of it again, and the process out of the answer
into the value; where an answer does not fit into a socket's buffer, both sides also wake each other several times for
one. Compression moves fewer bytes but has to unpack them, which is the processor's work. Values that take more than
64 KiB in Redis travel on a connection of their own, so that they do not hold up small ones. A hit in process memory hands
out a pointer to the value as it was decoded once, and knows nothing of its size.";

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let runtime = super::runtime()?;
    let redis = Redis::start();
    let line = |name, compression| in_redis(&runtime, &redis, extent, name, compression);
    Ok(Curve {
        name: "sizes",
        title: "Larger values",
        about: ABOUT,
        more: "bytes of a value",
        scale: Scale::Bytes,
        unit: "µs per hit",
        lines: vec![
            line("in Redis, not compressed", Compression::Off),
            line("in Redis, compressed", Compression::Usual),
            in_memory(&runtime, extent),
        ],
        beside: Vec::new(),
        bends: BENDS,
        missing: Vec::new(),
    })
}

fn sizes(extent: &Extent) -> Vec<u64> {
    SIZES.into_iter().filter(|&size| size <= extent.bytes).collect()
}

/// Each size has a space of its own, as spaces adapt to the size of what they hold.
fn in_redis(
    runtime: &Runtime,
    redis: &Redis,
    extent: &Extent,
    name: &'static str,
    compression: Compression,
) -> Line {
    let track = Track { runtime, span: extent.span };
    let sizes = sizes(extent);
    let sides = sizes.iter().map(|&size| {
        let space = format!("{}-{size}", if compression == Compression::Off { "plain" } else { "packed" });
        let cache = Grown::over_redis(runtime, &redis.url(), &space, compression);
        for number in 0..KEYS {
            cache.put(runtime, &named(number), &text(number, size));
        }
        track.rate(TASKS, Arc::new(Reads { cache: Arc::new(cache), keys: KEYS, tasks: TASKS }))
    });
    let line = Line::of(name, &sizes, play(sides.collect(), super::ROUNDS));
    line.map(name, |_, per_second| each(per_second))
}

fn in_memory(runtime: &Runtime, extent: &Extent) -> Line {
    let ids: Vec<String> = (0..KEYS).map(named).collect();
    let sizes = sizes(extent);
    let sides = sizes.iter().map(|&size| {
        // Room for the store and what is beside it.
        let cache = Grown::in_memory(runtime, 4 * KEYS * (size + 1_024));
        cache.load_all(runtime, &ids, |number| text(number as u64, size));
        let ids = &ids;
        Side::new("hit", move || reads::in_memory(&cache, ids, extent.reads))
    });
    Line::of("in process memory", &sizes, play(sides.collect(), super::ROUNDS))
}

/// Words that a seed draws.
fn text(seed: u64, bytes: u64) -> Vec<u8> {
    let mut dice = StdRng::seed_from_u64(0);
    let word = |dice: &mut StdRng| {
        let letters = dice.random_range(2..10);
        (0..letters).map(|_| dice.random_range(b'a'..=b'z')).collect::<Vec<u8>>()
    };
    let words: Vec<_> = (0..1_000).map(|_| word(&mut dice)).collect();
    let mut dice = StdRng::seed_from_u64(seed);
    let bytes = bytes as usize;
    let mut text = Vec::with_capacity(bytes + 10);
    while text.len() < bytes {
        text.extend(&words[dice.random_range(0..words.len())]);
        text.push(b' ');
    }
    text.truncate(bytes);
    text
}
