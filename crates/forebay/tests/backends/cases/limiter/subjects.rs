//! Who is counted: each subject by itself, in each policy by itself.

use forebay::Subject;

use super::{MINUTE, denied, each_mode, forget_refusals, free, left, take, user};
use crate::rig::Rig;

/// Subjects that would meet, or be no key, if they were written into one as they are.
fn odd() -> Vec<Subject> {
    let large = "x".repeat(1 << 20);
    let ids = ["", "{", "}", "{}", "{a}", "a}{b", "%", "%7B", "a b", "a\nb", "\0", "ä", "*", ":", &large];
    let users = ids.iter().map(Subject::user);
    users.chain([Subject::user(format!("{large}y")), Subject::key(""), Subject::anonymous("{")]).collect()
}

// R45: in a cluster, CROSSSLOT; an id with a brace of its own leaves its slot.
pub(crate) async fn every_odd_subject_has_a_quota_of_its_own(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["5/minute", "100/hour"])) {
        for (n, subject) in odd().iter().enumerate() {
            assert_eq!(
                left(&limiter, subject).await,
                5,
                "{:?}",
                &subject.as_str()[..subject.as_str().len().min(9)]
            );
            take(&limiter, subject, n as u64 % 5 + 1).await;
        }
        for (n, subject) in odd().iter().enumerate() {
            assert_eq!(left(&limiter, subject).await, 4 - n as u64 % 5);
        }
    }
}

// R44: limits misses the second key of a subject, others look through all keys.
pub(crate) async fn a_reset_gives_one_subject_its_whole_quota(rig: impl Rig) {
    let (tiers, other) = (free(["5/minute", "100/hour"]), Subject::user("421"));
    for (_, limiter) in each_mode(&rig, tiers.clone()) {
        for subject in [&user(), &other] {
            take(&limiter, subject, 5).await;
            denied(&limiter.check(subject, "free").await);
        }
        limiter.reset(&user()).await.unwrap();
        assert_eq!((left(&limiter, &user()).await, left(&limiter, &other).await), (5, 0));
        take(&limiter, &user(), 5).await;
        forget_refusals(&limiter, tiers.clone());
        denied(&limiter.check(&user(), "free").await);
        limiter.reset(&Subject::user("nobody")).await.unwrap();
    }
}

// R37: Kong counts all policies by the settings of whichever was asked first.
pub(crate) async fn policies_share_nothing(rig: impl Rig) {
    for (mode, limiter) in each_mode(&rig, free(["2/minute"])) {
        let name = format!("{}-2", limiter.policy());
        let second = rig.forebay().limiter(&name, free(["4/minute"])).mode(mode).build().unwrap();
        take(&limiter, &user(), 2).await;
        take(&second, &user(), 3).await;
        assert_eq!((left(&limiter, &user()).await, left(&second, &user()).await), (0, 1));
        denied(&limiter.check(&user(), "free").await);
        limiter.reset(&user()).await.unwrap();
        assert_eq!((left(&limiter, &user()).await, left(&second, &user()).await), (2, 1));
        rig.pass(MINUTE * 2).await;
        assert_eq!(left(&second, &user()).await, 4);
    }
}
