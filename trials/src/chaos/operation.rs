//! What the processes are asked for: one line of a table each.

use std::collections::BTreeSet;

use rand::{
    RngExt,
    distr::{Distribution, weighted::WeightedIndex},
    rngs::StdRng,
};

use super::{clients::id, history::Act};
use crate::order::{Order, Origin, TAGS, tag_of};

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
    /// Which ids it concerns.
    among: Among,
    /// What a process is told.
    order: fn(&Rows, &mut StdRng) -> Order,
}

/// Which ids an operation concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Among {
    One,
    Several,
    /// All that have some tag.
    Tagged,
    All,
}

/// Some ids, each with the version of its row where that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows(pub(super) Vec<(String, u64)>);

impl Rows {
    /// The only id, or the first.
    fn id(&self) -> String {
        self.0[0].0.clone()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(id, _)| id.clone()).collect()
    }
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
    /// Rows are changed, then the cache is told to forget by something that they have in common.
    Passes,
}

/// Every kind.
pub const TABLE: &[Operation] = &[
    row("load", 1_000, Effect::Loads, Among::One, |rows, dice| load(rows, row_in_time(dice))),
    row("load in vain", 40, Effect::Fails, Among::One, |rows, dice| {
        load(rows, Origin::Failure { ms: dice.random_range(SLEEP_MS) })
    }),
    row("load many", 60, Effect::Loads, Among::Several, |rows, _| Order::LoadMany(rows.ids())),
    row("read", 480, Effect::Reads, Among::One, |rows, _| Order::Read(rows.id())),
    row("invalidate", 160, Effect::Changes, Among::One, |rows, _| Order::Invalidate(rows.id())),
    row("amid loads", 80, Effect::Changes, Among::One, |rows, dice| Order::InvalidateAmidLoads {
        id: rows.id(),
        callers: dice.random_range(1..5),
        origin: row_in_time(dice),
    }),
    row("put", 120, Effect::Puts, Among::One, |rows, _| Order::Put(rows.id(), rows.0[0].1)),
    row("expire", 120, Effect::Expires, Among::One, |rows, _| Order::Expire(rows.id())),
    row("invalidate tag", 15, Effect::Passes, Among::Tagged, |rows, _| {
        Order::InvalidateTag(tag_of(&rows.id()).expect("all of them have it"), rows.ids())
    }),
    // Seldom: what is old would have no time to be seen otherwise.
    row("clear", 1, Effect::Passes, Among::All, |rows, _| Order::Clear(rows.ids())),
];

/// How many ids are asked for at once.
const SEVERAL: std::ops::Range<usize> = 2..7;

const fn row(
    name: &'static str,
    weight: u32,
    effect: Effect,
    among: Among,
    order: fn(&Rows, &mut StdRng) -> Order,
) -> Operation {
    Operation { name, weight, effect, among, order }
}

fn load(rows: &Rows, origin: Origin) -> Order {
    Order::Load { id: rows.id(), callers: 1, origin }
}

fn row_in_time(dice: &mut StdRng) -> Origin {
    Origin::Row { ms: dice.random_range(SLEEP_MS) }
}

impl Operation {
    pub(super) fn raises(&self) -> bool {
        matches!(self.effect, Effect::Changes | Effect::Puts | Effect::Passes)
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
            Effect::Passes => Act::Pass(version),
        }
    }

    pub(super) fn order(&self, rows: &Rows, dice: &mut StdRng) -> Order {
        (self.order)(rows, dice)
    }
}

/// Rolls operations by their weights, and ids of which the first are asked for most.
#[derive(Debug)]
pub(super) struct Habits {
    operations: WeightedIndex<u32>,
    ids: WeightedIndex<f64>,
    count: usize,
}

impl Habits {
    /// So many ids, each as popular as its place says: the second half as much as the first, and so on.
    pub(super) fn of(count: usize) -> Self {
        let operations = WeightedIndex::new(TABLE.iter().map(|operation| operation.weight));
        let ids = WeightedIndex::new((1..=count).map(|place| 1.0 / place as f64));
        let some = "there are some, of some weight";
        Self { operations: operations.expect(some), ids: ids.expect(some), count }
    }

    pub(super) fn operation(&self, dice: &mut StdRng) -> &'static Operation {
        &TABLE[self.operations.sample(dice)]
    }

    /// The ids that an operation concerns this time, each once, in their order.
    pub(super) fn ids(&self, operation: &Operation, dice: &mut StdRng) -> BTreeSet<usize> {
        match operation.among {
            Among::One => [self.ids.sample(dice)].into(),
            Among::Several => {
                let several = dice.random_range(SEVERAL);
                (0..several).map(|_| self.ids.sample(dice)).collect()
            }
            Among::Tagged => {
                let tag = format!("tag-{}", dice.random_range(0..TAGS));
                (0..self.count).filter(|&at| tag_of(&id(at)).as_ref() == Some(&tag)).collect()
            }
            Among::All => (0..self.count).collect(),
        }
    }
}
