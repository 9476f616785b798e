//! The last hour in rows: the last ten minutes by the second, what is older by ten seconds.

use std::collections::VecDeque;

use serde::{Serialize, Serializer, ser::SerializeSeq};

use super::columns::COLUMNS;

/// How many rows of a second there are.
const FINE: usize = 600;

/// How many of these become one row when they are older.
const STEP: usize = 10;

/// How many rows of [`STEP`] seconds there are.
const COARSE: usize = 300;

/// What happened within one second, or several.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Its end, in milliseconds since 1970.
    pub(super) at_ms: u64,
    /// As [`COLUMNS`] says.
    pub(super) cells: Box<[f32]>,
}

/// All rows that are kept, in less than 512 KiB.
#[derive(Debug, Default)]
pub(super) struct History {
    fine: VecDeque<Row>,
    coarse: VecDeque<Row>,
    /// How many seconds the last coarse row has, unless it is full.
    filled: usize,
}

impl History {
    /// Adds a row, in the place of those that are later: the clock was set back, and what they tell of is to come.
    pub(super) fn push(&mut self, row: Row) {
        self.fine.retain(|old| old.at_ms < row.at_ms);
        if self.coarse.back().is_some_and(|old| old.at_ms >= row.at_ms) {
            self.coarse.retain(|old| old.at_ms < row.at_ms);
            self.filled = 0;
        }
        self.fine.push_back(row);
        if self.fine.len() > FINE
            && let Some(old) = self.fine.pop_front()
        {
            self.coarsen(old);
        }
    }

    fn coarsen(&mut self, old: Row) {
        match self.coarse.back_mut().filter(|_| self.filled > 0) {
            Some(last) => last.add(&old),
            None => self.coarse.push_back(old),
        }
        self.filled = (self.filled + 1) % STEP;
        if self.coarse.len() > COARSE {
            self.coarse.pop_front();
        }
    }

    /// From the oldest to the last.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.coarse.iter().chain(&self.fine)
    }
}

impl Row {
    fn add(&mut self, later: &Self) {
        self.at_ms = later.at_ms;
        for ((cell, more), column) in self.cells.iter_mut().zip(&later.cells).zip(COLUMNS.iter()) {
            *cell = column.merged(*cell, *more);
        }
    }
}

/// `[at_ms, cell, …]`, with `null` for what is no number.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_seq(Some(1 + self.cells.len()))?;
        members.serialize_element(&self.at_ms)?;
        for cell in &self.cells {
            // Most are whole, and many are 0: no point, no digit behind it.
            match cell.fract() == 0.0 && cell.abs() < 1e15 {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                true => members.serialize_element(&(*cell as i64))?,
                false => members.serialize_element(cell)?,
            }
        }
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(name: &str) -> usize {
        COLUMNS.iter().position(|column| column.name == name).unwrap()
    }

    fn row(second: u64) -> Row {
        let mut cells = vec![0.0; COLUMNS.len()].into_boxed_slice();
        cells[index("loads")] = 1.0;
        cells[index("redis_breakers_open")] = if second.is_multiple_of(1_000) { 1.0 } else { 0.0 };
        Row { at_ms: second * 1_000, cells }
    }

    fn after(seconds: u64) -> History {
        let mut history = History::default();
        (1..=seconds).for_each(|second| history.push(row(second)));
        history
    }

    fn bytes(history: &History) -> usize {
        let rows = history.fine.capacity() + history.coarse.capacity();
        rows * size_of::<Row>() + history.rows().map(|row| size_of_val(&*row.cells)).sum::<usize>()
    }

    #[test]
    fn it_keeps_an_hour_and_not_more_however_long_it_runs() {
        let history = after(20_000);
        let first = history.rows().next().unwrap().at_ms / 1_000;
        assert!((3_590..=3_620).contains(&(20_000 - first)), "{first}");
        assert!(bytes(&history) < 512 * 1024, "{}", bytes(&history));
        assert_eq!(bytes(&history), bytes(&after(40_000)));
    }

    #[test]
    fn what_is_coarser_has_lost_nothing() {
        for seconds in [1, 600, 601, 609, 610, 611, 1_234, 3_600] {
            let history = after(seconds);
            let loads: f32 = history.rows().map(|row| row.cells[index("loads")]).sum();
            assert_eq!(loads as u64, seconds, "{seconds}");
            let times: Vec<_> = history.rows().map(|row| row.at_ms).collect();
            assert!(times.is_sorted() && times.last() == Some(&(seconds * 1_000)), "{seconds}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_leaves_no_row_that_is_to_come() {
        for (after_seconds, back_to) in [(20, 10), (3_000, 2_990), (3_000, 1_000), (3_000, 1)] {
            let mut history = after(after_seconds);
            (back_to..back_to + 5).for_each(|second| history.push(row(second)));
            let times: Vec<_> = history.rows().map(|row| row.at_ms / 1_000).collect();
            assert!(times.is_sorted_by(|one, other| one < other), "{times:?}");
            assert_eq!(times.last(), Some(&(back_to + 4)));
        }
    }

    #[test]
    fn a_second_in_which_a_breaker_was_open_shows_in_the_ten_that_it_is_part_of() {
        let open = index("redis_breakers_open");
        assert_eq!(after(3_000).rows().filter(|row| row.cells[open] == 1.0).count(), 3);
    }

    #[test]
    fn a_row_is_written_as_short_as_it_can_be() {
        let cells = Box::new([0.0, 12.0, 0.25, f32::NAN, 3.0e9]);
        let json = serde_json::to_string(&Row { at_ms: 7, cells }).unwrap();
        assert_eq!(json, "[7,0,12,0.25,null,3000000000]");
    }
}
