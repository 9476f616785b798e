//! The packed value of a subject, as the scripts write it; `packed.lua` says what it looks like.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    limiter::{
        backend::{Ask, Hold, Verdict},
        mode::Mode,
        policy::Tier,
        state::{Cells, Gcra, Sliding, Strict, Windows},
        window::Window,
    },
    redis::Reply,
};

/// How many bytes come before the layout.
const HEAD: usize = 21;

/// How many bytes a length takes.
const LENGTH: usize = 5;

/// The width of a cell, then the lengths of the windows.
pub(super) fn layout(mode: Mode, tier: &Tier) -> Vec<u8> {
    let most = tier.windows.iter().map(Window::limit).max().unwrap_or(0);
    let width = match mode {
        Mode::Strict if most < 1 << 32 => 4,
        Mode::Strict | Mode::Sliding | Mode::Log => 6,
        Mode::Gcra => 7,
    };
    let mut layout = vec![width];
    for window in &tier.windows {
        layout.extend_from_slice(&window.millis().to_be_bytes()[8 - LENGTH..]);
    }
    layout
}

/// Reads what a check answers: the value alone if the cost was taken, else what stands in its way.
pub(super) fn verdict(mode: Mode, ask: Ask<'_>, reply: Reply) -> Option<Verdict> {
    match mode {
        Mode::Strict => read::<Strict>(ask, reply),
        Mode::Sliding => read::<Sliding>(ask, reply),
        Mode::Gcra => read::<Gcra>(ask, reply),
        Mode::Log => None,
    }
}

fn read<C: Cells>(ask: Ask<'_>, reply: Reply) -> Option<Verdict> {
    let taken = Taken::of(reply)?;
    let value = &taken.value;
    let written = number(value.get(7..12)?);
    let width = usize::from(*value.get(HEAD)?);
    let count = (value.len() - HEAD - 1) / (LENGTH + C::COUNT * width);
    let cells = value.get(HEAD + 1 + LENGTH * count..)?.chunks_exact(C::COUNT * width);
    let cells = cells.map(|cells| C::read(&cells.chunks_exact(width).map(number).collect::<Vec<_>>()));
    let Ask { tier, cost, take, .. } = ask;
    let mut windows = Windows::read(tier, written, taken.age.unwrap_or(written), cells);
    let (wait, usage) = (windows.wait(tier, cost), windows.usage(tier).into());
    let was_taken = take && taken.fits;
    Some(Verdict {
        fits: taken.fits,
        wait: if was_taken { Duration::ZERO } else { wait },
        usage,
        applied: None,
        unreadable: taken.unreadable,
        hold: if was_taken { Hold::Redis(taken.value) } else { Hold::Nowhere },
    })
}

/// What a script says, with its value.
struct Taken {
    value: Bytes,
    fits: bool,
    /// The subject's own time, where that has gone on since the value was written.
    age: Option<u64>,
    unreadable: bool,
}

impl Taken {
    fn of(reply: Reply) -> Option<Self> {
        if let Reply::Bytes(value) = reply {
            return Some(Self { value, fits: true, age: None, unreadable: false });
        }
        let [fits, age, readable, value] = reply.into_list().try_into().ok()?;
        Some(Self {
            value: value.into_bytes()?,
            fits: fits.number()? == 1,
            age: Some(u64::try_from(age.number()?).ok()?),
            unreadable: readable.number()? == 0,
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
