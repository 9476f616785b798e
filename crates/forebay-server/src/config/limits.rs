//! The tables `[limits.<policy>]`: how callers are limited, by policy and tier.

use std::{collections::BTreeMap, fmt};

use forebay::{
    Forebay,
    key::Name,
    limiter::{self, Mode, OnOutage, Tiers, Window},
};
use serde::{
    Deserialize, Deserializer,
    de::{self, Error, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// The policy that is there without being declared.
const BUILT_IN: &str = "api";

/// The tier of callers of an unknown one: the library's default, said here for those who ask without a tier.
const LOWEST: &str = "free";

/// All policies by their names. Their tiers can be changed by a reload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Limits(BTreeMap<String, Policy>);

/// One policy, by the names that the library's builder gives its options. Defaults: the library's.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [limits.api]")]
pub(crate) struct Policy {
    mode: ModeName,
    on_outage: OnOutageName,
    lowest: Option<String>,
    expected_processes: Option<u32>,
    /// Windows by tier. Default: those of the library.
    tiers: Option<BTreeMap<String, Windows>>,
}

/// What cannot be changed while the server runs, with the names of the settings.
pub(crate) type Fixed<'a> = [(&'static str, bool); 4];

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    #[default]
    Strict,
    Sliding,
    Log,
    Gcra,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnOutageName {
    #[default]
    Local,
    Open,
    Closed,
}

/// The windows of a tier; none for one without a limit.
#[derive(Debug, Clone, PartialEq)]
struct Windows(Vec<Window>);

/// One window as it is written: `"10/minute"`, or `{ window = "10/minute", burst = 5 }`.
struct Written(Window);
