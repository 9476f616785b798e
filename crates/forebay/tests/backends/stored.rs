//! What limiters keep in a server: a key that ends, which is read with care, by the server's time.

use std::time::Duration;

use forebay::{
    Forebay, Subject,
    clock::Clock,
    limiter::{Limiter, Mode},
};

use crate::{
    cases::limiter::{MODES, denied, forget_refusals, free, left, limiter, quota, take, user},
    clocked::{ClockedRig, Clocks},
    memory::MemoryRig,
    rig::{Rig, SECOND},
    server::Servers,
};

const MINUTE: Duration = Duration::from_secs(60);

/// A call of a server: the name first, then its arguments.
type Command<'a> = &'a [&'a str];

impl<S: Clocks> ClockedRig<S> {
    /// Asks the node that has the key of the command.
    fn call(&self, command: Command<'_>) -> String {
        let answers = self.0.servers.nodes().iter().map(|node| node.call(command));
        answers.filter(|answer| !answer.starts_with("-MOVED")).next().expect("some node has every key")
    }

    fn key(&self, limiter: &Limiter, subject: &Subject) -> String {
        format!("rate_limit:{}:{}:{{{}}}", self.0.app, limiter.policy(), subject.as_str())
    }

    fn life(&self, key: &str) -> i64 {
        self.call(&["PTTL", key]).parse().unwrap()
    }

    /// How many keys the case has.
    fn keys(&self) -> usize {
        let pattern = format!("*:{}:*", self.0.app);
        let keys = self.0.servers.nodes().iter().map(|node| node.call(&["KEYS", &pattern]));
        keys.map(|keys| keys.lines().filter(|line| !line.is_empty()).count()).sum()
    }

    fn scripts(&self) -> u64 {
        self.0.servers.nodes().iter().map(|node| node.calls("evalsha") + node.calls("eval")).sum()
    }

    /// A process whose clock is `ahead` of that of the rig.
    async fn process(&self, ahead: Duration) -> Forebay {
        let (clock, time) = Clock::manual();
        time.advance(ahead);
        let builder = Forebay::builder(&self.0.app).redis(self.0.servers.url()).redis_budget(SECOND * 5);
        let forebay = builder.clock(clock).build().await.unwrap();
        while !matches!(forebay.status(), forebay::status::Status::Redis(status) if status.usable) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        forebay
    }
}

fn in_process(forebay: &Forebay, mode: Mode, windows: &str) -> Limiter {
    let policy = format!("{mode:?}").to_lowercase();
    forebay.limiter(&policy, free([windows])).mode(mode).build().unwrap()
}

// R18: INCR and EXPIRE are two steps in many a limiter. R21: Kong's milliseconds are taken for seconds. R45: all of a
// decision lies under one key.
pub(crate) async fn one_key_that_ends_with_its_windows(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["5/minute", "9/s", "100/hour"]));
        let (key, before) = (rig.key(&limiter, &user()), rig.keys());
        for _ in 0..7 {
            let decision = limiter.check(&user(), "free").await;
            assert!(rig.life(&key) >= quota(&decision).reset_after().as_millis() as i64);
            assert!(rig.life(&key) <= 2 * 3_600_000, "{mode:?}: {}", rig.life(&key));
            rig.pass(SECOND).await;
        }
        assert_eq!(rig.keys(), before + 1);
        rig.pass(2 * 60 * MINUTE).await;
        assert_eq!(rig.call(&["EXISTS", &key]), "0");
    }
}

// R3, R26: redis-cell aborts the server, upstash's script compares a number with a string.
pub(crate) async fn what_is_no_count_counts_as_nothing_and_is_replaced(rig: ClockedRig<impl Clocks>) {
    let odd: [Command<'_>; 9] = [
        &["SET", "KEY", "abc"],
        &["SET", "KEY", ""],
        &["SET", "KEY", "1796000000000"],
        &["SET", "KEY", "S\0\0\0\0\0\u{1}\0\0\0\0\0\u{1}\0\0\0\0\0\u{1}\u{4}\0\0"],
        &["HSET", "KEY", "field", "value"],
        &["RPUSH", "KEY", "value"],
        &["SADD", "KEY", "member"],
        &["ZADD", "KEY", "1", "member", "2", "0000000000000001:1796000000000"],
        &["XADD", "KEY", "*", "field", "value"],
    ];
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["2/minute"]));
        for (n, command) in odd.iter().enumerate() {
            let (subject, before) = (Subject::user(n), rig.0.notes.unreadable());
            let key = rig.key(&limiter, &subject);
            let command: Vec<_> =
                command.iter().map(|&word| if word == "KEY" { &key } else { word }).collect();
            let written = rig.call(&command);
            assert!(!written.starts_with('-'), "{written}");
            assert_eq!(left(&limiter, &subject).await, 2, "{mode:?} reads {command:?}");
            rig.call(&command);
            take(&limiter, &subject, 2).await;
            assert!(rig.0.notes.unreadable() > before, "{mode:?} says nothing of {command:?}");
            denied(&limiter.check(&subject, "free").await);
            assert!(rig.life(&key) > 0, "{mode:?} keeps {command:?}: {}", rig.life(&key));
            rig.call(&["DEL", &key]);
        }
    }
}

// R18: a key without an end keeps its subject out for ever.
pub(crate) async fn a_key_that_was_made_to_stay_ends_again(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["2/minute"]));
        let key = rig.key(&limiter, &user());
        let persist = || assert_eq!(rig.call(&["PERSIST", &key]), "1");
        take(&limiter, &user(), 1).await;
        persist();
        assert_eq!(left(&limiter, &user()).await, 1);
        assert!(rig.life(&key) > 0, "{mode:?}: a look does not heal it");
        persist();
        take(&limiter, &user(), 1).await;
        assert!(rig.life(&key) > 0, "{mode:?}: a call that is admitted does not heal it");
        persist();
        denied(&limiter.check(&user(), "free").await);
        assert!(rig.life(&key) > 0, "{mode:?}: a call that is refused does not heal it");
        rig.pass(MINUTE * 2).await;
        take(&limiter, &user(), 2).await;
    }
}

pub(crate) async fn an_unlimited_tier_asks_nothing(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["0/minute"]).unlimited("internal").unwrap());
        let before = rig.scripts();
        for cost in [0, 1, u64::MAX] {
            assert!(limiter.check_cost(&user(), "internal", cost).await.is_allowed());
            denied(&limiter.check_cost(&user(), "free", cost).await);
        }
        assert_eq!((rig.scripts(), rig.keys()), (before, 0), "{mode:?}");
    }
}

// R35: the counts of several processes are one count.
pub(crate) async fn clocks_of_processes_that_are_apart_change_nothing(rig: ClockedRig<impl Clocks>) {
    let processes = [rig.process(Duration::ZERO).await, rig.process(SECOND * 10).await];
    for mode in MODES {
        let [one, other] = [0, 1].map(|n| in_process(&processes[n], mode, "10/minute"));
        for n in 0..5 {
            take(&one, &user(), 1).await;
            assert_eq!(left(&other, &user()).await, 9 - 2 * n, "{mode:?}");
            take(&other, &user(), 1).await;
        }
        let told = [denied(&one.check(&user(), "free").await), denied(&other.check(&user(), "free").await)];
        assert_eq!(told[0], told[1], "{mode:?}");
        rig.0.servers.clock.advance(told[0]);
        forget_refusals(&one, free(["10/minute"]));
        assert!(other.peek(&user(), "free").await.is_allowed(), "{mode:?}");
        take(&one, &user(), 1).await;
    }
}

// The process is not told: only the server's clock moves.
pub(crate) async fn a_clock_that_steps_back_frees_nothing_and_freezes_nobody(rig: ClockedRig<impl Clocks>) {
    let tiers = free(["10/minute"]);
    for mode in MODES {
        let limiter = limiter(&rig, mode, tiers.clone());
        let refresh = || limiter.replace_tiers(tiers.clone()).unwrap();
        take(&limiter, &user(), 10).await;
        let told = denied(&limiter.check(&user(), "free").await);
        for _ in 0..2 {
            rig.0.servers.clock.step_back(Duration::from_hours(1));
            refresh();
            assert_eq!(denied(&limiter.check(&user(), "free").await), told, "{mode:?}");
        }
        rig.0.servers.clock.advance(told - Duration::from_millis(1));
        refresh();
        denied(&limiter.check(&user(), "free").await);
        rig.0.servers.clock.advance(Duration::from_millis(1));
        refresh();
        take(&limiter, &user(), 1).await;
        rig.0.servers.clock.advance(MINUTE * 2);
        assert_eq!(left(&limiter, &user()).await, 10, "{mode:?}");
    }
}

// A call that is admitted after the step writes the new time, too.
pub(crate) async fn after_a_step_back_the_limit_holds(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["10/minute"]));
        for _ in 0..5 {
            rig.0.servers.clock.step_back(Duration::from_hours(1));
            take(&limiter, &user(), 2).await;
        }
        let told = denied(&limiter.check(&user(), "free").await);
        assert!(told <= MINUTE * 2, "{mode:?}: {told:?}");
        let life = rig.life(&rig.key(&limiter, &user()));
        assert!((1..=2 * 60_000).contains(&life), "{mode:?}: {life}");
    }
}

// Beside it, the same calls of a process in whose own store that time passes.
pub(crate) async fn a_clock_that_steps_forward_frees_what_that_time_would(rig: ClockedRig<impl Clocks>) {
    let passing = MemoryRig::new().await;
    for mode in MODES {
        let limiters =
            [limiter(&rig, mode, free(["10/minute"])), limiter(&passing, mode, free(["10/minute"]))];
        for step in [1, 20, 41, 10, 65, 3600] {
            let mut admitted = [0, 0];
            for (limiter, admitted) in limiters.iter().zip(&mut admitted) {
                limiter.replace_tiers(free(["10/minute"])).unwrap();
                while limiter.check(&user(), "free").await.is_allowed() {
                    *admitted += 1;
                }
            }
            assert_eq!(admitted[0], admitted[1], "{mode:?}: {admitted:?}");
            rig.0.servers.clock.advance(SECOND * step);
            passing.pass(SECOND * step).await;
        }
    }
}

/// The snippet that is copied everywhere, for each window by itself: it adds, and then looks.
fn everybodys(
    rig: &ClockedRig<impl Clocks>,
    key: &str,
    call: usize,
    now: u64,
    window: u64,
    limit: u64,
) -> bool {
    let began = (now - window).to_string();
    rig.call(&["ZREMRANGEBYSCORE", key, "-inf", &began]);
    rig.call(&["ZADD", key, &now.to_string(), &call.to_string()]);
    rig.call(&["PEXPIRE", key, &window.to_string()]);
    rig.call(&["ZCARD", key]).parse::<u64>().unwrap() <= limit
}

// R31: what two windows cost that are decided one after the other, and what they cost here.
pub(crate) async fn the_snippet_that_everybody_copies_takes_for_refusals_too(rig: ClockedRig<impl Clocks>) {
    let keys = ["minute", "hour"].map(|window| format!("copied:{}:{{{window}}}", rig.0.app));
    for call in 0..50 {
        let now = 1_800_000_000_000 + call as u64 * 1000;
        let minute = everybodys(&rig, &keys[0], call, now, 60_000, 2);
        let hour = everybodys(&rig, &keys[1], call, now, 3_600_000, 100);
        assert_eq!(minute && hour, call < 2);
    }
    assert_eq!(rig.call(&["ZCARD", &keys[1]]), "50");
    for mode in [Mode::Strict, Mode::Log] {
        let limiter = limiter(&rig, mode, free(["2/minute", "100/hour"]));
        for call in 0..50 {
            assert_eq!(limiter.check(&user(), "free").await.is_allowed(), call < 2, "{mode:?}");
            rig.pass(SECOND).await;
        }
        let peek = limiter.peek(&user(), "free").await;
        assert_eq!(quota(&peek).windows().last().unwrap().remaining, 98, "{mode:?}");
    }
}

/// Stamps one test per case for a rig.
macro_rules! stamp_stored {
    ($rig:ty) => {
        mod stored {
            crate::stored::stamp! { $rig;
                one_key_that_ends_with_its_windows,
                what_is_no_count_counts_as_nothing_and_is_replaced,
                a_key_that_was_made_to_stay_ends_again,
                an_unlimited_tier_asks_nothing,
                clocks_of_processes_that_are_apart_change_nothing,
                a_clock_that_steps_back_frees_nothing_and_freezes_nobody,
                after_a_step_back_the_limit_holds,
                a_clock_that_steps_forward_frees_what_that_time_would,
                the_snippet_that_everybody_copies_takes_for_refusals_too,
            }
        }
    };
    ($rig:ty; $($case:ident,)*) => {
        $(#[tokio::test]
        async fn $case() {
            crate::stored::$case(<$rig>::new().await).await;
        })*
    };
}
pub(crate) use stamp_stored as stamp;
