//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static RECORD: LazyLock<Script> = script!("record.lua");
pub(super) static COUNT: LazyLock<Script> = script!("count.lua");
