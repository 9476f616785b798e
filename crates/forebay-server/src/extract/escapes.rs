//! Percent-encoding, read strictly.

use percent_encoding::percent_decode_str;

/// The text that `raw` encodes, or what is wrong with it.
pub(super) fn decode(raw: &str) -> Result<String, &'static str> {
    let well_formed = raw.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    if !well_formed {
        return Err("holds a `%` that two hexadecimal digits do not follow; a percent sign is written `%25`");
    }
    let text = percent_decode_str(raw).decode_utf8().map_err(|_| "does not encode UTF-8")?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_well_formed_alone() {
        assert_eq!(decode("a%2Fb%25%e2%82%ac").as_deref(), Ok("a/b%€"));
        assert_eq!(decode("ä+b").as_deref(), Ok("ä+b"));
        for malformed in ["%", "a%2", "%zz", "%2", "%%20", "%ff", "%c3%28", "%+1"] {
            assert!(decode(malformed).is_err(), "{malformed}");
        }
    }
}
