//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static ACQUIRE: LazyLock<Script> = script!("acquire": "acquire.lua");
pub(super) static RENEW: LazyLock<Script> = script!("lock_renew": "renew.lua");
pub(super) static RELEASE: LazyLock<Script> = script!("lock_release": "release.lua");
pub(super) static FORCE_RELEASE: LazyLock<Script> = script!("lock_force_release": "force_release.lua");
