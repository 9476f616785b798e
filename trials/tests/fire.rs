//! One lock under fire: hundreds of callers in four processes that are stopped, killed, cancelled and cut off.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use forebay_rig::{Cluster, Redis, unless_starved};
use forebay_trials::fire::{Ground, play};
use tokio::runtime::Runtime;

/// Plays for so long, and wants the lock to be handed round so often.
fn survives(ground: fn() -> Ground, length: Duration, holdings: usize) {
    unless_starved(|| {
        let fire = Runtime::new().unwrap().block_on(play(&ground(), length));
        println!("{fire}");
        let (wrong, late) = (fire.wrong(), fire.late());
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(fire.losses() > 0, "nobody was told of a loss");
        if fire.holdings() < holdings {
            return Err(format!("only {} holdings", fire.holdings()));
        }
        if late.is_empty() { Ok(()) } else { Err(format!("{} late:\n{}", late.len(), late.join("\n"))) }
    });
}

// L7: a holder that is cut off or stopped writes nothing after the next one.
#[test]
fn a_lock_under_fire_has_one_holder_at_a_time_and_leaves_nothing_behind() {
    survives(|| Ground::One(Redis::start()), Duration::from_secs(12), 120);
}

#[test]
fn a_lock_on_a_cluster_under_fire_has_one_holder_at_a_time() {
    survives(|| Ground::Three(Cluster::start()), Duration::from_secs(6), 60);
}
