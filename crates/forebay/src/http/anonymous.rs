//! Ids for visitors without an account: random, signed, and kept in a cookie.

use std::{fmt, time::Duration};

use hmac::{Hmac, KeyInit, Mac};
use http::{
    HeaderMap, HeaderValue,
    header::{CACHE_CONTROL, COOKIE, SET_COOKIE},
};
use sha2::Sha256;

use crate::{
    dice::Dice,
    error::{Error, ErrorKind},
};

/// What the signature is of, beside the id, so that one made elsewhere with the same key is none.
const PURPOSE: &[u8] = b"anonymous id\0";
const KEY_BYTES: usize = 32;
const ID_DIGITS: usize = 32;

/// Gives visitors without an account an id that only this service can have made.
///
/// The id comes in a cookie with the first answer, and counts from the next request on; a request without a valid
/// one counts as its address, so that throwing the cookie away gains nothing. An answer that is an error brings no
/// id, so that none can be got from refusals. One that does is made `Cache-Control: private`, as visitors who get it
/// out of a shared cache would all be the same. Somebody who collects ids has a quota for each: limit what matters by
/// [`Whose::address`](super::Whose::address) as well.
#[derive(Clone)]
pub struct AnonymousIds {
    /// The first one signs, all of them verify.
    keys: Vec<Hmac<Sha256>>,
    cookie: Box<str>,
    max_age: Duration,
    secure: bool,
    dice: Dice,
}

impl AnonymousIds {
    /// Signs ids with `key`, which has at least 32 random bytes and is the same in every process.
    ///
    /// # Errors
    ///
    /// A key that is too short.
    pub fn new(key: impl AsRef<[u8]>) -> Result<Self, Error> {
        Ok(Self {
            keys: vec![mac(key.as_ref())?],
            cookie: "visitor".into(),
            // Browsers keep no cookie for much longer.
            max_age: Duration::from_hours(365 * 24),
            secure: true,
            dice: Dice::fair(),
        })
    }

    /// Accepts ids that were signed with an earlier `key` too, so that changing it forgets nobody.
    ///
    /// # Errors
    ///
    /// A key that is too short.
    pub fn accept(mut self, key: impl AsRef<[u8]>) -> Result<Self, Error> {
        self.keys.push(mac(key.as_ref())?);
        Ok(self)
    }

    /// Sets the name of the cookie. Default: `visitor`.
    ///
    /// # Errors
    ///
    /// A name that no cookie can have.
    pub fn cookie(self, name: &str) -> Result<Self, Error> {
        let special = |byte: u8| b"()<>@,;:\\\"/[]?={}".contains(&byte) || !byte.is_ascii_graphic();
        if name.is_empty() || name.bytes().any(special) {
            return Err(Error::new(ErrorKind::Config, format!("no cookie can be named `{name}`")));
        }
        Ok(Self { cookie: name.into(), ..self })
    }

    /// Sets for how long a browser keeps the id, in whole seconds. Default: 365 days.
    #[must_use]
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age, ..self }
    }

    /// Sets whether browsers send the id over TLS alone. Default: yes.
    #[must_use]
    pub fn secure(self, secure: bool) -> Self {
        Self { secure, ..self }
    }

    /// The first id among the cookies that we signed.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<String> {
        let lines =
            headers.get_all(COOKIE).into_iter().filter_map(|line| str::from_utf8(line.as_bytes()).ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == &*self.cookie).map(|(_, value)| value);
        values.find_map(|value| self.verify(value)).map(Into::into)
    }

    /// A cookie with a new id.
    pub(super) fn issue(&self) -> HeaderValue {
        let id = format!("{:032x}", self.dice.wide());
        let signature = hex::encode(signed(&self.keys[0], &id).finalize().into_bytes());
        let (name, seconds) = (&self.cookie, self.max_age.as_secs());
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie =
            format!("{name}={id}.{signature}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).expect("a checked name and hex digits make a header")
    }

    fn verify<'a>(&self, value: &'a str) -> Option<&'a str> {
        let (id, signature) = value.split_once('.')?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(signature, &mut bytes).ok()?;
        let known = id.len() == ID_DIGITS && self.keys.iter().any(|key| is_signed(key, id, &bytes));
        known.then_some(id)
    }
}

impl fmt::Debug for AnonymousIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnonymousIds")
            .field("keys", &self.keys.len())
            .field("cookie", &self.cookie)
            .field("max_age", &self.max_age)
            .field("secure", &self.secure)
            .finish_non_exhaustive()
    }
}

/// Puts the cookie into an answer, which no shared cache may keep then.
pub(super) fn bring(cookie: HeaderValue, headers: &mut HeaderMap) {
    headers.append(SET_COOKIE, cookie);
    let lines = headers.get_all(CACHE_CONTROL).into_iter().filter_map(|line| line.to_str().ok());
    let mut directives = lines.flat_map(|line| line.split(',')).map(str::trim);
    let is_kept_apart =
        |directive: &str| ["private", "no-store"].iter().any(|name| directive.eq_ignore_ascii_case(name));
    if !directives.any(is_kept_apart) {
        headers.append(CACHE_CONTROL, HeaderValue::from_static("private"));
    }
}

fn mac(key: &[u8]) -> Result<Hmac<Sha256>, Error> {
    if key.len() < KEY_BYTES {
        let why = format!("the key of anonymous ids has {} bytes; it needs at least {KEY_BYTES}", key.len());
        return Err(Error::new(ErrorKind::Config, why));
    }
    Ok(Hmac::new_from_slice(key).expect("a key of any length does"))
}

fn signed(key: &Hmac<Sha256>, id: &str) -> Hmac<Sha256> {
    key.clone().chain_update(PURPOSE).chain_update(id)
}

/// Takes the same time whatever is wrong with the signature.
fn is_signed(key: &Hmac<Sha256>, id: &str, signature: &[u8]) -> bool {
    signed(key, id).verify_slice(signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(key: &[u8; 32]) -> AnonymousIds {
        AnonymousIds::new(key).unwrap()
    }

    /// What a browser sends back.
    fn returned(issued: &HeaderValue) -> String {
        issued.to_str().unwrap().split(';').next().unwrap().into()
    }

    fn find(ids: &AnonymousIds, lines: &[&str]) -> Option<String> {
        let lines = lines.iter().map(|line| (COOKIE, HeaderValue::from_str(line).unwrap()));
        ids.find(&lines.collect())
    }

    #[test]
    fn an_id_is_known_again_among_other_cookies() {
        let ids = ids(&[1; 32]);
        let cookie = returned(&ids.issue());
        let id = &cookie["visitor=".len()..][..32];

        assert_eq!(find(&ids, &["a=b; c", &format!("visitor=forged; {cookie}; d=e")]).unwrap(), id);
        assert_ne!(returned(&ids.issue()), cookie);
    }

    #[test]
    fn a_changed_id_or_signature_or_another_key_is_no_identity() {
        let ours = ids(&[1; 32]);
        let cookie = returned(&ours.issue());
        for at in ["visitor=".len(), cookie.len() - 1] {
            let other = if &cookie[at..=at] == "0" { "1" } else { "0" };
            let mut forged = cookie.clone();
            forged.replace_range(at..=at, other);
            assert_eq!(find(&ours, &[&forged]), None, "{forged}");
        }
        for forged in [&cookie[..cookie.len() - 2], "visitor=", "visitor=.", "visitor"] {
            assert_eq!(find(&ours, &[forged]), None, "{forged}");
        }
        assert_eq!(find(&ids(&[2; 32]), &[&cookie]), None);
    }

    #[test]
    fn an_earlier_key_is_accepted_and_the_new_one_signs() {
        let earlier = ids(&[1; 32]);
        let now = ids(&[2; 32]).accept([1; 32]).unwrap();

        assert!(find(&now, &[&returned(&earlier.issue())]).is_some());
        assert!(find(&ids(&[2; 32]), &[&returned(&now.issue())]).is_some());
    }

    #[test]
    fn a_browser_keeps_the_id_from_scripts_and_other_sites() {
        let ids = ids(&[1; 32]).cookie("who").unwrap().max_age(Duration::from_secs(60));
        let attributes =
            |ids: &AnonymousIds| ids.issue().to_str().unwrap().split_once("; ").unwrap().1.to_owned();

        assert_eq!(attributes(&ids), "Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        assert_eq!(attributes(&ids.secure(false)), "Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn short_keys_and_impossible_names_are_refused() {
        let error = AnonymousIds::new([0; 31]).unwrap_err();
        assert_eq!(error.to_string(), "the key of anonymous ids has 31 bytes; it needs at least 32");
        assert!(ids(&[1; 32]).accept("short").is_err());
        for name in ["", "a b", "a=b", "a;b", "é"] {
            assert!(ids(&[1; 32]).cookie(name).is_err(), "{name}");
        }
    }
}
