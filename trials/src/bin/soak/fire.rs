//! A lock under fire, after a long soak.

use std::time::Duration;

use forebay_rig::{Cluster, Redis};
use forebay_trials::fire::{self, Ground};

/// Longer than this shows nothing more.
const LONGEST: Duration = Duration::from_secs(300);

/// Overlaps that the machine has to answer for: one whose threads had to wait for longer than holders leave for it.
const EXCUSED: usize = 3;

/// Plays for a tenth of the soak's time on each ground. Returns what was wrong.
pub(crate) async fn play(length: Duration) -> Vec<String> {
    let length = (length / 10).min(LONGEST);
    let mut wrong = Vec::new();
    for ground in [Ground::One(Redis::start()), Ground::Three(Cluster::start())] {
        let fire = fire::play(&ground, length).await;
        println!("{fire}");
        let late = fire.late();
        for late in &late {
            println!("late: {late}");
        }
        wrong.extend(fire.wrong());
        if late.len() > EXCUSED {
            wrong.push(format!("{} holders and waiters under fire were told too late", late.len()));
        }
    }
    wrong
}
