//! The scripts, each from the file of its name; those on records begin alike.

use std::sync::LazyLock;

use crate::redis::Script;

macro_rules! on_record {
    ($file:literal) => {
        LazyLock::new(|| Script::new(concat!(include_str!("record.lua"), include_str!($file))))
    };
}

pub(super) static BEGIN: LazyLock<Script> = on_record!("begin.lua");
pub(super) static RENEW: LazyLock<Script> = on_record!("renew.lua");
pub(super) static COMPLETE: LazyLock<Script> = on_record!("complete.lua");
pub(super) static GIVE_UP: LazyLock<Script> = on_record!("give_up.lua");
pub(super) static UNCLAIM: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("unclaim.lua")));
