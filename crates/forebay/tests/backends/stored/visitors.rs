//! What counters of visitors keep in a server, and whose days they are.

use std::time::Duration;

use forebay::{
    Forebay,
    clock::{Clock, Manual},
    status::Status,
    unique::{Date, Unique},
};

use crate::{
    cases::unique::{HOUR, record, today, unique},
    clocked::{ClockedRig, Clocks},
    rig::{Rig, SECOND},
    server::Servers,
};

const DAY: Duration = Duration::from_hours(24);

/// Since 1970, in ms.
type Time = i64;

impl<S: Clocks> ClockedRig<S> {
    fn day(&self, date: &str) -> String {
        format!("uv:{}:{{site}}:{date}", self.0.app)
    }

    fn time(&self) -> Time {
        let time = self.call(&["TIME"]);
        let parts: Vec<Time> = time.lines().map(|part| part.parse().unwrap()).collect();
        parts[0] * 1000 + parts[1] / 1000
    }

    /// Moves the clock of the servers to a time of day, of today or of another date, and tells the date.
    fn set(&self, hours: Time, date: Option<Time>) -> Date {
        let day = 24 * 3_600_000;
        let to = date.unwrap_or_else(|| self.time() / day * day) + hours * 3_600_000;
        let span = Duration::from_millis(to.abs_diff(self.time()));
        match to < self.time() {
            true => self.0.servers.clock.step_back(span),
            false => self.0.servers.clock.advance(span),
        }
        date_of(self.time())
    }

    /// Another process, whose clock runs with that of the servers only where the case moves both.
    async fn other(&self) -> (Unique, Manual) {
        let (clock, time) = Clock::manual();
        let builder = Forebay::builder(&self.0.app).redis(self.0.servers.url()).redis_budget(SECOND * 5);
        let forebay = builder.clock(clock).build().await.unwrap();
        while !matches!(forebay.status(), Status::Redis(status) if status.usable) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        (forebay.unique("site").build().unwrap(), time)
    }

    /// Lets time pass for a process and the servers, and for no task.
    fn together(&self, time: &Manual, span: Duration) {
        self.0.servers.clock.advance(span);
        time.advance(span);
    }
}

fn date_of(time: Time) -> Date {
    (0..time / 86_400_000).fold(Date::constant(1970, 1, 1), |date, _| date.tomorrow().unwrap())
}

async fn on(unique: &Unique, date: Date) -> u64 {
    unique.count(date).await.unwrap().visitors
}

pub(crate) async fn a_day_is_one_key_of_less_than_14_5_kb_that_ends_with_its_last_count(
    rig: ClockedRig<impl Clocks>,
) {
    let unique = unique(&rig);
    let date = rig.set(9, None);
    for part in 0..5 {
        record(&unique, part * 40_000..(part + 1) * 40_000);
        unique.flush().await.unwrap();
    }
    let key = rig.day(&date.to_string());
    assert_eq!(rig.keys(), 1);
    assert_eq!(rig.life(&key), (15 + 8 * 24) * 3_600_000);
    let bytes: u64 = rig.call(&["MEMORY", "USAGE", &key]).parse().unwrap();
    println!("{bytes} bytes");
    assert!((12_000..=14_500).contains(&bytes), "{bytes}");
    rig.pass(DAY * 8).await;
    assert!(on(&unique, date).await > 195_000);
    rig.pass(HOUR * 15 + SECOND).await;
    assert_eq!(rig.call(&["EXISTS", &key]), "0");
}

pub(crate) async fn a_thousand_are_one_round_trip_and_are_not_sent_again_soon(rig: ClockedRig<impl Clocks>) {
    let unique = unique(&rig);
    // The scripts are known from then on.
    record(&unique, [10_000]);
    today(&unique).await;
    let trips = async || {
        let before = rig.scripts();
        unique.flush().await.unwrap();
        rig.scripts() - before
    };
    for expected in [10, 0] {
        record(&unique, 0..10_000);
        assert_eq!(trips().await, expected);
    }
    record(&unique, 9_999..10_002);
    assert_eq!(trips().await, 1);
    // What the server has lost meanwhile comes back.
    rig.call(&["DEL", &rig.day(&rig.set(9, None).to_string())]);
    rig.pass(SECOND * 600).await;
    record(&unique, 0..100);
    assert_eq!((trips().await, today(&unique).await), (1, 100));
}

pub(crate) async fn who_is_recorded_is_sent_within_a_second_or_with_a_thousand(rig: ClockedRig<impl Clocks>) {
    let unique = unique(&rig);
    let key = rig.day(&rig.set(9, None).to_string());
    let there = || rig.call(&["PFCOUNT", &key]).parse::<u64>().unwrap();
    record(&unique, [0]);
    rig.pass(SECOND * 9 / 10).await;
    assert_eq!((there(), unique.figures().pending), (0, 1));
    rig.pass(SECOND / 10).await;
    assert_eq!((there(), unique.figures().pending), (1, 0));
    record(&unique, 1..1000);
    rig.settle().await;
    assert_eq!(there(), 1);
    record(&unique, [1000]);
    rig.settle().await;
    assert_eq!(unique.figures().pending, 0);
    assert!(there() > 980);
}

pub(crate) async fn who_has_a_counter_no_more_has_sent_all(rig: ClockedRig<impl Clocks>) {
    let key = rig.day(&rig.set(9, None).to_string());
    let (unique, _time) = rig.other().await;
    record(&unique, 0..3);
    drop(unique);
    for _ in 0..1000 {
        if rig.call(&["EXISTS", &key]) == "1" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(rig.call(&["PFCOUNT", &key]), "3");
}

/// The clock of a process is off by a day, as its servers' is stepped and nobody tells it.
pub(crate) async fn a_clock_that_is_off_by_a_day_changes_nothing(rig: ClockedRig<impl Clocks>) {
    let unique = unique(&rig);
    let (other, time) = rig.other().await;
    time.advance(DAY * 3);
    let date = rig.set(9, None);
    record(&unique, 0..10);
    assert_eq!(today(&unique).await, 10);
    record(&other, 5..15);
    assert_eq!((today(&other).await, on(&other, date).await, on(&unique, date).await), (15, 15, 15));

    rig.0.servers.clock.advance(DAY);
    let next = date.tomorrow().unwrap();
    record(&unique, 20..22);
    assert_eq!((today(&unique).await, unique.today().await.unwrap().to), (2, next));
    rig.0.servers.clock.step_back(DAY);
    record(&unique, 30..33);
    unique.flush().await.unwrap();
    assert_eq!((on(&unique, date).await, on(&unique, next).await), (18, 2));
    assert_eq!(unique.figures().dropped, 0);
}

pub(crate) async fn who_waits_over_midnight_counts_on_the_day_on_which_it_came(rig: ClockedRig<impl Clocks>) {
    for knows_the_time in [false, true] {
        let (unique, time) = rig.other().await;
        let date = rig.set(22, None);
        if knows_the_time {
            today(&unique).await;
        }
        let (first, next) = (on_if(knows_the_time, &unique, date).await, date.tomorrow().unwrap());
        record(&unique, 0..3);
        rig.together(&time, HOUR);
        record(&unique, 2..5);
        rig.together(&time, HOUR * 2);
        record(&unique, 4..7);
        rig.together(&time, HOUR * 30);
        record(&unique, 4..6);
        unique.flush().await.unwrap();
        assert_eq!(unique.figures().pending, 0);
        let days = [date, next, next.tomorrow().unwrap()];
        let counts = [on(&unique, days[0]).await, on(&unique, days[1]).await, on(&unique, days[2]).await];
        assert_eq!((first, counts), (0, [5, 3, 2]), "{knows_the_time}");
        rig.pass(DAY * 12).await;
    }
}

async fn on_if(known: bool, unique: &Unique, date: Date) -> u64 {
    if known { on(unique, date).await } else { 0 }
}

pub(crate) async fn who_waited_for_longer_than_days_are_kept_is_dropped_and_told(
    rig: ClockedRig<impl Clocks>,
) {
    let (unique, time) = rig.other().await;
    record(&unique, 0..3);
    rig.together(&time, DAY * 10);
    record(&unique, 3..5);
    unique.flush().await.unwrap();
    let figures = unique.figures();
    assert_eq!((figures.pending, figures.dropped, today(&unique).await), (0, 3, 2));
    assert_eq!(rig.keys(), 1);
}

// 2027-03-28 has 23 hours in Berlin.
pub(crate) async fn a_day_on_which_clocks_are_moved_ends_at_its_midnight(rig: ClockedRig<impl Clocks>) {
    let berlin = rig.forebay().unique("site").time_zone("Europe/Berlin").keep_days(1).build().unwrap();
    let midnight: Time = 1_806_188_400_000;
    rig.set(0, Some(midnight));
    record(&berlin, 0..3);
    assert_eq!(berlin.today().await.unwrap().to, Date::constant(2027, 3, 28));
    assert_eq!(rig.life(&rig.day("2027-03-28")), (23 + 24) * 3_600_000);
    rig.pass(HOUR * 23 - SECOND).await;
    assert_eq!(today(&berlin).await, 3);
    rig.pass(SECOND).await;
    assert_eq!(berlin.today().await.unwrap().to, Date::constant(2027, 3, 29));
    assert_eq!(today(&berlin).await, 0);
    rig.pass(DAY).await;
}

pub(crate) async fn what_is_no_count_of_a_day_counts_as_nothing_and_is_replaced(
    rig: ClockedRig<impl Clocks>,
) {
    let key = rig.day(&rig.set(9, None).to_string());
    let corrupt: &[&str] = &["SET", &key, "HYLL\u{1}\0\0\0\0\0\0\0\0\0\0\0garbage"];
    let odd: [&[&str]; 4] =
        [&["SET", &key, "abc"], &["RPUSH", &key, "a"], &["HSET", &key, "a", "b"], &["ZADD", &key, "1", "a"]];
    let unique = unique(&rig);
    // What is corrupt shows only where its registers are read, which is when several days are counted.
    let counted_first = odd.iter().chain([&corrupt]).map(|command| (*command, true));
    for (n, (command, is_counted_first)) in
        counted_first.chain(odd.map(|command| (command, false))).enumerate()
    {
        let written = rig.call(command);
        assert!(!written.starts_with('-'), "{written}");
        if is_counted_first {
            assert_eq!(unique.count_days(8).await.unwrap().visitors, 0, "{command:?}");
        }
        record(&unique, n * 3..n * 3 + 3);
        assert_eq!(today(&unique).await, 3, "{command:?}");
        assert!(rig.life(&key) > 0);
        rig.call(&["DEL", &key]);
    }
}

pub(crate) async fn a_day_that_was_made_to_stay_ends_again(rig: ClockedRig<impl Clocks>) {
    let unique = unique(&rig);
    let key = rig.day(&rig.set(9, None).to_string());
    record(&unique, [1]);
    unique.flush().await.unwrap();
    assert_eq!(rig.call(&["PERSIST", &key]), "1");
    record(&unique, [2]);
    unique.flush().await.unwrap();
    assert_eq!(rig.life(&key), (15 + 8 * 24) * 3_600_000);
}

// Others who count in the same key do as the docs say.
pub(crate) async fn an_id_is_stored_as_half_of_its_hash(rig: ClockedRig<impl Clocks>) {
    let unique = unique(&rig);
    let key = rig.day(&rig.set(9, None).to_string());
    unique.record("user:42");
    unique.flush().await.unwrap();
    let hash = blake3::hash(b"user:42");
    for (bytes, adds) in [(&hash.as_bytes()[..16], "0"), (b"user:42", "1")] {
        let command: [&[u8]; 3] = [b"PFADD", key.as_bytes(), bytes];
        let mut answers = rig.0.servers.nodes().iter().map(|node| node.raw(&command).to_string());
        assert_eq!(answers.find(|answer| !answer.starts_with("-MOVED")).unwrap(), adds);
    }
    unique.flush().await.unwrap();
}
