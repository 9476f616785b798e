//! The scripts of each mode, put together from the files of their names.

use std::sync::LazyLock;

use crate::{
    limiter::mode::Mode,
    redis::{Script, script},
};

/// What a mode runs.
#[derive(Debug)]
pub(in crate::limiter) struct Scripts {
    pub(in crate::limiter) check: LazyLock<Script>,
    pub(in crate::limiter) settle: LazyLock<Script>,
}

macro_rules! packed {
    ($constants:literal, $check:literal, $settle:literal) => {
        Scripts {
            check: LazyLock::new(|| {
                let text = concat!(
                    $constants,
                    include_str!("packed.lua"),
                    include_str!($check),
                    include_str!("decided.lua")
                );
                Script::new("check", text)
            }),
            settle: LazyLock::new(|| {
                let text = concat!(
                    $constants,
                    include_str!("packed.lua"),
                    include_str!($settle),
                    include_str!("settled.lua")
                );
                Script::new("settle", text)
            }),
        }
    };
}

// The letter of the mode, the number of a window's cells, and the most bytes of one.
static STRICT: Scripts =
    packed!("local MODE, CELLS, WIDEST = 83, 11, 6\n", "strict/check.lua", "strict/settle.lua");
static SLIDING: Scripts =
    packed!("local MODE, CELLS, WIDEST = 87, 2, 6\n", "sliding/check.lua", "sliding/settle.lua");
static GCRA: Scripts = packed!("local MODE, CELLS, WIDEST = 71, 2, 7\n", "gcra/check.lua", "gcra/settle.lua");
static LOG: Scripts = Scripts {
    check: script!("check": "log/members.lua", "log/check.lua"),
    settle: script!("settle": "log/members.lua", "log/settle.lua"),
};

pub(in crate::limiter) static RESET: LazyLock<Script> = script!("reset": "reset.lua");

impl Scripts {
    pub(in crate::limiter) fn of(mode: Mode) -> &'static Self {
        match mode {
            Mode::Strict => &STRICT,
            Mode::Sliding => &SLIDING,
            Mode::Gcra => &GCRA,
            Mode::Log => &LOG,
        }
    }
}
