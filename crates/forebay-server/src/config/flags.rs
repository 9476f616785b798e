//! What the command line and the environment say, which takes precedence over the file.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use super::redis::Url;

/// Flags, before the verb or after it, each with its variable.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Flags {
    /// TOML file with the settings
    #[arg(long, global = true, env = "FOREBAY_CONFIG", value_name = "FILE", value_parser = path())]
    pub(super) config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:7340]
    #[arg(long, global = true, env = "FOREBAY_LISTEN", value_name = "HOST:PORT")]
    pub(super) listen: Option<String>,

    /// Name of the application, the first part of every key [default: forebay]
    #[arg(long, global = true, env = "FOREBAY_APP", value_name = "NAME")]
    pub(super) app: Option<String>,

    /// Redis to share everything through, such as redis://127.0.0.1:6379 [default: none, everything stays in
    /// this process]. Other users of this machine can read a password in a flag, but not in the variable
    #[arg(long, global = true, env = "FOREBAY_REDIS_URL", value_name = "URL", hide_env_values = true)]
    pub(super) redis: Option<Url>,

    /// Forces a store, whatever else is configured: `memory` or `redis`
    #[arg(long, global = true, env = "FOREBAY_STORE", value_name = "STORE")]
    pub(super) store: Option<String>,
}

/// Takes an empty path too, which clap's own parser refuses.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

impl Flags {
    /// What is empty counts as not given: so `${X:-}` comes out of a compose file.
    pub(super) fn without_empty_ones(self) -> Self {
        let named = |value: Option<String>| value.filter(|value| !value.is_empty());
        Self {
            config: self.config.filter(|path| !path.as_os_str().is_empty()),
            listen: named(self.listen),
            app: named(self.app),
            redis: self.redis.filter(|url| !url.is_empty()),
            store: named(self.store),
        }
    }
}
