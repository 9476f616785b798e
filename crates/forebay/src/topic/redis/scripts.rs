//! The scripts, and what they are asked and answer.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static PUBLISH: LazyLock<Script> = script!("topic_publish": "last.lua", "publish.lua");
pub(super) static READ: LazyLock<Script> = script!("topic_read": "last.lua", "read.lua");
