//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static FETCH: LazyLock<Script> = script!("letters.lua", "fetch.lua");
pub(super) static SETTLE: LazyLock<Script> = script!("letters.lua", "settle.lua");
pub(super) static LEAVE: LazyLock<Script> = script!("leave.lua");
pub(super) static DEAD: LazyLock<Script> = script!("dead.lua");
