//! What is refused, and with which words.

use forebay::{
    ErrorKind,
    unique::{Builder, Unique},
};

use super::unique;
use crate::rig::Rig;

pub(crate) async fn what_cannot_be_counted_together_is_refused(rig: impl Rig) {
    let unique = unique(&rig);
    for days in [0, 9, u32::MAX] {
        let refusal = unique.count_days(days).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("keeps 8"), "{refusal}");
    }
    let short = rig.forebay().unique("short").keep_days(3).build().unwrap();
    assert_eq!(short.count_days(3).await.unwrap().visitors, 0);
    assert_eq!(short.count_days(7).await.unwrap_err().kind(), ErrorKind::Config);
}

pub(crate) async fn a_counter_that_could_not_work_is_refused_when_built(rig: impl Rig) {
    let build = |name: &str, with: fn(Builder) -> Builder| with(rig.forebay().unique(name)).build();
    let refusals: [(Result<Unique, _>, &str); 6] = [
        (build("No Name", |builder| builder), "No Name"),
        (build("site", |builder| builder.time_zone("Mars/Base")), "Mars/Base"),
        (build("site", |builder| builder.time_zone("")), "time_zone"),
        (build("site", |builder| builder.keep_days(0)), "keep_days"),
        (build("site", |builder| builder.keep_days(401)), "keep_days"),
        (build("site", |builder| builder.buffer(999)), "buffer"),
    ];
    for (refusal, names) in refusals {
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains(names), "{refusal}");
    }
    build("site", |builder| builder.keep_days(400)).unwrap();
}

pub(crate) async fn a_counter_is_built_once(rig: impl Rig) {
    let _first = unique(&rig);
    let refusal = rig.forebay().unique("site").build().unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains("clone"), "{refusal}");
}
