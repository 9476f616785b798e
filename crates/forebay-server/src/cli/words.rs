//! Numbers and texts as people read them in a terminal.

use std::time::Duration;

/// A length of time, in its two largest units at most.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 if span < Duration::from_millis(10) => format!("{:.1} ms", span.as_secs_f64() * 1e3),
        0 => format!("{} ms", span.as_millis()),
        1..10 => format!("{:.1} s", span.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7_200 => pair(seconds, 60, "min", "s"),
        7_200..172_800 => pair(seconds / 60, 60, "h", "min"),
        _ => pair(seconds / 3_600, 24, "d", "h"),
    }
}

fn pair(smaller: u64, each: u64, large: &str, small: &str) -> String {
    match (smaller / each, smaller % each) {
        (whole, 0) => format!("{whole} {large}"),
        (whole, rest) => format!("{whole} {large} {rest} {small}"),
    }
}

/// A length of time in whole milliseconds.
pub(super) fn millis(ms: u64) -> String {
    span(Duration::from_millis(ms))
}

/// A size in bytes.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut size, mut unit) = (bytes as f64 / 1024.0, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// A whole number with its thousands apart.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, each of which is `one`.
pub(super) fn of(number: u64, one: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {one}{end}", count(number))
}

/// A text that somebody else has chosen, which is not to move the cursor or change its colours.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // What turns the direction of the text round is hidden as well as what steers a terminal.
        let steers = c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match steers {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0.0 ms"),
            (9, "9.0 ms"),
            (203, "203 ms"),
            (1_500, "1.5 s"),
            (41_900, "41 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (3_661_000, "61 min 1 s"),
            (7_260_000, "2 h 1 min"),
            (172_800_000, "2 d"),
            (180_000_000, "2 d 2 h"),
        ] {
            assert_eq!(millis(ms), text);
        }
    }

    #[test]
    fn sizes_and_counts_are_short() {
        assert_eq!([bytes(1_023), bytes(1_536), bytes(64 << 20)], ["1023 bytes", "1.5 KiB", "64.0 MiB"]);
        assert_eq!(
            [count(0), count(999), count(1_000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!([of(1, "id"), of(2_000, "id")], ["1 id", "2,000 ids"]);
    }

    #[test]
    fn nothing_that_somebody_stored_steers_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{202e}ü"), "a\\u{1b}[31m\\u{a}b\\u{202e}ü");
    }
}
