//! The scripts, each from the file of its name; those on records begin alike.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static BEGIN: LazyLock<Script> = script!("begin": "record.lua", "begin.lua");
pub(super) static RENEW: LazyLock<Script> = script!("execution_renew": "record.lua", "renew.lua");
pub(super) static COMPLETE: LazyLock<Script> = script!("complete": "record.lua", "complete.lua");
pub(super) static GIVE_UP: LazyLock<Script> = script!("give_up": "record.lua", "give_up.lua");
pub(super) static UNCLAIM: LazyLock<Script> = script!("unclaim": "unclaim.lua");
