//! Which store is used: what flags, variables and the file say together.

use super::{ConfigError, File, Flags, redis::Url};

const URL_SET_BY: &str = "FOREBAY_REDIS_URL (or --redis)";

const SET_BY: &str = "FOREBAY_STORE (or --store)";

/// Where what is shared is kept: `--store`, `FOREBAY_STORE`. Default: Redis where a URL is given, else memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// In this process.
    Memory,
    /// In Redis, at the URL that this setting gives.
    Redis { url: Url, setting: String },
}

impl Store {
    pub(super) fn choose(flags: &Flags, file: &File) -> Result<Self, ConfigError> {
        // The library takes this variable for the whole process, whatever the flag says.
        let forced = std::env::var_os("FOREBAY_STORE").is_some_and(|store| store == "memory");
        match (flags.store.as_deref(), Self::named(flags, file)) {
            _ if forced => Ok(Self::Memory),
            (Some("memory"), _) | (None, None) => Ok(Self::Memory),
            (Some("redis") | None, Some(redis)) => Ok(redis),
            (Some("redis"), None) => {
                let remedy =
                    "give its URL in FOREBAY_REDIS_URL, with --redis, or as `url` under [redis] in the file";
                Err(ConfigError(format!("{SET_BY} is `redis`, and nothing says where that is: {remedy}")))
            }
            (Some(other), _) => Err(ConfigError(format!(
                "{SET_BY} is `{other}`; set it to `memory` or `redis`, or leave it out"
            ))),
        }
    }

    /// The Redis whose URL is given, in the order of precedence.
    fn named(flags: &Flags, file: &File) -> Option<Self> {
        if let Some(url) = flags.redis.clone() {
            return Some(Self::Redis { url, setting: URL_SET_BY.to_owned() });
        }
        let place = flags.config.iter().map(|path| format!("{}: ", path.display()));
        let setting = place.chain(["`redis.url`".to_owned()]).collect();
        file.redis.url.clone().map(|url| Self::Redis { url, setting })
    }

    /// An error that blames the setting by which this store was chosen.
    pub(crate) fn refuse(&self, why: &forebay::Error) -> ConfigError {
        match self {
            Self::Memory => ConfigError(why.to_string()),
            Self::Redis { setting, .. } => ConfigError(format!("{setting}: {why}")),
        }
    }

    /// What other servers write can be read here.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Redis { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn flags(redis: Option<&str>, store: Option<&str>) -> Flags {
        Flags {
            redis: redis.map(|url| url.to_owned().into()),
            store: store.map(str::to_owned),
            config: Some(PathBuf::from("forebay.toml")),
            ..Flags::default()
        }
    }

    fn chosen(redis: Option<&str>, store: Option<&str>, file: &str) -> Result<Store, String> {
        let file = File::parse(file).unwrap();
        Store::choose(&flags(redis, store), &file).map_err(|error| error.to_string())
    }

    fn redis(url: &str, setting: &str) -> Result<Store, String> {
        Ok(Store::Redis { url: url.to_owned().into(), setting: setting.to_owned() })
    }

    const FILE: &str = "[redis]\nurl = \"redis://file\"";

    #[test]
    fn a_url_moves_the_server_to_redis_and_that_of_the_file_comes_last() {
        assert_eq!(chosen(None, None, ""), Ok(Store::Memory));
        assert_eq!(chosen(None, None, "[redis]"), Ok(Store::Memory));
        assert_eq!(chosen(None, None, FILE), redis("redis://file", "forebay.toml: `redis.url`"));
        assert_eq!(chosen(Some("redis://flag"), None, FILE), redis("redis://flag", URL_SET_BY));
    }

    #[test]
    fn a_forced_store_overrides_the_urls_or_needs_one() {
        assert_eq!(chosen(Some("no URL"), Some("memory"), FILE), Ok(Store::Memory));
        assert_eq!(chosen(Some("redis://flag"), Some("redis"), ""), redis("redis://flag", URL_SET_BY));

        let refusal = chosen(None, Some("redis"), "").unwrap_err();
        assert!(refusal.contains("FOREBAY_STORE") && refusal.contains("FOREBAY_REDIS_URL"), "{refusal}");
        let refusal = chosen(Some("redis://flag"), Some("disk"), FILE).unwrap_err();
        assert!(refusal.contains("FOREBAY_STORE") && refusal.contains("`disk`"), "{refusal}");
    }

    #[test]
    fn a_url_that_cannot_be_used_is_blamed_on_its_setting() {
        let why = forebay::Error::codec("the scheme is unknown");

        let refusal = chosen(None, None, FILE).unwrap().refuse(&why);

        assert_eq!(refusal.to_string(), "forebay.toml: `redis.url`: the scheme is unknown");
    }
}
