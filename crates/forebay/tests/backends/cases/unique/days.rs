//! Which day it is, and which days are counted.

use forebay::{
    ErrorKind,
    unique::{Date, Unique},
};

use super::{HOUR, record, today, unique};
use crate::rig::{Rig, SECOND};

async fn date(unique: &Unique) -> Date {
    unique.today().await.unwrap().to
}

async fn on(unique: &Unique, date: Date) -> u64 {
    unique.count(date).await.unwrap().visitors
}

pub(crate) async fn days_together_count_each_visitor_once(rig: impl Rig) {
    let unique = unique(&rig);
    let first = date(&unique).await;
    for day in 0..4 {
        record(&unique, [0, 1, 2, 10 + day]);
        assert_eq!(today(&unique).await, 4);
        let all = unique.count_days(7).await.unwrap();
        assert_eq!(all.visitors, 4 + day as u64, "the sum of the days is {}", 4 * (day + 1));
        rig.pass(HOUR * 24).await;
    }
    let days = unique.count_days(3).await.unwrap();
    assert_eq!(
        (days.visitors, days.to, days.from),
        (5, date(&unique).await, first.tomorrow().unwrap().tomorrow().unwrap())
    );
    for _ in 0..2 {
        assert_eq!(on(&unique, first).await, 4);
        rig.pass(HOUR * 24).await;
    }
}

pub(crate) async fn a_whole_week_can_always_be_counted(rig: impl Rig) {
    let unique = unique(&rig);
    for day in 1..=20 {
        record(&unique, [day]);
        let [week, kept] = [7, 8].map(|days| unique.count_days(days));
        let expected = [7, 8].map(|days| day.min(days) as u64);
        assert_eq!([week.await.unwrap().visitors, kept.await.unwrap().visitors], expected, "day {day}");
        rig.pass(HOUR * 24).await;
    }
}

pub(crate) async fn who_comes_before_and_after_midnight_is_a_visitor_of_both_days(rig: impl Rig) {
    let unique = unique(&rig);
    let first = date(&unique).await;
    let mut hours = 0;
    while date(&unique).await == first {
        record(&unique, [1]);
        rig.pass(HOUR).await;
        hours += 1;
        assert!(hours <= 24, "{first} does not end");
    }
    assert_eq!((on(&unique, first).await, today(&unique).await), (1, 0));
    record(&unique, [1, 2]);
    assert_eq!((on(&unique, first).await, today(&unique).await), (1, 2));
    assert_eq!(unique.count_days(2).await.unwrap().visitors, 2);
    rig.pass(HOUR * 22).await;
    assert_eq!(date(&unique).await, first.tomorrow().unwrap());
}

pub(crate) async fn a_day_that_is_no_longer_kept_is_refused_and_one_to_come_is_empty(rig: impl Rig) {
    let unique = rig.forebay().unique("site").keep_days(2).build().unwrap();
    let first = date(&unique).await;
    record(&unique, [1]);
    assert_eq!(on(&unique, first.tomorrow().unwrap()).await, 0);
    for _ in 0..2 {
        rig.pass(HOUR * 24).await;
        assert_eq!(on(&unique, first).await, 1);
    }
    rig.pass(HOUR * 24).await;
    let refusal = unique.count(first).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains(&first.to_string()), "{refusal}");
}

// There is always more than a day between them.
pub(crate) async fn days_are_those_of_the_time_zone(rig: impl Rig) {
    let zones = ["Pacific/Pago_Pago", "Pacific/Kiritimati"];
    let [west, east] = zones.map(|zone| {
        rig.forebay().unique(&zone.to_lowercase().replace('/', ".")).time_zone(zone).build().unwrap()
    });
    for _ in 0..3 {
        let (west, east) = (date(&west).await, date(&east).await);
        assert!(west < east, "{west}, {east}");
        rig.pass(HOUR * 8 + SECOND).await;
    }
    record(&west, [1]);
    assert_eq!((today(&west).await, today(&east).await), (1, 0));
}
