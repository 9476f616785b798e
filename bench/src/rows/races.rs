//! What is read after a change that came amid a load.

use anyhow::Result;
use drive::Races;
use ours::OverRedis;
use tally::{
    rounds::{Rounds, Side, play_what_runs},
    table::Table,
    verdict::Better,
};

use super::Effort;
use crate::caches::{Contestants, Memory, Place};

pub(crate) const ROW: &str = "races";

/// This part of them is raced beforehand.
const WARM: usize = 10;

const ABOUT: &str = "\
A reader misses and loads the old version; a writer in another process (of crates: over another connection) changes it
and tells the cache that it did; then the load ends, and the reader has its answer. Each race has a key of its own, 64 of
them run at a time, and nothing is left to chance. Counted are those after which the next read still has the old version:
where nothing ends it, it is read until its life is over. `moka` of one process is told by nobody of what others change.";

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let place = Place::new()?;
    let Contestants { mut all, missing } = Contestants::start(&place, 2, Memory::Usual);
    let sides = all.iter_mut().map(|contestant| {
        // A few of them warm up.
        let (place, mut first, mut count) = (&place, 0, effort.races / WARM);
        Side::new(contestant.name, move || {
            let raced = contestant.races(&place.runtime, Races { first, count })?;
            (first, count) = (first + count, effort.races);
            Ok(raced)
        })
    });
    let mut played = play_what_runs(sides.collect(), Rounds::exactly(1));
    played.missing.extend(missing);
    let table = |title: &str, unit, figure: fn(&_) -> f64| {
        let mut table = Table::of(ROW, OverRedis::NAME, played.figures(figure), ABOUT, &[])?;
        table.title = format!("{} forced races of a load with a change: {title}", effort.races);
        table.unit = unit;
        table.judge(OverRedis::NAME, &table.peers(&[OverRedis::NAME], &[]), Better::Less, &[]);
        anyhow::Ok(table)
    };
    let mut stale =
        table("the old version is read afterwards", "stale reads", |one: &drive::Lateness| one.stale as f64)?;
    let most = stale.figure(OverRedis::NAME).highest;
    stale.bound("Forebay reads nothing stale", most, most == 0.0);
    let mut errors = table("a read or a change fails", "errors", |one| one.errors as f64)?;
    // What did not take place cannot be stale.
    let part = errors.figure(OverRedis::NAME).highest / effort.races as f64;
    errors.bound("Forebay fails in at most 0.01 of the races", part, part <= 0.01);
    Ok(vec![stale, errors])
}
