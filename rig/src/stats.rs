//! What a server has done since it started, by its own account.

use crate::redis::Redis;

impl Redis {
    /// How often `command` was called, also from scripts. A subcommand is written `config|get`.
    pub fn calls(&self, command: &str) -> u64 {
        let statistics = self.call(&["INFO", "commandstats"]);
        let line = field(&statistics, &format!("cmdstat_{}", command.to_lowercase()));
        line.map_or(0, |line| count(line.split(',').next().and_then(|calls| calls.strip_prefix("calls="))))
    }

    /// How often a script was called by its text or its hash, those of the rig included.
    pub fn script_calls(&self) -> u64 {
        self.calls("eval") + self.calls("evalsha")
    }

    /// How many commands were processed, the rig's own included.
    pub fn commands_processed(&self) -> u64 {
        count(field(&self.call(&["INFO", "stats"]), "total_commands_processed"))
    }
}

/// The value of one line of `INFO`.
pub(crate) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn count(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).expect("INFO counts in whole numbers")
}
