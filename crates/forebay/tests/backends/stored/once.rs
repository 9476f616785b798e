//! What claims and executions keep in a server.

use std::time::Duration;

use forebay::{
    ErrorKind, Token,
    once::{Begun, Claim, Completed, Execution, Idempotency, OnIndeterminate, Record},
};

use super::{Command, MINUTE};
use crate::{
    clocked::{ClockedRig, Clocks},
    rig::{Rig, SECOND},
};

const LEASE: Duration = Duration::from_secs(10);

const HOUR: Duration = Duration::from_hours(1);

fn payments(rig: &ClockedRig<impl Clocks>) -> Idempotency {
    rig.forebay().idempotency().lease(LEASE).keep(HOUR).build().unwrap()
}

async fn begin(payments: &Idempotency) -> Execution {
    match payments.begin("order 7", "12 EUR").await.unwrap() {
        Begun::Run(execution) => execution,
        other => panic!("{other:?}"),
    }
}

impl<S: Clocks> ClockedRig<S> {
    fn record(&self) -> String {
        format!("idem:{}:{{order%207}}", self.0.app)
    }

    fn value(&self) -> String {
        self.call(&["GET", &self.record()])
    }

    /// Whether the record ends after an hour that began so long ago.
    fn ends_after(&self, ago: Duration) {
        let (life, expected) = (self.life(&self.record()), (HOUR - ago).as_millis() as i64);
        assert!((expected - 2..=expected).contains(&life), "{life} of {expected}");
    }

    fn now(&self) -> u64 {
        let time = self.call(&["TIME"]);
        let mut lines = time.lines().map(|line| line.parse::<u64>().unwrap());
        lines.next().unwrap() * 1000 + lines.next().unwrap() / 1000
    }
}

// L10: SETNX and EXPIRE are two steps in many a library.
pub(crate) async fn a_claim_is_its_token_and_ends(rig: ClockedRig<impl Clocks>) {
    let scripts = rig.scripts();
    let claim = rig.forebay().claim("{code}", MINUTE).await.unwrap();
    let Claim::Claimed { token, .. } = claim else { panic!("{claim:?}") };
    let key = format!("claim:{}:{{%7Bcode%7D}}", rig.0.app);
    assert_eq!(rig.call(&["GET", &key]), token.to_string());
    assert!((59_998..=60_000).contains(&rig.life(&key)), "{}", rig.life(&key));
    assert!(!rig.forebay().claim("{code}", HOUR).await.unwrap().is_claimed());
    assert!(rig.life(&key) <= 60_000, "it is prolonged by who did not get it");
    assert_eq!((rig.scripts(), rig.keys()), (scripts, 1));
    assert!(rig.forebay().unclaim("{code}", token).await.unwrap());
    assert_eq!(rig.keys(), 0);
}

// R18: nobody could say when to come back, and whoever came back was refused for ever.
pub(crate) async fn what_stays_for_ever_under_a_claims_key_is_told_by_its_name(rig: ClockedRig<impl Clocks>) {
    let (key, token) = (format!("claim:{}:{{code}}", rig.0.app), Token::random());
    let left = token.to_string();
    let commands: [Command<'_>; 3] = [&["SET", &key, "1"], &["RPUSH", &key, "a"], &["SET", &key, &left]];
    for command in commands {
        rig.call(command);
        for claim in
            [rig.forebay().claim("code", MINUTE).await, rig.forebay().claim_as("code", MINUTE, token).await]
        {
            let refused = claim.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Foreign);
            assert!(refused.to_string().contains(&key), "{refused}");
        }
        assert_eq!(rig.call(&["DEL", &key]), "1", "{command:?} is gone");
    }
    rig.call(&["SET", &key, "1", "PX", "60000"]);
    let Claim::Taken { retry_after } = rig.forebay().claim("code", MINUTE).await.unwrap() else { panic!() };
    assert!(retry_after <= MINUTE && retry_after > MINUTE - SECOND, "{retry_after:?}");
}

// I9: a fence that all executions of a service share is another key, and a hot one.
pub(crate) async fn an_execution_is_one_key_that_ends_an_hour_after_its_beginning(
    rig: ClockedRig<impl Clocks>,
) {
    let execution = begin(&payments(&rig)).await;
    let (value, token) = (rig.value(), execution.token().to_string());
    let (head, ends) = value.split_at(66);
    assert_eq!((&head[..2], &head[34..]), ("1r", &*token));
    let lease = ends.parse::<u64>().unwrap() - rig.now();
    assert!((9_900..=10_000).contains(&lease), "{lease}");
    rig.ends_after(Duration::ZERO);
    for beat in 1..=6 {
        rig.pass(SECOND * 2).await;
        rig.ends_after(SECOND * 2 * beat);
        let ends: u64 = rig.value()[66..].parse().unwrap();
        assert!(ends > rig.now() + 5_000, "it is not renewed: {} ms", ends as i64 - rig.now() as i64);
    }
    assert_eq!(execution.complete(Record::new("paid")).await.unwrap(), Completed::Stored);
    assert_eq!(rig.value(), format!("1d{}paid", &head[2..]));
    rig.ends_after(SECOND * 12);
    assert_eq!(rig.keys(), 1);
}

pub(crate) async fn a_record_that_is_too_large_takes_no_room(rig: ClockedRig<impl Clocks>) {
    let payments = rig.forebay().idempotency().max_record(10).keep(HOUR).build().unwrap();
    let execution = begin(&payments).await;
    let completed = execution.complete(Record::new("x".repeat(11))).await.unwrap();
    assert_eq!(completed, Completed::WithoutRecord);
    assert_eq!((&rig.value()[..2], rig.value().len()), ("1o", 66));
}

// What nobody can read may be that of an execution: it is never run a second time by accident.
pub(crate) async fn what_is_no_record_is_never_run_and_stays(rig: ClockedRig<impl Clocks>) {
    let digits = "0".repeat(64);
    let spoilt = [
        String::new(),
        "paid".into(),
        format!("2r{digits}9"),
        format!("1x{digits}9"),
        format!("1r{digits}"),
        format!("1r{digits}-5"),
        format!("1r{digits}1e5"),
        format!("1r{}", &digits[1..]),
        format!("1d{}G", &digits[1..]),
    ];
    let key = rig.record();
    let strings = spoilt.iter().map(|value| vec!["SET", &key, value]);
    let odd: [Command<'_>; 4] = [
        &["HSET", &key, "field", "value"],
        &["RPUSH", &key, "value"],
        &["SADD", &key, "member"],
        &["XADD", &key, "*", "field", "value"],
    ];
    let payments = rig.forebay().idempotency().on_indeterminate(OnIndeterminate::Rerun).build().unwrap();
    for command in strings.chain(odd.iter().map(|command| command.to_vec())) {
        let (written, before) = (rig.call(&command), rig.0.notes.unreadable());
        assert!(!written.starts_with('-'), "{written}");
        let begun = payments.begin("order 7", "12 EUR").await.unwrap();
        assert!(matches!(begun, Begun::Indeterminate), "{command:?} is {begun:?}");
        assert_eq!(rig.0.notes.unreadable(), before + 1, "nobody is told of {command:?}");
        assert!(rig.life(&key) > 0, "{command:?} stays for ever");
        let token = Token::random();
        let completed = payments.complete("order 7", token, Record::new("theirs")).await.unwrap();
        assert_eq!(completed, Completed::Lost, "{command:?}");
        assert!(!payments.give_up("order 7", token).await.unwrap());
        assert_eq!(payments.renew("order 7", token, LEASE).await.unwrap(), None);
        assert_eq!(rig.call(&["DEL", &key]), "1", "{command:?} is gone");
    }
    assert!(matches!(payments.begin("order 7", "12 EUR").await.unwrap(), Begun::Run(_)));
}

// R18: a key without an end keeps its name for ever.
pub(crate) async fn a_record_that_was_made_to_stay_ends_again(rig: ClockedRig<impl Clocks>) {
    let (payments, key) = (payments(&rig), rig.record());
    let token = begin(&payments).await.into_token();
    let persist = || assert_eq!(rig.call(&["PERSIST", &key]), "1");
    let heals = |what: &str| assert!(rig.life(&key) > 0, "{what} leaves it without an end");
    persist();
    assert!(matches!(payments.begin("order 7", "12 EUR").await.unwrap(), Begun::Running { .. }));
    heals("a look");
    persist();
    payments.renew("order 7", token, LEASE).await.unwrap();
    heals("a renewal");
    assert!(rig.life(&key) > LEASE.as_millis() as i64, "it is known for no longer than it runs");
    persist();
    assert_eq!(payments.complete("order 7", token, Record::new("paid")).await.unwrap(), Completed::Stored);
    heals("a completion");
    persist();
    assert!(matches!(payments.begin("order 7", "13 EUR").await.unwrap(), Begun::Mismatch));
    heals("a look at what is done");
}

// What was done is known, whatever became of the server's memory: nobody pays again who asks again.
pub(crate) async fn a_record_that_the_server_has_lost_is_made_anew_when_it_is_done(
    rig: ClockedRig<impl Clocks>,
) {
    let payments = payments(&rig);
    let execution = begin(&payments).await;
    rig.pass(SECOND).await;
    assert_eq!(rig.call(&["DEL", &rig.record()]), "1");
    assert_eq!(execution.complete(Record::new("paid")).await.unwrap(), Completed::Stored);
    rig.ends_after(SECOND);
    assert!(matches!(payments.begin("order 7", "12 EUR").await.unwrap(), Begun::Done(_)));
    assert!(matches!(payments.begin("order 7", "13 EUR").await.unwrap(), Begun::Mismatch));
}

pub(crate) async fn an_execution_learns_that_the_server_has_lost_it(rig: ClockedRig<impl Clocks>) {
    let execution = begin(&payments(&rig)).await;
    rig.call(&["DEL", &rig.record()]);
    assert!(!execution.is_lost());
    rig.pass(LEASE / 2).await;
    assert!(execution.is_lost());
    assert_eq!(rig.keys(), 0, "a renewal has made it again");
}

// A lease is the server's: what clocks of processes say is nothing to it.
pub(crate) async fn a_lease_ends_by_the_servers_clock(rig: ClockedRig<impl Clocks>) {
    let (ahead, payments) = (rig.process(HOUR * 24 * 365).await, payments(&rig));
    let other = ahead.idempotency().lease(LEASE).keep(HOUR).build().unwrap();
    let token = begin(&payments).await.into_token();
    let left = async |payments: &Idempotency| match payments.begin("order 7", "12 EUR").await.unwrap() {
        Begun::Running { retry_after } => retry_after,
        other => panic!("{other:?}"),
    };
    assert!(left(&other).await.abs_diff(left(&payments).await) < SECOND / 10);
    rig.pass(LEASE - SECOND).await;
    assert!(left(&other).await <= SECOND);
    rig.pass(SECOND).await;
    for payments in [&payments, &other] {
        assert!(matches!(payments.begin("order 7", "12 EUR").await.unwrap(), Begun::Indeterminate));
    }
    assert_eq!(other.complete("order 7", token, Record::new("paid")).await.unwrap(), Completed::Stored);
}
