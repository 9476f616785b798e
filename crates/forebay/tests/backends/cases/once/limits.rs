//! The largest, the smallest and the oddest.

use std::time::Duration;

use forebay::{
    ErrorKind, Token,
    once::{Begun, Completed, Record},
};

use super::{KEEP, LEASE, ask, begin, payments, told};
use crate::rig::{Rig, SECOND};

/// What comes back of `record`.
async fn returned(payments: &forebay::once::Idempotency, order: &str, record: Record) -> (Completed, Record) {
    let completed = begin(payments, order).await.complete(record).await.unwrap();
    match ask(payments, order).await {
        Begun::Done(record) => (completed, record),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_record_that_is_too_large_is_done_and_brings_nothing(rig: impl Rig) {
    let payments = rig.forebay().idempotency().max_record(100).build().unwrap();
    let fits = Record::new(vec![7; 100]);
    assert_eq!(returned(&payments, "fits", fits.clone()).await, (Completed::Stored, fits));
    let (completed, record) = returned(&payments, "too large", Record::new(vec![7; 101])).await;
    assert_eq!((completed, record.is_omitted()), (Completed::WithoutRecord, true));
    assert_eq!(record.bytes().len(), 0);
    let omitted = returned(&payments, "omitted", Record::omitted()).await;
    assert_eq!(omitted, (Completed::WithoutRecord, Record::omitted()));
}

pub(crate) async fn a_large_record_is_handed_out_whole(rig: impl Rig) {
    let payments = payments(&rig);
    for bytes in [(64 << 10) - 1, 64 << 10, (64 << 10) + 1, 1 << 20] {
        let record = Record::new((0..bytes).map(|n| n as u8).collect::<Vec<_>>());
        let order = bytes.to_string();
        assert_eq!(returned(&payments, &order, record.clone()).await, (Completed::Stored, record));
    }
}

pub(crate) async fn every_byte_is_handed_out_as_it_was(rig: impl Rig) {
    let payments = payments(&rig);
    let all = (0..=255).collect::<Vec<u8>>();
    for (order, bytes) in [("none", vec![]), ("all", all), ("digits", b"1r00".to_vec())] {
        let record = Record::new(bytes);
        assert_eq!(returned(&payments, order, record.clone()).await, (Completed::Stored, record));
    }
    for fingerprint in [&b""[..], &[0], &[0; 5000], b"\xff"] {
        let first = payments.begin("fingerprints", fingerprint).await.unwrap();
        assert_eq!(told(&first), "run", "{} bytes", fingerprint.len());
        let second = payments.begin("fingerprints", [fingerprint, b"."].concat()).await.unwrap();
        assert_eq!(told(&second), "mismatch");
        let Begun::Run(first) = first else { unreachable!() };
        assert!(first.give_up().await.unwrap());
    }
}

// I2, I3: without a lease, or with one of zero, somebody who runs counts as gone.
pub(crate) async fn a_lease_that_cannot_be_is_refused(rig: impl Rig) {
    let build = |lease, keep| rig.forebay().idempotency().lease(lease).keep(keep).build();
    for (lease, keep, why) in [
        (Duration::ZERO, KEEP, "100 ms"),
        (Duration::from_millis(99), KEEP, "100 ms"),
        (KEEP + Duration::from_millis(1), KEEP, "longer than"),
        (LEASE, Duration::ZERO, "longer than"),
        (LEASE, SECOND * 3600 * 24 * 3651, "3,650 days"),
    ] {
        let refusal = build(lease, keep).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains(why), "{refusal}");
    }
    assert!(rig.forebay().idempotency().max_record((64 << 20) + 1).build().is_err());
    let payments = build(Duration::from_millis(100), Duration::from_millis(100)).unwrap();
    for lease in [Duration::ZERO, Duration::from_millis(99), Duration::from_millis(101), Duration::MAX] {
        let refusal = payments.renew("order", Token::random(), lease).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config, "{lease:?}");
    }
}
