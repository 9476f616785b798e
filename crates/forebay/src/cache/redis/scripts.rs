//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static LEASE: LazyLock<Script> = script!("lease.lua");
pub(super) static FILL: LazyLock<Script> = script!("fill.lua");
pub(super) static RENEW: LazyLock<Script> = script!("renew.lua");
pub(super) static NOTE: LazyLock<Script> = script!("note.lua");
pub(super) static RELEASE: LazyLock<Script> = script!("release.lua");
pub(super) static INVALIDATE: LazyLock<Script> = script!("invalidate.lua");
pub(super) static EXPIRE: LazyLock<Script> = script!("expire.lua");
pub(super) static NUMBERS: LazyLock<Script> = script!("space.lua", "numbers.lua");
pub(super) static RAISE: LazyLock<Script> = script!("space.lua", "raise.lua");
