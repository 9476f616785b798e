//! The sentinels of the rig as tests use them.

use forebay_rig::Sentinels;

#[test]
fn a_replica_takes_over_when_it_is_told_to_and_when_the_primary_is_dead() {
    let sentinels = Sentinels::start();
    let first = sentinels.primary();
    assert_eq!(first.call(&["SET", "key", "first", "EX", "60"]), "OK");
    sentinels.fail_over();
    let second = sentinels.primary();
    assert_ne!(second.port(), first.port());
    assert_eq!(second.call(&["SET", "key", "second", "GET", "EX", "60"]), "first");
    let third = sentinels.lose_primary();
    assert_ne!(third.port(), second.port());
    assert!(third.call(&["SET", "key", "third", "EX", "60"]) == "OK");
}
