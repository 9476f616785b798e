//! Spells every key and channel: nothing else in the library formats one.

mod fingerprint;
mod kind;
mod stored;
#[cfg(test)]
mod tests;

use std::{
    borrow::{Borrow, Cow},
    fmt::{self, Write},
    ops::RangeInclusive,
    sync::Arc,
};

use crate::error::{Error, ErrorKind};

pub use self::fingerprint::Fingerprint;
pub(crate) use self::{
    kind::Kind,
    stored::{Part, decode},
};

const LONGEST_NAME: usize = 64;
const LONGEST_ID: usize = 200;

/// The digits of the largest version.
const MOST_DIGITS: usize = 10;

/// The bytes that are looked at together.
const WORD: usize = 8;

/// The name of an application: the part that keeps services apart which share one store.
///
/// # Example
///
/// ```
/// use forebay::key::App;
///
/// assert_eq!(App::new("shop")?.as_str(), "shop");
/// assert!(App::new("My shop").is_err());
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct App(Arc<str>);

/// The name of a space, policy, counter, filter or topic.
///
/// # Example
///
/// ```
/// use forebay::key::Name;
///
/// assert_eq!(Name::new("catalog:product")?.as_str(), "catalog:product");
/// assert!(Name::new("catalog/product").is_err());
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name(Arc<str>);

impl App {
    /// Takes a name of 1 to 64 characters out of `a-z`, `0-9`, `.`, `_` and `-`.
    ///
    /// # Errors
    ///
    /// Anything else is an error of kind [`ErrorKind::Config`].
    pub fn new(name: impl Into<String>) -> Result<Self, Error> {
        validated("application name", name.into(), "._-").map(Self)
    }

    /// Borrows the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Name {
    /// Takes a name of 1 to 64 characters out of `a-z`, `0-9`, `.`, `_`, `:` and `-`.
    ///
    /// # Errors
    ///
    /// Anything else is an error of kind [`ErrorKind::Config`].
    pub fn new(name: impl Into<String>) -> Result<Self, Error> {
        validated("name", name.into(), "._:-").map(Self)
    }

    /// Borrows the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn validated(what: &str, name: String, punctuation: &str) -> Result<Arc<str>, Error> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || punctuation.contains(c);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(name.into());
    }
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    let cut = if shown.len() < name.len() { "…" } else { "" };
    let remedy = format!("use 1 to {LONGEST_NAME} characters out of a-z, 0-9 and {punctuation}");
    Err(Error::new(ErrorKind::Config, format!("{what} {shown:?}{cut} cannot be part of a key: {remedy}")))
}

/// Encodes what a user chose, so that it cannot leave its place in a key.
///
/// `{`, `}`, `%`, control characters and white space become `%` and two hex digits a byte, nothing becomes
/// `%`, and an input that is longer than 200 bytes after that becomes `%~` and 32 hex digits of its BLAKE3
/// hash. Different inputs have different encodings. Encoding twice is not the same as encoding once.
///
/// # Example
///
/// ```
/// use forebay::key::encode;
///
/// assert_eq!(encode("p-001"), "p-001");
/// assert_eq!(encode("{a} b"), "%7Ba%7D%20b");
/// assert_eq!(encode(""), "%");
/// ```
#[inline]
#[must_use]
pub fn encode(id: &str) -> Cow<'_, str> {
    if is_plain(id) { Cow::Borrowed(id) } else { encode_anew(id) }
}

#[cold]
fn encode_anew(id: &str) -> Cow<'_, str> {
    if id.is_empty() {
        return Cow::Borrowed("%");
    }
    if id.len() > LONGEST_ID {
        return Cow::Owned(hashed(id));
    }
    match id.contains(is_special) {
        true => Cow::Owned(escaped(id).unwrap_or_else(|| hashed(id))),
        false => Cow::Borrowed(id),
    }
}

/// Whether an id is certainly its own encoding. Looks at words, the last of which may overlap the one before: a loop
/// over single bytes is not turned into vector instructions for ids as short as ids are.
#[inline]
fn is_plain(id: &str) -> bool {
    let bytes = id.as_bytes();
    let Some(last) = bytes.last_chunk::<WORD>() else {
        return !bytes.is_empty() && bytes.iter().all(|byte| suspicion([*byte; WORD]) == 0);
    };
    let (words, _) = bytes[..bytes.len() - 1].as_chunks::<WORD>();
    bytes.len() <= LONGEST_ID && words.iter().fold(suspicion(*last), |any, word| any | suspicion(*word)) == 0
}

/// Zero if each byte is certainly plain. The highest bit of a byte tells of it; no sum of two bytes carries, unless one
/// is above ASCII and so suspected anyway.
#[inline]
fn suspicion(word: [u8; WORD]) -> u64 {
    let every = |byte: u8| u64::from_ne_bytes([byte; WORD]);
    let word = u64::from_ne_bytes(word);
    let above_space = word.wrapping_add(every(0x7F - b' '));
    let not_percent = (word ^ every(b'%')).wrapping_add(every(0x7F));
    // `{`, `}` and DEL are odd; `|` and `~` between them are even.
    let from_brace = word.wrapping_add(every(0x80 - b'{'));
    (word | !(above_space & not_percent) | (from_brace & word << 7)) & every(0x80)
}

fn is_special(c: char) -> bool {
    matches!(c, '%' | '{' | '}') || c.is_control() || c.is_whitespace()
}

fn escaped(id: &str) -> Option<String> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(LONGEST_ID);
    for c in id.chars() {
        if is_special(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let digits = [byte >> 4, byte & 0xF].map(|digit| char::from(HEX[usize::from(digit)]));
                encoded.extend(['%', digits[0], digits[1]]);
            }
        } else {
            encoded.push(c);
        }
    }
    (encoded.len() <= LONGEST_ID).then_some(encoded)
}

fn hashed(id: &str) -> String {
    format!("%~{}", digest(id.as_bytes()))
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Names the versions whose entries a change of one of them concerns: two neighbours may run side by side.
pub(crate) fn generations(version: u32) -> RangeInclusive<u32> {
    version.saturating_sub(1).max(1)..=version.saturating_add(1)
}

/// Spells the keys of one application.
///
/// An `id` is in its [encoded](encode) form.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    app: App,
}

impl Keys {
    pub(crate) fn new(app: App) -> Self {
        Self { app }
    }

    pub(crate) fn value(&self, space: &Name, version: u32, id: &str) -> String {
        self.entry("cache", space, version, id)
    }

    /// What the keys of all values begin with, and no other key.
    pub(crate) fn values(&self) -> String {
        ["cache:", self.app.as_str(), ":"].concat()
    }

    /// The space, the version and the id, in its encoded form, of the key of a value.
    pub(crate) fn read_value<'a>(&self, key: &'a str) -> Option<(&'a str, u32, &'a str)> {
        let rest = key.strip_prefix("cache:")?.strip_prefix(self.app.as_str())?.strip_prefix(':')?;
        let (rest, id) = rest.strip_suffix('}')?.split_once(":{")?;
        let (space, version) = rest.rsplit_once(":v")?;
        Some((space, version.parse().ok()?, id))
    }

    pub(crate) fn lease(&self, space: &Name, version: u32, id: &str) -> String {
        self.entry("lease", space, version, id)
    }

    /// The numbers of a space, whatever its version.
    pub(crate) fn numbers(&self, space: &Name) -> String {
        self.named("tags", space.as_str())
    }

    /// The number of one tag, which is in its encoded form.
    pub(crate) fn tag(&self, space: &Name, tag: &str) -> String {
        self.named("tag", space.as_str()) + ":" + tag
    }

    /// `mode` is the name of one whose values no other can read.
    pub(crate) fn limit(&self, policy: &Name, subject: &str, mode: Option<&str>) -> String {
        let mut key = self.limit_of(policy.as_str(), subject);
        if let Some(mode) = mode {
            key.push(':');
            key.push_str(mode);
        }
        key
    }

    /// Matches the keys of all policies.
    pub(crate) fn limits(&self) -> String {
        self.limit_of("*", "*") + "*"
    }

    /// The policy, the subject in its encoded form and the mode of a key.
    pub(crate) fn read_limit<'a>(&self, key: &'a str) -> Option<(&'a str, &'a str, Option<&'a str>)> {
        let rest = key.strip_prefix("rate_limit:")?.strip_prefix(self.app.as_str())?.strip_prefix(':')?;
        let (rest, mode) = rest.split_once('}')?;
        let (policy, subject) = rest.split_once(":{")?;
        let mode = if mode.is_empty() { None } else { Some(mode.strip_prefix(':')?) };
        Some((policy, subject, mode))
    }

    /// A lock's `name` is in its encoded form, as a claim's and that of what runs once.
    pub(crate) fn lock(&self, name: &str) -> String {
        self.named("lock", name)
    }

    pub(crate) fn fence(&self, name: &str) -> String {
        self.named("fence", name)
    }

    pub(crate) fn claim(&self, name: &str) -> String {
        self.named("claim", name)
    }

    pub(crate) fn idempotency(&self, name: &str) -> String {
        self.named("idem", name)
    }

    /// A `date` is spelled as in 2026-05-13.
    pub(crate) fn unique(&self, counter: &Name, date: &str) -> String {
        self.named("uv", counter.as_str()) + ":" + date
    }

    /// What points to the bitmaps in use.
    pub(crate) fn filter(&self, name: &Name) -> String {
        self.named("filter", name.as_str())
    }

    pub(crate) fn filter_bits(&self, name: &Name, generation: u64) -> String {
        format!("{}:g{generation}", self.filter(name))
    }

    /// The messages of a durable topic.
    pub(crate) fn stream(&self, topic: &Name) -> String {
        self.named("stream", topic.as_str())
    }

    /// What a group of a durable topic has put aside.
    pub(crate) fn dead_letters(&self, topic: &Name, group: &Name) -> String {
        format!("{}:dead:{group}", self.stream(topic))
    }

    pub(crate) fn topic_channel(&self, topic: &Name) -> String {
        self.channel(&["topic:", topic.as_str()].concat())
    }

    pub(crate) fn invalidate_channel(&self) -> String {
        self.channel("invalidate")
    }

    pub(crate) fn wake_channel(&self) -> String {
        self.channel("wake")
    }

    fn entry(&self, kind: &str, space: &Name, version: u32, id: &str) -> String {
        let bytes = kind.len() + self.app.as_str().len() + space.as_str().len() + id.len() + MOST_DIGITS + 6;
        let mut key = String::with_capacity(bytes);
        for part in [kind, ":", self.app.as_str(), ":", space.as_str(), ":v"] {
            key.push_str(part);
        }
        // Cheaper than all of it as one format: this is on the way of every read.
        write!(key, "{version}").expect("a string takes everything");
        for part in [":{", id, "}"] {
            key.push_str(part);
        }
        key
    }

    fn named(&self, kind: &str, name: &str) -> String {
        [kind, ":", self.app.as_str(), ":{", name, "}"].concat()
    }

    fn limit_of(&self, policy: &str, subject: &str) -> String {
        ["rate_limit:", self.app.as_str(), ":", policy, ":{", subject, "}"].concat()
    }

    fn channel(&self, name: &str) -> String {
        format!("forebay:{}:{name}", self.app)
    }
}
