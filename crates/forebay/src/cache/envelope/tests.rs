use proptest::{collection::vec, option, prelude::*};

use super::*;

const LIMIT: usize = 1 << 20;

fn full() -> Envelope {
    Envelope {
        absent: true,
        codec: 1,
        entry_id: u64::MAX,
        fresh_for: Duration::from_mins(1),
        stale_for: Duration::from_millis(u64::MAX),
        load_time: Duration::from_micros(1500),
        validator: Some("\"v1\"".into()),
        content_type: Some("text/plain".to_owned()),
        stamp: Stamp { number: 1_779_000_000_000_000, tags: ["a", ""].map(Box::from).into_iter().collect() },
        payload: Bytes::from_static(b"turbine"),
    }
}

fn decode(bytes: &[u8]) -> Result<Envelope, Unreadable> {
    Envelope::decode(&Bytes::copy_from_slice(bytes), LIMIT)
}

prop_compose! {
    fn any_envelope()(
        (absent, codec, entry_id, space_number) in any::<(bool, u8, u64, u64)>(),
        (fresh_for, stale_for, load_time) in any::<(u64, u64, u64)>(),
        validator in option::of(".*"),
        content_type in option::of(".*"),
        tags in vec(".*", 0..4),
        payload in prop_oneof![vec(any::<u8>(), 0..200), vec(0..2u8, 0..200)],
    ) -> Envelope {
        Envelope {
            absent, codec, entry_id, content_type,
            stamp: Stamp { number: space_number, tags: tags.into_iter().map(Into::into).collect() },
            fresh_for: Duration::from_millis(fresh_for),
            stale_for: Duration::from_millis(stale_for),
            load_time: Duration::from_micros(load_time),
            validator: validator.map(Into::into),
            payload: payload.into(),
        }
    }
}

proptest! {
    #[test]
    fn reads_what_it_wrote(envelope in any_envelope(), compress_above in 0..200_usize) {
        let bytes = envelope.encode(compress_above);
        let head = Head::read(&bytes).unwrap();

        prop_assert_eq!(head.entry_id, envelope.entry_id);
        prop_assert_eq!((head.fresh_for, head.stale_for), (envelope.fresh_for, envelope.stale_for));
        prop_assert_eq!(Envelope::decode(&bytes, 200), Ok(envelope));
    }

    #[test]
    fn refuses_every_truncation(envelope in any_envelope(), compress_above in 0..200_usize) {
        let bytes = envelope.encode(compress_above);

        for length in 0..bytes.len() {
            prop_assert_eq!(decode(&bytes[..length]), Err(Unreadable::Truncated));
        }
    }

    #[test]
    fn survives_every_flipped_byte(envelope in any_envelope(), compress_above in 0..200_usize, flip in 1..=255_u8) {
        let bytes = envelope.encode(compress_above);

        for at in 0..bytes.len() {
            let mut flipped = bytes.to_vec();
            flipped[at] ^= flip;
            if let Ok(read) = decode(&flipped) {
                prop_assert!(read.payload.len() <= LIMIT);
            }
        }
    }

    #[test]
    fn refuses_other_bytes(mut bytes: Vec<u8>) {
        prop_assert!(decode(&bytes).is_err());

        bytes.splice(..0, [0xFB, b'b', b'y', 1]);
        prop_assert!(decode(&bytes).is_err());
    }
}

#[test]
fn the_fixed_fields_lie_where_scripts_read_them() {
    let bytes = full().encode(LIMIT);

    assert_eq!(bytes[..6], [0xFB, b'b', b'y', 1, 1, 1]);
    assert_eq!(bytes[6..14], [0xFF; 8]);
    assert_eq!(bytes[14..22], 60_000_u64.to_be_bytes());
    assert_eq!(bytes[22..30], [0xFF; 8]);
}

#[test]
fn an_entry_is_spelled_like_this_for_ever() {
    let entry = Envelope { codec: 2, entry_id: 7, payload: Bytes::from_static(b"42"), ..Envelope::default() };

    assert_eq!(
        hex::encode(entry.encode(LIMIT)),
        "fb62790100020000000000000007000000000000000000000000000000000000000d0000000000000002010000000800000000000000003432"
    );
}

#[test]
fn the_payload_is_a_slice_of_the_entry() {
    let bytes = full().encode(LIMIT);
    let payload = Envelope::decode(&bytes, LIMIT).unwrap().payload;

    assert_eq!(payload.as_ptr_range().end, bytes.as_ptr_range().end);
}

#[test]
fn an_uncompressed_entry_is_written_into_one_allocation() {
    let bytes = full().encode(LIMIT);
    let length = bytes.len();

    assert_eq!(Vec::from(bytes).capacity(), length);
}

#[test]
fn a_long_payload_is_compressed_where_that_makes_it_smaller() {
    let repetitive = Envelope { payload: b"turbine ".repeat(1000).into(), ..Envelope::default() };
    let random = Envelope { payload: blake3::hash(b"").as_bytes().to_vec().into(), ..Envelope::default() };

    assert!(repetitive.encode(7999).len() < 200);
    assert!(repetitive.encode(8000).len() > 8000);
    assert_eq!(random.encode(0), random.encode(LIMIT));
}

#[test]
fn a_payload_above_the_limit_is_refused() {
    let entry = Envelope { payload: b"turbine ".repeat(1000).into(), ..Envelope::default() };

    for bytes in [entry.encode(0), entry.encode(LIMIT)] {
        assert_eq!(Envelope::decode(&bytes, 7999), Err(Unreadable::TooLarge));
        assert_eq!(Envelope::decode(&bytes, 8000).as_ref(), Ok(&entry));
    }
}

#[test]
fn the_next_version_is_read_past_a_field_that_is_not_known() {
    let mut bytes = full().encode(LIMIT).to_vec();
    let unknown = [0xC8, 0, 0, 0, 2, b'h', b'i'];
    let length: [u8; 4] = bytes[FIELDS_LENGTH_AT..PAYLOAD_LENGTH_AT].try_into().unwrap();
    bytes[FIELDS_LENGTH_AT..PAYLOAD_LENGTH_AT]
        .copy_from_slice(&(u32::from_be_bytes(length) + 7).to_be_bytes());
    bytes[VERSION_AT] = 2;
    bytes.splice(FIELDS_AT..FIELDS_AT, unknown);

    assert_eq!(decode(&bytes), Ok(full()));
}

#[test]
fn other_versions_and_flags_are_refused() {
    for (at, byte) in [(VERSION_AT, 0), (VERSION_AT, 3), (FLAGS_AT, 4), (FLAGS_AT, 128)] {
        let mut bytes = full().encode(LIMIT).to_vec();
        bytes[at] = byte;

        assert_eq!(decode(&bytes), Err(Unreadable::Version));
    }
}

#[test]
fn foreign_bytes_are_refused() {
    assert_eq!(decode(b"{\"name\":\"bolt\"}"), Err(Unreadable::Magic));
    assert_eq!(decode(b""), Err(Unreadable::Truncated));
    assert_eq!(decode(&[full().encode(LIMIT).as_ref(), b"!"].concat()), Err(Unreadable::Corrupt));
}

#[test]
fn lives_longer_than_milliseconds_can_count_are_clamped() {
    let entry = Envelope { fresh_for: Duration::MAX, load_time: Duration::MAX, ..Envelope::default() };
    let read = decode(&entry.encode(LIMIT)).unwrap();

    assert_eq!(read.fresh_for, Duration::from_millis(u64::MAX));
    assert_eq!(read.load_time, Duration::from_micros(u64::MAX));
}
