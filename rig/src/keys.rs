//! The keys that a server would keep for ever.

use crate::{redis::Redis, reply::Reply};

const WITHOUT_EXPIRY: &str = include_str!("without_expiry.lua");

impl Redis {
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
