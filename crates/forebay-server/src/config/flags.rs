//! What the command line and the environment say, which takes precedence over the file.

use std::path::PathBuf;

use clap::{
    ArgMatches, Args,
    builder::{OsStringValueParser, TypedValueParser},
    parser::ValueSource,
};

use super::redis::Url;

/// Flags of the verbs that read the settings, each with its variable. They may stand before the verb, too.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Flags {
    /// TOML file with the settings
    #[arg(long, env = "FOREBAY_CONFIG", value_name = "FILE", value_parser = path())]
    pub(super) config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:7340]
    #[arg(long, env = "FOREBAY_LISTEN", value_name = "HOST:PORT")]
    pub(super) listen: Option<String>,

    /// Name of the application, the first part of every key [default: forebay]
    #[arg(long, env = "FOREBAY_APP", value_name = "NAME")]
    pub(super) app: Option<String>,

    /// Redis to share everything through, such as redis://127.0.0.1:6379 [default: none, everything stays in
    /// this process]. Other users of this machine can read a password in a flag, but not in the variable
    #[arg(long, env = "FOREBAY_REDIS_URL", value_name = "URL", hide_env_values = true)]
    pub(super) redis: Option<Url>,

    /// Forces a store, whatever else is configured: `memory` or `redis`
    #[arg(long, env = "FOREBAY_STORE", value_name = "STORE")]
    pub(super) store: Option<String>,

    /// The names of those that come from the command line.
    #[arg(skip)]
    pub(super) typed: Vec<&'static str>,
}

/// Takes an empty path too, which clap's own parser refuses.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

impl Flags {
    /// A server for a demonstration, which nothing else configures.
    pub(crate) fn for_demo(port: u16, redis: Option<String>) -> Self {
        let listen = Some(format!("127.0.0.1:{port}"));
        Self { listen, app: Some("demo".to_owned()), redis: redis.map(Url::from), ..Self::default() }
    }

    /// What stands behind the verb, or else before it, or else in the environment.
    pub(crate) fn read(program: &ArgMatches) -> Self {
        let mut given = Given::by(program);
        Self {
            config: given.take("config"),
            listen: given.take("listen"),
            app: given.take("app"),
            redis: given.take("redis"),
            store: given.take("store"),
            typed: given.typed,
        }
    }

    /// What is empty counts as not given: so `${X:-}` comes out of a compose file.
    pub(super) fn without_empty_ones(self) -> Self {
        let named = |value: Option<String>| value.filter(|value| !value.is_empty());
        Self {
            config: self.config.filter(|path| !path.as_os_str().is_empty()),
            listen: named(self.listen),
            app: named(self.app),
            redis: self.redis.filter(|url| !url.is_empty()),
            store: named(self.store),
            typed: self.typed,
        }
    }

    /// How the setting of this name was given, if it was.
    pub(super) fn source(&self, name: &'static str, variable: &'static str) -> String {
        if self.typed.contains(&name) { format!("--{name}") } else { variable.to_owned() }
    }

    /// The flags that stand on the command line, as they are written.
    pub(crate) fn typed(&self) -> String {
        self.typed.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(" and ")
    }
}

/// What was parsed of the verb, of the verb that it belongs to, and of the program.
struct Given<'a> {
    levels: Vec<&'a ArgMatches>,
    pub(super) typed: Vec<&'static str>,
}

impl<'a> Given<'a> {
    fn by(program: &'a ArgMatches) -> Self {
        let mut levels = vec![program];
        while let Some((_, verb)) = levels[0].subcommand() {
            levels.insert(0, verb);
        }
        Self { levels, typed: Vec::new() }
    }

    fn take<T: Clone + Send + Sync + 'static>(&mut self, name: &'static str) -> Option<T> {
        if let Some(value) = self.from(name, ValueSource::CommandLine) {
            self.typed.push(name);
            return Some(value);
        }
        self.from(name, ValueSource::EnvVariable)
    }

    fn from<T: Clone + Send + Sync + 'static>(&self, name: &str, source: ValueSource) -> Option<T> {
        let known = self.levels.iter().filter(|level| level.try_contains_id(name).is_ok());
        let mut given = known.filter(|level| level.value_source(name) == Some(source));
        given.next()?.get_one(name).cloned()
    }
}
