//! The heap that an entry takes in process memory, besides its payload and its key.

use std::{
    collections::HashMap,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use tally::{
    rounds::Samples,
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;

pub(crate) const ROW: &str = "memory";

const NAMES: [&str; 5] =
    ["Forebay process memory", "quick_cache", "moka", "cached `ShardedLruTtlCache`", "dashmap"];

/// From just over a power of two, where a table has just doubled, to just under the next, where it is full.
const FILLS: [usize; 7] = [66_000, 72_500, 80_000, 88_000, 100_000, 115_000, 130_000];
const TYPICAL: usize = 100_000;
const MOST: f64 = 200.0;

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "Beside each entry, which has the end of its life and the epoch of its space, there is a box with what is told \
             of the value: when it was born, for how long it is fresh, used and kept, how long its load took, and by which \
             numbers it is invalidated. quick_cache and dashmap keep a pointer alone.",
    plan: "None beyond the bound of 200 bytes: it is what refreshes, stale values, tags and outages need.",
}];

pub(crate) fn run(_: &Effort) -> Result<Vec<Table>> {
    let fills = weigh(&FILLS)?;
    let payload = (contest::PAYLOAD + contest::keys(1)[0].len()) as f64;
    let overhead = |fill: &HashMap<String, f64>, name: &str| fill[name] - payload;
    let measured = NAMES.map(|name| {
        let samples = fills.iter().map(|fill| overhead(fill, name)).collect();
        Samples { name, samples }
    });
    let mut table = Table::new(ROW, NAMES[1], measured.into());
    let index = FILLS.iter().position(|&fill| fill == TYPICAL).expect("the typical fill is among all");
    let typical = NAMES.map(|name| table.figure(name).samples[index]);
    table.title = "Memory per entry".into();
    table.about = about(&typical);
    table.unit = "bytes besides value and key";
    let promise = format!("{}: at most {MOST} bytes with {TYPICAL} entries", NAMES[0]);
    table.bound(promise, typical[0], typical[0] <= MOST);
    table.judge(NAMES[0], &NAMES[1..], Better::Less, &WHY);
    Ok(vec![table])
}

fn about(typical: &[f64]) -> String {
    let listed = NAMES.iter().zip(typical).map(|(name, bytes)| format!("{name} {bytes:.0}"));
    format!(
        "Heap bytes per entry besides the value ({}) and its key ({}), as asked of the allocator, which counts them.\n\
         The table has the median and the spread over {} to {} entries, since tables grow by doubling;\n\
         with {TYPICAL} entries it is: {}.\n\
         Of Forebay it is what process memory adds to the store: filled once with it, once without. dashmap has neither \
         bound nor lives.",
        contest::PAYLOAD,
        contest::keys(1)[0].len(),
        FILLS[0],
        FILLS[FILLS.len() - 1],
        listed.collect::<Vec<_>>().join(", "),
    )
}

/// Asks the program whose allocator counts, once for each number of entries.
fn weigh(fills: &[usize]) -> Result<Vec<HashMap<String, f64>>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--manifest-path", manifest, "--package", "weigh", "--"])
        .args(fills.iter().map(ToString::to_string))
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "weigh ended with {}", output.status);
    let lines = String::from_utf8(output.stdout)?;
    lines.lines().map(|line| serde_json::from_str(line).context("weigh answers in JSON")).collect()
}
