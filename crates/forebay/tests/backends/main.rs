//! One suite over every store: a case is written once against a rig, and stamped for each of them.

mod cases;
mod memory;
mod rig;
mod whim;
