//! One look in lines: the same on a terminal and in plain text.

use super::figures::{Figures, Rate, Times};
use crate::cli::{
    output::Paint,
    words::{bytes, count, printable, span},
};

/// The width of what shows a share.
const BAR: usize = 34;

/// How many tiers are shown.
const TIERS: usize = 3;

/// How a line is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// A line: what it is about, and what there is to say.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) about: String,
    pub(super) text: String,
    pub(super) mood: Mood,
}

fn row(about: &str, text: String, mood: Mood) -> Row {
    Row { about: about.to_owned(), text, mood }
}

/// Everything, in at most 20 lines of at most 80 columns.
pub(super) fn rows(figures: &Figures) -> Vec<Row> {
    let mut rows = vec![reads(figures)];
    let (first, others) = figures.reads.split_at(figures.reads.len().min(5));
    rows.extend(first.iter().map(|rate| share(rate, figures.reads_per_s)));
    let others: f64 = others.iter().map(|rate| rate.per_s).sum();
    rows.push(share(&Rate { name: "others".to_owned(), per_s: others }, figures.reads_per_s));
    rows.extend([loads(figures), times(figures), http(figures)]);
    rows.extend(refused(figures));
    rows.extend([redis(figures), bus(figures), locks(figures), memory(figures)]);
    rows
}

/// Everything as text.
pub(super) fn text(place: &str, figures: &Figures, paint: Paint) -> String {
    let mut text = paint.bold(&format!("forebay top  {place}")) + "\n";
    for Row { about, text: said, mood } in rows(figures) {
        let said = match mood {
            Mood::Plain => said,
            Mood::Good => paint.good(&said),
            Mood::Doubtful => paint.doubtful(&said),
            Mood::Bad => paint.bad(&said),
        };
        text += &(format!("{about:<11} {said}").trim_end().to_owned() + "\n");
    }
    text
}

fn reads(figures: &Figures) -> Row {
    let (ratio, mood) = match figures.hit_ratio {
        None => ("nothing is read".to_owned(), Mood::Plain),
        Some(ratio) => {
            let mood = if ratio > 0.9 { Mood::Good } else { Mood::Plain };
            (format!("{:.1} % without the origin", ratio * 100.0), mood)
        }
    };
    row("reads", format!("{}   {ratio}", per_second(figures.reads_per_s)), mood)
}

/// A rate, beside its share of all.
fn share(rate: &Rate, all: f64) -> Row {
    let part = if all > 0.0 { rate.per_s / all } else { 0.0 };
    let bar = "█".repeat((part * BAR as f64).round() as usize);
    row(&format!("  {}", rate.name), format!("{bar:<BAR$} {:>12}", per_second(rate.per_s)), Mood::Plain)
}

fn loads(figures: &Figures) -> Row {
    let saved = count(figures.loads_saved as u64);
    row(
        "loads",
        format!("{}   {saved} saved since the server began", per_second(figures.loads_per_s)),
        Mood::Plain,
    )
}

fn times(figures: &Figures) -> Row {
    let (reads, loads) = (percentiles(figures.read_times), percentiles(figures.load_times));
    row("times", format!("beyond memory {reads}   loads {loads}"), Mood::Plain)
}

fn http(figures: &Figures) -> Row {
    row(
        "http",
        format!("{}   {}", per_second(figures.http_per_s), percentiles(figures.http_times)),
        Mood::Plain,
    )
}

fn refused(figures: &Figures) -> Vec<Row> {
    let all: f64 = figures.refusals.iter().map(|rate| rate.per_s).sum();
    let mood = if all > 0.0 { Mood::Doubtful } else { Mood::Plain };
    let text = format!("{} of {} checks", per_second(all), per_second(figures.checks_per_s));
    let tiers = figures.refusals.iter().filter(|rate| rate.per_s > 0.0).take(TIERS);
    let tier =
        |rate: &Rate| row("", format!("{:<BAR$} {:>12}", cut(&rate.name), per_second(rate.per_s)), mood);
    std::iter::once(row("refused", text, mood)).chain(tiers.map(tier)).collect()
}

/// A name that somebody else has chosen, in the room that there is.
fn cut(name: &str) -> String {
    printable(name).chars().take(BAR).collect()
}

fn redis(figures: &Figures) -> Row {
    let redis = &figures.redis;
    let Some(usable) = redis.usable else {
        return row("redis", "none: everything is in the memory of the server".to_owned(), Mood::Plain);
    };
    let deferred = match redis.deferred_changes as u64 {
        0 => String::new(),
        changes => format!(", {} changes wait", count(changes)),
    };
    let (rate, errors) = (per_second(redis.commands_per_s), per_second(redis.errors_per_s));
    let text = format!(
        "{rate} {}, errors {errors}, {} open{deferred}",
        percentiles(redis.times),
        redis.breakers_open
    );
    match usable {
        true if redis.errors_per_s > 0.0 => row("redis", text, Mood::Doubtful),
        true => row("redis", text, Mood::Good),
        false => row("redis", format!("cannot be used   {text}"), Mood::Bad),
    }
}

fn bus(figures: &Figures) -> Row {
    let bus = &figures.bus;
    if figures.redis.usable.is_none() {
        return row("bus", "none: there is one process".to_owned(), Mood::Plain);
    }
    let (hears, mood) = if bus.hears { ("hears", Mood::Good) } else { ("hears nobody", Mood::Bad) };
    let lag = span(std::time::Duration::from_secs_f64((bus.lag_ms / 1e3).max(0.0)));
    row("bus", format!("{hears}, lag {lag}, {} gaps, {} processes", bus.gaps, bus.processes), mood)
}

fn locks(figures: &Figures) -> Row {
    let locks = &figures.locks;
    row("locks", format!("{} waiting, {} lost", locks.waiting, locks.lost), Mood::Plain)
}

fn memory(figures: &Figures) -> Row {
    let memory = &figures.memory;
    let (used, limit) = (bytes(memory.bytes as u64), bytes(memory.limit_bytes as u64));
    row("memory", format!("{} entries, {used} of {limit}", count(memory.entries as u64)), Mood::Plain)
}

fn percentiles(times: Times) -> String {
    let time = |ms: Option<f64>| {
        ms.map_or("-".to_owned(), |ms| span(std::time::Duration::from_secs_f64((ms / 1e3).max(0.0))))
    };
    format!("p50 {} p99 {}", time(times.p50_ms), time(times.p99_ms))
}

fn per_second(rate: f64) -> String {
    if rate > 0.0 && rate < 10.0 { format!("{rate:.1}/s") } else { format!("{}/s", count(rate as u64)) }
}
