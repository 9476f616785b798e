//! Finds the entries of one space among the keys of a store, and reads their ids.

use std::borrow::Cow;

use super::{Keys, Name, escaped, generations};

/// What a key of a space is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Value,
    Lease,
}

impl Part {
    fn kind(self) -> &'static str {
        match self {
            Self::Value => "cache",
            Self::Lease => "lease",
        }
    }
}

impl Keys {
    /// Matches the keys of a space whose ids begin with `prefix`, which stands for itself: with others among them, as no
    /// pattern says what a version is. [`Keys::read_entry`] tells them apart.
    pub(crate) fn entries(&self, part: Part, space: &Name, prefix: &str) -> String {
        // What is too long to be spelled out is asked for with all the others.
        let prefix = escaped(prefix).unwrap_or_default();
        let [app, space, prefix] = [self.app.as_str(), space.as_str(), &prefix].map(literally);
        format!("{}:{app}:{space}:v*:{{{prefix}*", part.kind())
    }

    /// The encoded id of a key of the space, if it is of a `version` that runs beside this one.
    pub(crate) fn read_entry<'a>(
        &self,
        part: Part,
        space: &Name,
        version: u32,
        key: &'a str,
    ) -> Option<&'a str> {
        let rest = key.strip_prefix(part.kind())?.strip_prefix(':')?.strip_prefix(self.app.as_str())?;
        let rest = rest.strip_prefix(':')?.strip_prefix(space.as_str())?.strip_prefix(":v")?;
        let (number, rest) = rest.split_once(":{")?;
        let number =
            number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse().ok()).flatten()?;
        generations(version).contains(&number).then(|| rest.strip_suffix('}')).flatten()
    }
}

/// The id that has this encoded form; `None` if that is a hash, which tells nothing.
pub(crate) fn decode(encoded: &str) -> Option<Cow<'_, str>> {
    match encoded {
        "%" => Some(Cow::Borrowed("")),
        _ if encoded.starts_with("%~") => None,
        _ if encoded.contains('%') => unescaped(encoded).map(Cow::Owned),
        _ => Some(Cow::Borrowed(encoded)),
    }
}

fn unescaped(encoded: &str) -> Option<String> {
    let mut parts = encoded.split('%');
    let mut id = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        id.push(are_digits.then(|| u8::from_str_radix(digits, 16).ok()).flatten()?);
        id.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(id).ok()
}

/// A pattern that matches `text` alone.
pub(super) fn literally(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '^' | '-' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::{App, encode};

    fn keys() -> Keys {
        Keys::new(App::new("shop").unwrap())
    }

    fn space(name: &str) -> Name {
        Name::new(name).unwrap()
    }

    #[test]
    fn what_a_pattern_could_mean_stands_for_itself() {
        let pattern = keys().entries(Part::Value, &space("a-b"), r"p[1-2]*?\^ {");
        assert_eq!(pattern, r"cache:shop:a\-b:v*:{p\[1\-2\]\*\?\\\^%20%7B*");
    }

    #[test]
    fn a_space_has_no_part_in_another_whose_name_begins_with_its_own() {
        let (keys, other) = (keys(), space("a:v1"));
        for part in [Part::Value, Part::Lease] {
            let key = |space: &Name, version, id| match part {
                Part::Value => keys.value(space, version, id),
                Part::Lease => keys.lease(space, version, id),
            };
            let read = |key: &str| keys.read_entry(part, &space("a"), 2, key).map(str::to_owned);
            assert_eq!(read(&key(&space("a"), 2, "x:{y")), Some("x:{y".to_owned()));
            assert_eq!(read(&key(&other, 2, "x")), None);
            assert_eq!(read(&key(&space("a:b"), 2, "x")), None);
        }
        assert_eq!(keys.read_entry(Part::Value, &space("a"), 2, "lease:shop:a:v2:{x}"), None);
        assert_eq!(keys.read_entry(Part::Value, &space("a"), 2, "cache:shopping:a:v2:{x}"), None);
        assert_eq!(keys.read_entry(Part::Value, &space("a"), 2, "cache:shop:a:v+2:{x}"), None);
    }

    #[test]
    fn neighbouring_versions_are_read_and_no_others() {
        let of = |version| keys().value(&space("a"), version, "x");
        let read = |version| keys().read_entry(Part::Value, &space("a"), 5, &of(version)).is_some();
        assert_eq!([3, 4, 5, 6, 7].map(read), [false, true, true, true, false]);
    }

    #[test]
    fn a_hash_is_no_id() {
        assert_eq!(decode(&encode(&"x".repeat(201))), None);
        assert_eq!(decode(&encode("")).as_deref(), Some(""));
        for odd in ["%4", "%zz", "a%", "%FF", "%+5"] {
            assert_eq!(decode(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_read_as_it_was_written(id in ".{0,90}") {
            let encoded = encode(&id);
            prop_assert!(encoded.starts_with("%~") || decode(&encoded).as_deref() == Some(&*id));
        }
    }
}
