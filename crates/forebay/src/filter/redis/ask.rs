//! What the scripts of a filter are given, beside the pointer.

use std::time::Duration;

use super::{
    pointer::Generation,
    scripts::{ADD, BEGIN, CHECK, HOLD, LOOK, SWITCH},
};
use crate::{
    filter::{mark::Mark, shape::Shape},
    redis::Script,
};

/// So many bytes of a bitmap tell how full it is, as its bits lie anywhere.
const SAMPLE: u64 = 1 << 20;

/// One question: a script with its keys and arguments after the pointer.
pub(super) struct Ask {
    pub(super) script: &'static Script,
    pub(super) keys: Vec<String>,
    pub(super) arguments: Vec<Vec<u8>>,
}

impl Ask {
    fn new(script: &'static Script, keys: Vec<String>, arguments: Vec<Vec<u8>>) -> Self {
        Self { script, keys, arguments }
    }

    /// Asks only whether the pointer is the present one.
    pub(super) fn pointer() -> Self {
        Self::new(&LOOK, Vec::new(), Vec::new())
    }

    pub(super) fn check(bits: String, current: &Generation, marks: &[Mark], life: Duration) -> Self {
        let [size, hashes] = shape(current.shape);
        let arguments = vec![joined(marks), size, hashes, current.reign.clone().into(), millis(life)];
        Self::new(&CHECK, vec![bits], arguments)
    }

    pub(super) fn add<'a>(
        bitmaps: impl Iterator<Item = (String, &'a Generation)>,
        marks: &[Mark],
        life: Duration,
    ) -> Self {
        let (keys, shapes): (_, Vec<_>) = bitmaps.map(|(key, bitmap)| (key, shape(bitmap.shape))).unzip();
        let first = [joined(marks), millis(life)];
        Self::new(&ADD, keys, first.into_iter().chain(shapes.into_iter().flatten()).collect())
    }

    pub(super) fn look(
        pointer: String,
        current: Option<(String, &Generation)>,
        next: Option<(String, &Generation)>,
    ) -> Self {
        let comes = if next.is_some() { b"1" } else { b"0" };
        let next = next.map_or_else(|| pointer.clone(), |(key, _)| key);
        let (current, [bits, reign, sample]) = match current {
            Some((key, Generation { shape, reign, .. })) => {
                (key, [decimal(shape.bits), reign.clone().into(), decimal(sample(*shape))])
            }
            None => (pointer, [decimal(0), Vec::new(), decimal(1)]),
        };
        Self::new(&LOOK, vec![current, next], vec![bits, reign, sample, comes.into()])
    }

    pub(super) fn begin(
        bits: String,
        other: Option<String>,
        pointer: &str,
        shape: Shape,
        lives: [Duration; 2],
    ) -> Self {
        let [keep, lease] = lives.map(millis);
        let arguments = vec![pointer.into(), decimal(shape.bits), keep, lease];
        Self::new(&BEGIN, [bits].into_iter().chain(other).collect(), arguments)
    }

    pub(super) fn hold(bits: String, lease: Duration) -> Self {
        Self::new(&HOLD, vec![bits], vec![millis(lease)])
    }

    pub(super) fn switch(bits: String, old: Option<String>, next: &Generation, keep: Duration) -> Self {
        let pointer = super::Pointer::to(next).into();
        let arguments = vec![pointer, decimal(next.shape.bits), next.reign.clone().into(), millis(keep)];
        Self::new(&SWITCH, [bits].into_iter().chain(old).collect(), arguments)
    }
}

/// How many bytes of a bitmap are looked at.
pub(super) fn sample(shape: Shape) -> u64 {
    shape.bytes().min(SAMPLE)
}

fn joined(marks: &[Mark]) -> Vec<u8> {
    marks.iter().flat_map(Mark::bytes).copied().collect()
}

fn shape(Shape { bits, hashes }: Shape) -> [Vec<u8>; 2] {
    [decimal(bits), decimal(hashes.into())]
}

fn millis(span: Duration) -> Vec<u8> {
    span.as_millis().to_string().into()
}

fn decimal(number: u64) -> Vec<u8> {
    number.to_string().into()
}
