//! Very many, and how far off their count is.

use forebay::unique::Count;

use super::{HOUR, error, record, unique};
use crate::rig::Rig;

const ALL: usize = 1_000_000;

/// So many come every day.
const REGULARS: usize = 50_000;

/// As many at a time as a process may hold.
const PART: usize = 50_000;

pub(crate) async fn a_million_over_a_week_are_counted_within_two_percent(rig: impl Rig) {
    let unique = unique(&rig);
    let first = unique.today().await.unwrap().to;
    let others = (ALL - REGULARS) / 7;
    for day in 0..7 {
        let from = REGULARS + day * others;
        let until = if day == 6 { ALL } else { from + others };
        for part in (0..REGULARS).chain(from..until).collect::<Vec<_>>().chunks(PART) {
            record(&unique, part.iter().copied());
            unique.flush().await.unwrap();
        }
        assert_eq!(unique.figures().dropped, 0);
        if day < 6 {
            rig.pass(HOUR * 24).await;
        }
    }
    let mut date = first;
    for _ in 0..7 {
        let day = unique.count(date).await.unwrap().visitors;
        assert!(error(day, REGULARS + others) < 3.0 * Count::STANDARD_ERROR, "{day} on {date}");
        date = date.tomorrow().unwrap();
    }
    let week = unique.count_days(7).await.unwrap();
    println!("{} of {ALL}", week.visitors);
    assert!(error(week.visitors, ALL) < 0.02, "{}", week.visitors);
}
