//! What becomes of the keys of a server as time passes.

use std::time::Duration;

use crate::{redis::Redis, reply::Reply};

const AGE: &str = include_str!("age.lua");
const WITHOUT_EXPIRY: &str = include_str!("without_expiry.lua");

impl Redis {
    /// Makes every key look older by `time`, in whole milliseconds, all in one step; ends those whose time is over.
    ///
    /// Only expiries move: neither the server's clock nor a deadline written inside a value does.
    pub fn age(&self, time: Duration) {
        self.reply(&["EVAL", AGE, "0", &time.as_millis().to_string()]).granted();
    }

    /// The keys that would stay for ever, in order.
    pub fn keys_without_expiry(&self) -> Vec<String> {
        let Reply::Array(keys) = self.reply(&["EVAL_RO", WITHOUT_EXPIRY, "0"]).granted() else {
            unreachable!("a table of Lua is answered as an array");
        };
        let mut keys: Vec<String> = keys.iter().map(Reply::to_string).collect();
        keys.sort_unstable();
        keys
    }
}
