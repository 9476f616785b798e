//! The tables `[limits.<policy>]`: how callers are limited, by policy and tier.

use std::collections::BTreeMap;

use forebay::{
    Forebay,
    limiter::{self, Mode, OnOutage, Tiers},
};
use serde::Deserialize;

use super::windows::Windows;

/// The policy that is there without being declared.
const BUILT_IN: &str = "api";

/// All policies by their names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Limits(BTreeMap<String, Policy>);

/// Options of a policy, by the names that the library's builder gives them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [limits.api]")]
pub(crate) struct Policy {
    mode: ModeName,
    on_outage: OnOutageName,
    lowest: String,
    expected_processes: u32,
    /// Windows by tier, which a reload can change. Default: the four tiers of the library.
    tiers: Option<BTreeMap<String, Windows>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Strict,
    Sliding,
    Log,
    Gcra,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnOutageName {
    Local,
    Open,
    Closed,
}

impl Default for Policy {
    /// As in the library.
    fn default() -> Self {
        Self {
            mode: ModeName::Strict,
            on_outage: OnOutageName::Local,
            lowest: "free".to_owned(),
            expected_processes: 1,
            tiers: None,
        }
    }
}

impl Limits {
    /// Adds what is there without being declared.
    pub(super) fn complete(mut self) -> Self {
        self.0.entry(BUILT_IN.to_owned()).or_default();
        self
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|(name, policy)| policy.check(name))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Policy)> {
        self.0.iter().map(|(name, policy)| (name.as_str(), policy))
    }

    /// The names of all policies, as they are told to people.
    pub(super) fn names(&self) -> String {
        quoted(self.0.keys().map(String::as_str))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Policy> {
        self.0.get(name)
    }

    /// What is legal, and likely not what was meant.
    pub(super) fn doubts(&self, is_shared: bool) -> Vec<String> {
        self.0.iter().flat_map(|(name, policy)| policy.doubts(name, is_shared)).collect()
    }

    /// Gives the policy called `name` the tiers of `wanted`.
    pub(crate) fn adopt_tiers(&mut self, name: &str, wanted: Policy) {
        if let Some(policy) = self.0.get_mut(name) {
            policy.tiers = wanted.tiers;
        }
    }
}

impl Policy {
    /// The tier of callers whose own is unknown, or not told.
    pub(crate) fn lowest(&self) -> &str {
        &self.lowest
    }

    /// The tiers, or what is wrong with one of them.
    pub(crate) fn tiers(&self, policy: &str) -> Result<Tiers, String> {
        let Some(tiers) = &self.tiers else { return Ok(Tiers::default()) };
        tiers.iter().try_fold(Tiers::new(), |all, (name, Windows(windows))| {
            let added =
                if windows.is_empty() { all.unlimited(name) } else { all.tier(name, windows.clone()) };
            added.map_err(|error| format!("`limits.{policy}.tiers.{name}`: {error}"))
        })
    }

    fn check(&self, policy: &str) -> Result<(), String> {
        if self.expected_processes == 0 {
            let why = "this process is one at least; leave it out for 1";
            return Err(format!("`limits.{policy}.expected_processes` is 0; {why}"));
        }
        self.tiers_for(policy, self).map(drop)
    }

    fn doubts(&self, policy: &str, is_shared: bool) -> Vec<String> {
        let mut doubts = Vec::new();
        let is_declared = self.tiers.is_some();
        if is_shared && is_declared && self.on_outage == OnOutageName::Local && self.expected_processes == 1 {
            let why = "without Redis each server allows the whole quota by itself; set how many there are";
            doubts.push(format!("`limits.{policy}.expected_processes` is 1: {why}"));
        }
        let lowest = self.tiers.as_ref().and_then(|tiers| tiers.get(&self.lowest));
        if lowest.is_some_and(|Windows(windows)| windows.is_empty()) {
            let why = "callers whose tier is unknown have no limit at all";
            doubts.push(format!("`limits.{policy}.lowest` is `{}`, which is unlimited: {why}", self.lowest));
        }
        doubts
    }

    /// The tiers of `wanted`, which may be of another file, if this policy can have them.
    pub(crate) fn tiers_for(&self, policy: &str, wanted: &Self) -> Result<Tiers, String> {
        let tiers = wanted.tiers(policy)?;
        // The library would refuse it too, with a call of its builder as the remedy.
        if !tiers.names().any(|name| name == self.lowest) {
            return Err(format!(
                "`limits.{policy}.lowest` is `{}`, the tier of callers whose own is unknown, and \
                 `limits.{policy}.tiers` does not have it; add it, or name one that is there: {}",
                self.lowest,
                quoted(tiers.names())
            ));
        }
        let fits = tiers.check(policy, self.mode.into(), &self.lowest);
        fits.map_err(|error| format!("`limits.{policy}`: {error}")).map(|()| tiers)
    }

    /// The settings in which `other` differs, but for the tiers.
    pub(crate) fn differences(&self, other: &Self) -> impl Iterator<Item = &'static str> {
        let settings = [
            ("mode", self.mode != other.mode),
            ("on_outage", self.on_outage != other.on_outage),
            ("lowest", self.lowest != other.lowest),
            ("expected_processes", self.expected_processes != other.expected_processes),
        ];
        settings.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name)
    }

    /// Begins the limiter of this policy.
    pub(crate) fn builder(&self, forebay: &Forebay, policy: &str, tiers: Tiers) -> limiter::Builder {
        forebay
            .limiter(policy, tiers)
            .mode(self.mode.into())
            .on_outage(self.on_outage.into())
            .lowest(&self.lowest)
            .expected_processes(self.expected_processes)
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Strict => Self::Strict,
            ModeName::Sliding => Self::Sliding,
            ModeName::Log => Self::Log,
            ModeName::Gcra => Self::Gcra,
        }
    }
}

impl From<OnOutageName> for OnOutage {
    fn from(name: OnOutageName) -> Self {
        match name {
            OnOutageName::Local => Self::Local,
            OnOutageName::Open => Self::Open,
            OnOutageName::Closed => Self::Closed,
        }
    }
}
