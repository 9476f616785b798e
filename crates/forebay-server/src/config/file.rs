//! The file: its tables, and what to say about one that cannot be read.

use std::{fs, path::Path};

use serde::Deserialize;
use serde_path_to_error::Segment;

use super::{Auth, Cache, ConfigError, Limits, Server, Unique, redis::Redis, topics::Topics};

/// The settings as they are written. See the struct of each table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) app: Option<String>,
    pub(super) listen: Option<String>,
    pub(super) redis: Redis,
    pub(super) server: Server,
    pub(super) cache: Cache,
    pub(super) limits: Limits,
    pub(super) unique: Unique,
    pub(super) topics: Topics,
    pub(super) auth: Auth,
}

impl File {
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let refuse = |why: String| ConfigError(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(path)
            .map_err(|error| refuse(format!("cannot read the file (--config, FOREBAY_CONFIG): {error}")))?;
        Self::parse(&text).map_err(refuse)
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let toml = toml::Deserializer::parse(text).map_err(|error| unreadable(text, &error))?;
        serde_path_to_error::deserialize(toml).map_err(|error| explain(&error))
    }
}

/// Where the text is no TOML, without that text: it could hold a password.
fn unreadable(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    format!("line {line}, column {column}: {}", error.message())
}

fn explain(error: &serde_path_to_error::Error<toml::de::Error>) -> String {
    let setting = full_name(error.path());
    let message = error.inner().message();
    match message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`')) {
        Some((unknown, known)) => format!("unknown setting `{setting}`; {}", suggest(unknown, known)),
        None => format!("`{setting}`: {}", in_words(message, &setting)),
    }
}

/// The message in words of people, in place of those of Rust and its libraries.
fn in_words(message: &str, setting: &str) -> String {
    if let Some(part) = message.strip_prefix("missing field ") {
        return format!("{part} is missing");
    }
    if message == "wanted string or table" {
        return "expected a word in quotes".to_owned();
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let is_size = setting.ends_with("_bytes") || setting.ends_with("compress_above");
    let expected = match expected {
        "u32" | "u64" | "usize" if is_size => "a whole number of bytes",
        "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a fraction, such as 0.1",
        "a map" => "a table",
        other => other,
    };
    format!("{found}, expected {expected}")
}

/// The path as it is written in TOML.
fn full_name(path: &serde_path_to_error::Path) -> String {
    let name: String = path.iter().map(part_of_name).collect();
    name.trim_start_matches('.').to_owned()
}

/// A key that is not bare stands in quotes.
fn part_of_name(segment: &Segment) -> String {
    let is_bare = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    match segment {
        Segment::Seq { index } => format!("[{index}]"),
        Segment::Map { key } | Segment::Enum { variant: key } if is_bare(key) => format!(".{key}"),
        Segment::Map { key } | Segment::Enum { variant: key } => format!(".{key:?}"),
        Segment::Unknown => ".?".to_owned(),
    }
}

/// The names nearest to the unknown one, out of serde's "expected one of `a`, `b`"; all of them if none is near.
fn suggest(unknown: &str, expected: &str) -> String {
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let mut near: Vec<(f64, &str)> =
        known.iter().map(|name| (strsim::normalized_damerau_levenshtein(unknown, name), *name)).collect();
    near.retain(|(likeness, _)| *likeness > 0.5);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    match near.as_slice() {
        [] => format!("known here: {}", known.join(", ")),
        near => {
            let names: Vec<_> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_an_unknown_setting_in_full_with_the_nearest_known_ones() {
        let text = "[cache.spaces.\"catalog:product\"]\ntime_to_lve = \"1h\"";

        let refusal = File::parse(text).unwrap_err();

        let setting = r#"`cache.spaces."catalog:product".time_to_lve`"#;
        let near = "did you mean `time_to_live` or `local_time_to_live`?";
        assert_eq!(refusal, format!("unknown setting {setting}; {near}"));
    }

    #[test]
    fn lists_what_it_knows_when_nothing_is_near() {
        let refusal = File::parse("[server]\nzzz = 1").unwrap_err();

        let known = "shutdown_budget, request_deadline, limit, limit_headers, trusted_proxies, event_streams";
        assert_eq!(refusal, format!("unknown setting `server.zzz`; known here: {known}"));
    }

    #[test]
    fn says_where_the_text_is_no_toml_without_showing_it() {
        let refusal = File::parse("[redis]\nurl = redis://web:secret@host").unwrap_err();

        assert!(refusal.starts_with("line 2, column 7: "), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }

    #[test]
    fn names_the_setting_whose_value_it_cannot_use() {
        let refusal = File::parse("[cache.spaces.a]\nwait = 5").unwrap_err();

        assert!(refusal.starts_with("`cache.spaces.a.wait`: "), "{refusal}");
        assert!(refusal.contains("\"30s\""), "{refusal}");
    }
}
