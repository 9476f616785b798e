//! Records of work that was run once: bytes with their content type, as one string.
//!
//! In front of the bytes stand a mark, the length of the content type in one byte, and the content type. A record
//! without the mark was written by a program that uses the library, and is handed out as it is.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, header::X_CONTENT_TYPE_OPTIONS},
    response::{IntoResponse, Response},
};
use forebay::once::Record;

use crate::{
    api::content_type,
    content::Content,
    error::{Kind, Problem},
};

/// The most bytes that a client may have kept.
pub(crate) const LARGEST: usize = 1024 * 1024;

/// The same with what stands in front.
pub(crate) const LARGEST_WRITTEN: usize = LARGEST + MARK.len() + 1 + u8::MAX as usize;

/// No text begins like this.
const MARK: &[u8] = b"\xffforebay\x01";

const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The record that holds `content`.
pub(crate) fn of(content: &Content) -> Record {
    let content_type = content.content_type.as_deref().unwrap_or_default();
    let length = u8::try_from(content_type.len()).expect("a longer content type was refused");
    Record::new([MARK, &[length], content_type.as_bytes(), &content.bytes].concat())
}

/// Answers with what the record holds.
pub(crate) fn replay(record: &Record) -> Result<Response, Problem> {
    if record.is_omitted() {
        let detail = "it was done, and what it brought was too large to be kept";
        return Err(Problem::new(Kind::RecordOmitted, detail));
    }
    let Content { content_type: kind, bytes } = read(record);
    let headers = [
        content_type(kind.as_deref()),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (IDEMPOTENT_REPLAYED, HeaderValue::from_static("true")),
    ];
    Ok((headers, Body::from(bytes)).into_response())
}

fn read(record: &Record) -> Content {
    marked(record).unwrap_or_else(|| Content { content_type: None, bytes: record.bytes().clone() })
}

fn marked(record: &Record) -> Option<Content> {
    let (length, rest) = record.bytes().strip_prefix(MARK)?.split_first()?;
    let (content_type, bytes) = rest.split_at_checked(usize::from(*length))?;
    let content_type = str::from_utf8(content_type).ok()?;
    let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
    Some(Content { content_type, bytes: record.bytes().slice_ref(bytes) })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn content(content_type: Option<&str>, bytes: &'static [u8]) -> Content {
        Content { content_type: content_type.map(str::to_owned), bytes: Bytes::from_static(bytes) }
    }

    #[test]
    fn a_record_holds_what_was_kept_and_fits() {
        let longest = format!("a/{}", "b".repeat(253));
        for (kind, bytes) in [(None, &b""[..]), (Some("a/b"), b"\xff"), (Some(&*longest), b"1")] {
            let content = content(kind, bytes);
            assert_eq!(read(&of(&content)), content);
        }
        let full = Content { content_type: Some(longest), bytes: vec![0; LARGEST].into() };
        assert!(of(&full).bytes().len() <= LARGEST_WRITTEN);
    }

    #[test]
    fn what_others_wrote_is_handed_out_as_it_is() {
        for bytes in [&b"charged"[..], MARK, b"\xffforebay\x01\x05a/b", b"\xffforebay\x01\x01\xff"] {
            assert_eq!(read(&Record::new(bytes)), content(None, bytes));
        }
    }
}
