//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static LEASE: LazyLock<Script> = script!("lease": "lease.lua");
pub(super) static FILL: LazyLock<Script> = script!("fill": "fill.lua");
pub(super) static RENEW: LazyLock<Script> = script!("lease_renew": "renew.lua");
pub(super) static NOTE: LazyLock<Script> = script!("note": "note.lua");
pub(super) static RELEASE: LazyLock<Script> = script!("lease_release": "release.lua");
pub(super) static INVALIDATE: LazyLock<Script> = script!("invalidate": "invalidate.lua");
pub(super) static EXPIRE: LazyLock<Script> = script!("expire": "expire.lua");
pub(super) static INSPECT: LazyLock<Script> = script!("inspect": "inspect.lua");
pub(super) static NUMBERS: LazyLock<Script> = script!("numbers": "space.lua", "numbers.lua");
pub(super) static RAISE: LazyLock<Script> = script!("raise": "space.lua", "raise.lua");
