//! Names that are claimed.

use std::time::Duration;

use forebay::{ErrorKind, Token, once::Claim};

use crate::rig::{Rig, SECOND};

const MINUTE: Duration = Duration::from_secs(60);
const MS: Duration = Duration::from_millis(1);

async fn claim(rig: &impl Rig, name: &str, ttl: Duration) -> Claim {
    rig.forebay().claim(name, ttl).await.expect("the store can be asked")
}

async fn claimed(rig: &impl Rig, name: &str) -> Token {
    match claim(rig, name, MINUTE).await {
        Claim::Claimed { token, .. } => token,
        other => panic!("{name} is not free: {other:?}"),
    }
}

// I5: two first requests at a time both run.
pub(crate) async fn of_a_hundred_who_claim_a_name_one_has_it(rig: impl Rig) {
    let claims = (0..100).map(|_| claim(&rig, "code", MINUTE));
    let claims = futures::future::join_all(claims).await;
    assert_eq!(claims.iter().filter(|claim| claim.is_claimed()).count(), 1);
}

pub(crate) async fn who_comes_when_told_claims_the_name_and_not_before(rig: impl Rig) {
    claimed(&rig, "code").await;
    rig.pass(SECOND * 20).await;
    let Claim::Taken { retry_after } = claim(&rig, "code", SECOND).await else { panic!("it is taken") };
    assert!(retry_after.abs_diff(SECOND * 40) <= rig.slack() + MS, "{retry_after:?}");
    rig.pass(retry_after - MS * 2).await;
    assert!(!claim(&rig, "code", SECOND).await.is_claimed());
    rig.pass(MS * 4).await;
    assert!(claim(&rig, "code", SECOND).await.is_claimed());
}

pub(crate) async fn a_claim_is_freed_under_its_token_alone(rig: impl Rig) {
    let token = claimed(&rig, "code").await;
    assert!(!rig.forebay().unclaim("code", Token::random()).await.unwrap());
    assert!(!claim(&rig, "code", MINUTE).await.is_claimed());
    assert!(rig.forebay().unclaim("code", token).await.unwrap());
    assert!(!rig.forebay().unclaim("code", token).await.unwrap());
    claimed(&rig, "code").await;
}

pub(crate) async fn whoever_asks_again_under_its_token_has_claimed_the_name(rig: impl Rig) {
    let (forebay, token) = (rig.forebay(), Token::random());
    for seconds in [60, 50, 40] {
        let again = forebay.claim_as("code", MINUTE, token).await.unwrap();
        let Claim::Claimed { token: ours, left } = again else { panic!("{again:?}") };
        assert_eq!(ours, token);
        assert!(left.abs_diff(SECOND * seconds) <= rig.slack() + MS, "{left:?} of {seconds} s");
        assert!(!forebay.claim_as("code", MINUTE, Token::random()).await.unwrap().is_claimed());
        rig.pass(SECOND * 10).await;
    }
    let Claim::Taken { retry_after } = claim(&rig, "code", MINUTE).await else { panic!("it is taken") };
    assert!(retry_after.abs_diff(SECOND * 30) <= rig.slack() + MS, "prolonged: {retry_after:?}");
}

// I11: somebody else's may be there by then.
pub(crate) async fn a_claim_that_ended_is_not_freed_for_the_next(rig: impl Rig) {
    let first = claimed(&rig, "code").await;
    rig.pass(MINUTE + MS).await;
    claimed(&rig, "code").await;
    assert!(!rig.forebay().unclaim("code", first).await.unwrap());
    assert!(!claim(&rig, "code", MINUTE).await.is_claimed());
}

pub(crate) async fn every_odd_name_is_a_claim_of_its_own(rig: impl Rig) {
    let long = "n".repeat(500);
    for name in ["", " ", "%", "{}", "{a}b", "a\nb", "é", "*", &long, &long[1..]] {
        claimed(&rig, name).await;
        assert!(!claim(&rig, name, MINUTE).await.is_claimed(), "{name:?}");
    }
}

// I3: what is zero by mistake counts as no life at all, and so as one without an end.
pub(crate) async fn a_life_that_no_claim_can_have_is_refused(rig: impl Rig) {
    for life in [Duration::ZERO, Duration::from_nanos(999_999), MINUTE * 60 * 24 * 3651, Duration::MAX] {
        let refusal = rig.forebay().claim("code", life).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("1 ms is the least"), "{refusal}");
    }
    assert!(claim(&rig, "code", MS).await.is_claimed());
    assert!(claim(&rig, "other", MINUTE * 60 * 24 * 3650).await.is_claimed());
}
