//! What a server has done since it started, by its own account.

use std::time::Duration;

use crate::{redis::Redis, reply::Reply};

impl Redis {
    /// How often `command` was called, also from scripts. A subcommand is written `config|get`.
    pub fn calls(&self, command: &str) -> u64 {
        self.statistic(command, "calls")
    }

    /// How long all calls of `command` took the server, also from scripts. A subcommand is written `config|get`.
    pub fn time_in(&self, command: &str) -> Duration {
        Duration::from_micros(self.statistic(command, "usec"))
    }

    /// How often a script was called by its text or its hash, those of the rig included.
    pub fn script_calls(&self) -> u64 {
        self.calls("eval") + self.calls("evalsha")
    }

    /// How long the scripts of [`script_calls`](Self::script_calls) took the server.
    pub fn script_time(&self) -> Duration {
        self.time_in("eval") + self.time_in("evalsha")
    }

    /// How many commands were processed, the rig's own included.
    pub fn commands_processed(&self) -> u64 {
        count(field(&self.call(&["INFO", "stats"]), "total_commands_processed"))
    }

    /// How often the server has read from a connection, also to find its end, also for this question.
    pub fn reads(&self) -> u64 {
        count(field(&self.call(&["INFO", "stats"]), "total_reads_processed"))
    }

    /// How many bytes `key` takes with its value and what the server keeps beside it, if it is there.
    pub fn bytes_of(&self, key: &str) -> Option<u64> {
        match self.reply(&["MEMORY", "USAGE", key, "SAMPLES", "0"]).granted() {
            Reply::Int(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }

    fn statistic(&self, command: &str, name: &str) -> u64 {
        let statistics = self.call(&["INFO", "commandstats"]);
        let line = field(&statistics, &format!("cmdstat_{}", command.to_lowercase()));
        let part =
            |line: &str| count(line.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')));
        line.map_or(0, part)
    }
}

/// The value of one line of `INFO`.
pub(crate) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn count(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).expect("INFO counts in whole numbers")
}
