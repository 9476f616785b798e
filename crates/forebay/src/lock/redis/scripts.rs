//! The scripts, each from the file of its name.

use std::sync::LazyLock;

use crate::redis::{Script, script};

pub(super) static ACQUIRE: LazyLock<Script> = script!("acquire.lua");
pub(super) static RENEW: LazyLock<Script> = script!("renew.lua");
pub(super) static RELEASE: LazyLock<Script> = script!("release.lua");
