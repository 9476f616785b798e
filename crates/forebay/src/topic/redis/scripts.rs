//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static PUBLISH: LazyLock<Script> = script!("last.lua", "publish.lua");
pub(super) static READ: LazyLock<Script> = script!("last.lua", "read.lua");
