//! The table `[auth]`: who may do what, as hashes of bearer tokens.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, de::Error};

use super::Policy;

/// The hash of the empty string: what `sha256sum` says when the shell variable was empty.
const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const NO_HASH: &str = r#"must be the 64 hexadecimal digits that `printf %s "$token" | sha256sum` prints"#;

/// Tokens that the server knows. File only, so that none shows up in a list of processes.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [auth]")]
pub(crate) struct Auth {
    /// Without any, everything is allowed, to this machine only.
    pub(crate) tokens: Vec<Token>,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = r#"a table such as `{ name = "web", sha256 = "…", scopes = ["data"] }`"#
)]
pub(crate) struct Token {
    /// What to call its holder.
    pub(crate) name: String,
    pub(crate) sha256: Hash,
    pub(crate) scopes: Vec<Scope>,
    /// The tier of its holder where the server limits its callers. Default: `default`.
    pub(crate) tier: Option<String>,
}

/// What a token is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Everything below `/v1`.
    Data,
    /// Figures and metrics.
    Read,
    /// What operators are to do: everything below `/ops`, the actions of the page, and invalidating by a pattern.
    Ops,
}

impl Scope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Read => "read",
            Self::Ops => "ops",
        }
    }
}

/// The SHA-256 of a token, written as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hash(pub(crate) [u8; 32]);

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.eq_ignore_ascii_case(OF_NOTHING) {
            return Err(D::Error::custom("this is the hash of an empty token"));
        }
        let mut hash = [0; 32];
        hex::decode_to_slice(&text, &mut hash).map_err(|_| D::Error::custom(NO_HASH))?;
        Ok(Self(hash))
    }
}

impl Auth {
    pub(super) fn check(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        let mut hashes = HashSet::new();
        for (index, token) in self.tokens.iter().enumerate() {
            let refuse = |why: &str| Err(format!("`auth.tokens[{index}]`, named `{}`, {why}", token.name));
            if token.name.is_empty() {
                return refuse("needs a name");
            }
            if token.scopes.is_empty() {
                return refuse("needs a scope: `data`, `read` or `ops`");
            }
            if !names.insert(&token.name) {
                return refuse("has the name of another one; names must differ");
            }
            if !hashes.insert(token.sha256) {
                return refuse("has the hash of another one; join their scopes");
            }
        }
        Ok(())
    }

    /// Refuses tiers that the policy by which the server limits its callers does not have.
    pub(crate) fn check_tiers(&self, limit: Option<(&str, &Policy)>) -> Result<(), String> {
        let Some((name, policy)) = limit else { return Ok(()) };
        let tiers = policy.tiers(name)?;
        for (index, token) in self.tokens.iter().enumerate() {
            if let Some(tier) = token.tier.as_ref().filter(|tier| !tiers.names().any(|name| name == *tier)) {
                let remedy = format!("add it to `limits.{name}.tiers`, the policy of `server.limit`");
                return Err(format!("`auth.tokens[{index}].tier` is `{tier}`, which is no tier; {remedy}"));
            }
        }
        Ok(())
    }
}
