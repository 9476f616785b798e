//! What becomes of measurements: rounds, tables, verdicts, and the report of a run.
//!
//! It knows no contestant, so that its tests need none.

pub mod attempt;
pub mod behind;
pub mod machine;
pub mod progress;
pub mod report;
pub mod results;
pub mod rounds;
pub mod spelled;
pub mod table;
pub mod verdict;
