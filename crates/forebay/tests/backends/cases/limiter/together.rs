//! Several subjects in one decision.

use forebay::{Subject, limiter::Tiers};

use super::{allowed, denied, each_mode, forget_refusals, free, left, quota, take, user};
use crate::rig::Rig;

/// Users of a tenant that may take as much as one and a half of them.
fn tiers() -> Tiers {
    free(["10/minute"]).tier("tenant", ["15/minute"]).unwrap()
}

fn tenant() -> Subject {
    Subject::key("tenant")
}

// R33: langfuse burns the user's quota when the organisation has none. R35 with it: what is refused anywhere counts
// nowhere.
pub(crate) async fn a_tenant_without_quota_leaves_its_users_theirs(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, tiers()) {
        assert!(limiter.check_cost(&tenant(), "tenant", 15).await.is_allowed());
        for _ in 0..3 {
            let refusal = limiter.check_all(&[(&user(), "free"), (&tenant(), "tenant")]).await;
            denied(&refusal);
            assert_eq!((quota(&refusal).tier(), quota(&refusal).limit()), ("tenant", 15));
            forget_refusals(&limiter, tiers());
        }
        assert_eq!(left(&limiter, &user()).await, 10);
        take(&limiter, &user(), 10).await;
    }
}

pub(crate) async fn what_all_admit_is_taken_from_all(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, tiers()) {
        for _ in 0..10 {
            assert!(limiter.check_all(&[(&user(), "free"), (&tenant(), "tenant")]).await.is_allowed());
        }
        let refusal = limiter.check_all(&[(&user(), "free"), (&tenant(), "tenant")]).await;
        assert_eq!((denied(&refusal) > Default::default(), quota(&refusal).tier()), (true, "free"));
        assert_eq!(quota(&limiter.peek(&tenant(), "tenant").await).remaining(), 5);
    }
}

pub(crate) async fn the_tightest_quota_of_all_is_told(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, tiers()) {
        let decision = limiter.check_all(&[(&user(), "free"), (&tenant(), "tenant")]).await;
        assert_eq!((allowed(&decision), quota(&decision).tier()), (9, "free"));
        assert!(limiter.check_cost(&tenant(), "tenant", 10).await.is_allowed());
        let decision = limiter.check_all(&[(&user(), "free"), (&tenant(), "tenant")]).await;
        assert_eq!((allowed(&decision), quota(&decision).tier()), (3, "tenant"));
    }
}

pub(crate) async fn a_subject_that_is_named_twice_is_taken_from_once(rig: impl Rig) {
    let tiers = free(["10/minute"]).tier("burst", ["2/s", "20/minute"]).unwrap();
    for (_, limiter) in each_mode(&rig, tiers) {
        let twice = async || limiter.check_all(&[(&user(), "free"), (&user(), "burst")]).await;
        assert_eq!((allowed(&twice().await), left(&limiter, &user()).await), (1, 9));
        assert!(twice().await.is_allowed());
        let refusal = twice().await;
        denied(&refusal);
        assert_eq!((quota(&refusal).limit(), left(&limiter, &user()).await), (2, 8));
    }
}

pub(crate) async fn nobody_at_all_is_admitted(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, tiers()) {
        assert_eq!(allowed(&limiter.check_all(&[]).await), 10);
    }
}
