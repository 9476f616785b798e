//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static CHECK: LazyLock<Script> = script!("filter_check": "reign.lua", "check.lua");
pub(super) static ADD: LazyLock<Script> = script!("filter_add": "add.lua");
pub(super) static BEGIN: LazyLock<Script> = script!("filter_begin": "reign.lua", "begin.lua");
pub(super) static HOLD: LazyLock<Script> = script!("filter_hold": "hold.lua");
pub(super) static SWITCH: LazyLock<Script> = script!("filter_switch": "reign.lua", "switch.lua");
pub(super) static ABANDON: LazyLock<Script> = script!("filter_abandon": "abandon.lua");
pub(super) static LOOK: LazyLock<Script> = script!("filter_look": "reign.lua", "look.lua");
