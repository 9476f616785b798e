//! The windows of a tier as people write them: `["10/minute", "100/hour"]`, or `"unlimited"`.

use std::fmt;

use forebay::limiter::Window;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

const UNLIMITED: &str = "unlimited";

/// The windows of one tier; none if it has no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Windows(pub(super) Vec<Window>);

/// `"10/minute"`, or `{ window = "10/minute", burst = 5 }`.
struct Written(Window);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"a table such as `{ window = "10/minute", burst = 5 }`"#)]
struct WithBurst {
    window: Written,
    burst: u64,
}

impl<'de> Deserialize<'de> for Windows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(All)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(One)
    }
}

struct All;

impl<'de> Visitor<'de> for All {
    type Value = Windows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"a list of windows such as ["10/minute", "100/hour"], or "{UNLIMITED}""#)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Windows, E> {
        match text {
            UNLIMITED => Ok(Windows(Vec::new())),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Windows, A::Error> {
        let mut windows = Vec::new();
        while let Some(Written(window)) = list.next_element()? {
            windows.push(window);
        }
        match windows.is_empty() {
            true => {
                Err(A::Error::custom(format!("there is no window; without any limit it is \"{UNLIMITED}\"")))
            }
            false => Ok(Windows(windows)),
        }
    }
}

struct One;

impl<'de> Visitor<'de> for One {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a window such as "10/minute" or { window = "10/minute", burst = 5 }"#)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        text.parse().map(Written).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Written, A::Error> {
        let WithBurst { window: Written(window), burst } =
            WithBurst::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Written(window.burst(burst)))
    }
}
