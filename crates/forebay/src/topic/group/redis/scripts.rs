//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static FETCH: LazyLock<Script> = script!("group_fetch": "letters.lua", "fetch.lua");
pub(super) static SETTLE: LazyLock<Script> = script!("group_settle": "letters.lua", "settle.lua");
pub(super) static LEAVE: LazyLock<Script> = script!("group_leave": "leave.lua");
pub(super) static DEAD: LazyLock<Script> = script!("group_dead": "dead.lua");
