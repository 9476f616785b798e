//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static RECORD: LazyLock<Script> = script!("visitors_record": "record.lua");
pub(super) static COUNT: LazyLock<Script> = script!("visitors_count": "count.lua");
