//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::Script;

pub(super) static RECORD: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("record.lua")));
pub(super) static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("count.lua")));
