//! Answers as records, to be handed out again.

use crate::once::Record;
use bytes::{Buf, BufMut, Bytes, TryGetError};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION,
        CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK, LOCATION, VARY,
    },
};

/// What describes an answer, and says nothing of the connection or the caller.
pub(super) const REPLAYED: [HeaderName; 11] = [
    CACHE_CONTROL,
    CONTENT_DISPOSITION,
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LOCATION,
    CONTENT_TYPE,
    ETAG,
    LAST_MODIFIED,
    LINK,
    LOCATION,
    VARY,
];

/// What belongs to one caller at one time, or says how to become that caller.
pub(super) const NEVER: [&str; 9] = [
    "authentication-info",
    "authorization",
    "cookie",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "www-authenticate",
];

/// The first byte of a record.
const VERSION: u8 = 1;

/// An answer that was given once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Nothing where it was too large, or never ended.
    pub(super) body: Option<Bytes>,
}

impl Answer {
    /// Of the headers of an answer those that are called for.
    pub(super) fn new(status: StatusCode, headers: &HeaderMap, kept: &[HeaderName]) -> Self {
        let headers = headers.iter().filter(|(name, _)| kept.contains(name));
        let headers = headers.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { status, headers, body: None }
    }

    /// Writes the version, the status, whether there is a body, the number of headers, each header's name and value
    /// behind their lengths, and the body.
    pub(super) fn write(&self) -> Record {
        let body = self.body.as_ref().map_or(&b""[..], |body| body);
        let mut bytes = Vec::with_capacity(256 + body.len());
        bytes.put_u8(VERSION);
        bytes.put_u16(self.status.as_u16());
        bytes.put_u8(self.body.is_some().into());
        bytes.put_u32(length(self.headers.len()));
        for part in self.headers.iter().flat_map(|(name, value)| [name.as_ref(), value.as_bytes()]) {
            bytes.put_u32(length(part.len()));
            bytes.put_slice(part);
        }
        bytes.put_slice(body);
        Record::new(bytes)
    }

    /// Reads what [`Answer::write`] has written; nothing else.
    pub(super) fn read(record: &Record) -> Option<Self> {
        let mut rest = record.bytes().clone();
        if rest.try_get_u8().ok()? != VERSION {
            return None;
        }
        let status = StatusCode::from_u16(rest.try_get_u16().ok()?).ok()?;
        let is_whole = rest.try_get_u8().ok()? == 1;
        let mut headers = HeaderMap::new();
        for _ in 0..rest.try_get_u32().ok()? {
            let (name, value) = (part(&mut rest).ok()?, part(&mut rest).ok()?);
            let value = HeaderValue::from_maybe_shared(value).ok()?;
            headers.append(HeaderName::from_bytes(&name).ok()?, value);
        }
        Some(Self { status, headers, body: is_whole.then_some(rest) })
    }
}

fn length(of: usize) -> u32 {
    u32::try_from(of).expect("no header is as long as this can count to")
}

fn part(rest: &mut Bytes) -> Result<Bytes, TryGetError> {
    let length = usize::try_from(rest.try_get_u32()?).unwrap_or(usize::MAX);
    if length > rest.len() {
        return Err(TryGetError { requested: length, available: rest.len() });
    }
    Ok(rest.split_to(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Option<&'static [u8]>) -> Answer {
        let mut headers = HeaderMap::new();
        headers.append(LINK, HeaderValue::from_static("</a>; rel=next"));
        headers.append(LINK, HeaderValue::from_bytes(b"\xff").unwrap());
        Answer { status: StatusCode::CREATED, headers, body: body.map(Bytes::from_static) }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        for body in [None, Some(&b""[..]), Some(b"\0paid\xff")] {
            assert_eq!(Answer::read(&answer(body).write()), Some(answer(body)));
        }
    }

    #[test]
    fn what_is_no_answer_is_not_read() {
        let whole = answer(Some(b"")).write();
        for cut in 0..whole.bytes().len() {
            assert_eq!(Answer::read(&Record::new(whole.bytes().slice(..cut))), None, "{cut}");
        }
        let mut newer = whole.bytes().to_vec();
        newer[0] = 2;
        assert_eq!(Answer::read(&Record::new(newer)), None);
        assert_eq!(Answer::read(&Record::omitted()), None);
    }

    #[test]
    fn what_is_not_called_for_is_not_kept() {
        let mut headers = answer(None).headers;
        for name in NEVER {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static("secret"));
        }
        let kept = Answer::new(StatusCode::OK, &headers, &REPLAYED);
        assert_eq!(kept.headers, answer(None).headers);
    }
}
