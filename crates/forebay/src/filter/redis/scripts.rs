//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static CHECK: LazyLock<Script> = script!("reign.lua", "check.lua");
pub(super) static ADD: LazyLock<Script> = script!("add.lua");
pub(super) static BEGIN: LazyLock<Script> = script!("reign.lua", "begin.lua");
pub(super) static HOLD: LazyLock<Script> = script!("hold.lua");
pub(super) static SWITCH: LazyLock<Script> = script!("reign.lua", "switch.lua");
pub(super) static ABANDON: LazyLock<Script> = script!("abandon.lua");
pub(super) static LOOK: LazyLock<Script> = script!("reign.lua", "look.lua");
