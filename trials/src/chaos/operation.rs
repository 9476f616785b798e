//! What the processes are asked for: one line of a table each.

use rand::{
    RngExt,
    distr::{Distribution, weighted::WeightedIndex},
    rngs::StdRng,
};

use super::history::Act;
use crate::order::{Order, Origin};

/// How long a load sleeps after it has read its row, in milliseconds.
const SLEEP_MS: std::ops::RangeInclusive<u64> = 0..=80;

/// One kind of operation.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name in the table.
    pub name: &'static str,
    /// How often it is done, beside the others.
    pub weight: u32,
    /// What it means for those who read.
    pub effect: Effect,
    /// What a process is told, with the id and, after a change of the row, its version.
    order: fn(&str, u64, &mut StdRng) -> Order,
}

/// What an operation means for those who read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It loads, unless a value is there.
    Loads,
    /// It loads, and the load fails.
    Fails,
    /// It reads what is there.
    Reads,
    /// The row is changed, then the cache is told to forget; what else is called at that moment loads.
    Changes,
    /// The row is changed, then the cache is given the value: alone, as of two puts the last one wins.
    Puts,
    /// What is there becomes stale.
    Expires,
}

/// Every kind.
pub const TABLE: &[Operation] = &[
    row("load", 50, Effect::Loads, |id, _, dice| load(id, Origin::Row { ms: dice.random_range(SLEEP_MS) })),
    row("load in vain", 2, Effect::Fails, |id, _, dice| {
        load(id, Origin::Failure { ms: dice.random_range(SLEEP_MS) })
    }),
    row("read", 24, Effect::Reads, |id, _, _| Order::Read(id.into())),
    row("invalidate", 8, Effect::Changes, |id, _, _| Order::Invalidate(id.into())),
    row("amid loads", 4, Effect::Changes, |id, _, dice| Order::InvalidateAmidLoads {
        id: id.into(),
        callers: dice.random_range(1..5),
        origin: Origin::Row { ms: dice.random_range(SLEEP_MS) },
    }),
    row("put", 6, Effect::Puts, |id, version, _| Order::Put(id.into(), version)),
    row("expire", 6, Effect::Expires, |id, _, _| Order::Expire(id.into())),
];

const fn row(
    name: &'static str,
    weight: u32,
    effect: Effect,
    order: fn(&str, u64, &mut StdRng) -> Order,
) -> Operation {
    Operation { name, weight, effect, order }
}

fn load(id: &str, origin: Origin) -> Order {
    Order::Load { id: id.into(), callers: 1, origin }
}

impl Operation {
    pub(super) fn raises(&self) -> bool {
        matches!(self.effect, Effect::Changes | Effect::Puts)
    }

    /// What a call means, the first one or another.
    pub(super) fn act(&self, version: u64, place: usize) -> Act {
        match self.effect {
            _ if place > 0 => Act::Load,
            Effect::Loads => Act::Load,
            Effect::Fails => Act::LoadInVain,
            Effect::Reads => Act::Read,
            Effect::Changes | Effect::Puts => Act::Change(version),
            Effect::Expires => Act::Expire,
        }
    }

    pub(super) fn order(&self, id: &str, version: u64, dice: &mut StdRng) -> Order {
        (self.order)(id, version, dice)
    }
}

/// Rolls operations by their weights, and ids of which the first are asked for most.
#[derive(Debug)]
pub(super) struct Habits {
    operations: WeightedIndex<u32>,
    ids: WeightedIndex<f64>,
}

impl Habits {
    /// So many ids, each as popular as its place says: the second half as much as the first, and so on.
    pub(super) fn of(ids: usize) -> Self {
        let operations = WeightedIndex::new(TABLE.iter().map(|operation| operation.weight));
        let ids = WeightedIndex::new((1..=ids).map(|place| 1.0 / place as f64));
        let some = "there are some, of some weight";
        Self { operations: operations.expect(some), ids: ids.expect(some) }
    }

    pub(super) fn operation(&self, dice: &mut StdRng) -> &'static Operation {
        &TABLE[self.operations.sample(dice)]
    }

    pub(super) fn id(&self, dice: &mut StdRng) -> usize {
        self.ids.sample(dice)
    }
}
