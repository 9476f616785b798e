//! The settings as `config check` tells them: each with its value, and with what has set it.

use std::{fs, path::Path};

use serde::Serialize;
use toml::{Table, Value};

use super::{Config, ConfigError, Flags, Store};

/// What nobody has set.
const DEFAULT: &str = "default";

/// One setting.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Setting {
    /// Its name as the file has it.
    pub(crate) name: String,
    pub(crate) value: String,
    /// What has set it: a flag, a variable, the file, or nothing.
    pub(crate) from: String,
}

impl Config {
    /// What is set, and by what; of the settings that every server has, also what nobody has set.
    pub(crate) fn told(&self, flags: Flags) -> Result<Vec<Setting>, ConfigError> {
        let flags = flags.without_empty_ones();
        let mut told = Told { settings: Vec::new(), file: self.written()?, config: self };
        told.named("app", &self.app, flags.app.as_ref().map(|_| flags.source("app", "FOREBAY_APP")));
        let listen: Vec<_> = self.listen.iter().map(ToString::to_string).collect();
        let by_flag = flags.listen.as_ref().map(|_| flags.source("listen", "FOREBAY_LISTEN"));
        told.named("listen", &listen.join(" or "), by_flag);
        let store = if self.store.is_shared() { "redis" } else { "memory" };
        let forced = flags.store.as_ref().map(|_| flags.source("store", "FOREBAY_STORE"));
        told.add("store", store, forced.unwrap_or_else(|| told.chosen(&flags)));
        if let Store::Redis { url, .. } = &self.store {
            let by_flag = flags.redis.as_ref().map(|_| flags.source("redis", "FOREBAY_REDIS_URL"));
            told.named("redis.url", url.place().unwrap_or("…"), by_flag);
        }
        told.rest();
        Ok(told.settings)
    }

    /// What the file says, as it is written there.
    fn written(&self) -> Result<Vec<(String, String)>, ConfigError> {
        let Some(path) = &self.file else { return Ok(Vec::new()) };
        let text = fs::read_to_string(path).map_err(|error| self.refuse(error.to_string()))?;
        let table: Table = text.parse().map_err(|_| self.refuse("it has changed just now".to_owned()))?;
        let mut written = Vec::new();
        flatten("", &Value::Table(table), &mut written);
        Ok(written)
    }

    /// What every server has, whether or not somebody has set it.
    fn defaults(&self) -> [(&'static str, String); 9] {
        let server = &self.server;
        [
            ("redis.budget", self.redis.budget().map_or("50ms".to_owned(), |budget| format!("{budget:?}"))),
            ("server.shutdown_budget", format!("{:?}", server.shutdown_budget())),
            ("server.request_deadline", format!("{:?}", self.request_deadline())),
            ("server.limit", server.limit().unwrap_or("none").to_owned()),
            ("server.event_streams", server.event_streams().to_string()),
            ("cache.local_bytes", self.cache.local_bytes.unwrap_or(64 << 20).to_string()),
            ("cache.outage_concurrency", self.cache.outage_concurrency.unwrap_or(64).to_string()),
            ("unique.time_zone", self.unique.undeclared().time_zone),
            ("unique.keep_days", self.unique.undeclared().keep_days.to_string()),
        ]
    }
}

/// The settings so far.
struct Told<'a> {
    settings: Vec<Setting>,
    file: Vec<(String, String)>,
    config: &'a Config,
}

impl Told<'_> {
    fn add(&mut self, name: &str, value: &str, from: String) {
        self.settings.push(Setting { name: name.to_owned(), value: value.to_owned(), from });
    }

    /// A setting that a flag or a variable may have set, or else the file.
    fn named(&mut self, name: &str, value: &str, by_flag: Option<String>) {
        let in_file = self.file.iter().position(|(written, _)| written == name);
        in_file.map(|at| self.file.remove(at));
        let from = by_flag.or(in_file.map(|_| self.place())).unwrap_or_else(|| DEFAULT.to_owned());
        self.add(name, value, from);
    }

    /// What the file has besides, and then what nobody has set.
    fn rest(&mut self) {
        let (file, place) = (std::mem::take(&mut self.file), self.place());
        for (name, value) in &file {
            self.add(name, value, place.clone());
        }
        for (name, value) in self.config.defaults() {
            if !self.settings.iter().any(|setting| setting.name == name) {
                self.add(name, &value, DEFAULT.to_owned());
            }
        }
    }

    /// What the store follows from, where none is forced.
    fn chosen(&self, flags: &Flags) -> String {
        match &self.config.store {
            Store::Redis { .. } if flags.redis.is_some() => flags.source("redis", "FOREBAY_REDIS_URL"),
            Store::Redis { .. } => self.place(),
            Store::Memory => DEFAULT.to_owned(),
        }
    }

    fn place(&self) -> String {
        let path = self.config.file.as_deref().unwrap_or(Path::new("the file"));
        path.display().to_string()
    }
}

/// Adds every value below `value` by its full name, without what is secret.
fn flatten(name: &str, value: &Value, written: &mut Vec<(String, String)>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                flatten(&below(name, key), value, written);
            }
        }
        Value::Array(items) if items.iter().all(Value::is_table) && !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                flatten(&format!("{name}[{at}]"), item, written);
            }
        }
        // The one may have a password; in the other, who has a list of common tokens can look for it.
        _ if name == "redis.url" || name.ends_with(".sha256") => {
            written.push((name.to_owned(), "…".to_owned()));
        }
        Value::String(text) => written.push((name.to_owned(), text.clone())),
        other => written.push((name.to_owned(), other.to_string())),
    }
}

fn below(name: &str, key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let key = if is_bare { key.to_owned() } else { format!("{key:?}") };
    if name.is_empty() { key } else { format!("{name}.{key}") }
}
