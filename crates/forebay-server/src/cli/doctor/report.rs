//! What the doctor has found: lines for people, a document for programs.

use forebay::health::{Check, Diagnosis, Finding, Verdict};
use serde::Serialize;

use crate::cli::{
    output::{self, Paint},
    words::printable,
};

/// What fits on every terminal.
const WIDTH: usize = 80;

/// Where values begin: behind a verdict and the name of a check.
const VALUE: usize = 24;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    store: &'static str,
    app: String,
    /// Host and port.
    place: Option<String>,
    well: bool,
    faults: usize,
    warnings: usize,
    findings: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    check: &'static str,
    verdict: Word,
    value: String,
    /// What to do about a warning or a fault.
    remedy: Option<String>,
    /// Why it was skipped.
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Ok,
    Warning,
    Fault,
    /// A fault or a warning that is meant to be.
    Accepted,
    Skipped,
}

impl Report {
    pub(super) fn of_memory(app: &str) -> Self {
        let (app, findings) = (app.to_owned(), Vec::new());
        Self { store: "memory", app, place: None, well: true, faults: 0, warnings: 0, findings }
    }

    pub(super) fn of(app: &str, place: Option<&str>, diagnosis: Diagnosis, accepted: &[Check]) -> Self {
        let findings: Vec<_> =
            diagnosis.findings.into_iter().map(|finding| Line::of(finding, accepted)).collect();
        let count = |word| findings.iter().filter(|line| line.verdict == word).count();
        let (faults, warnings) = (count(Word::Fault), count(Word::Warning));
        Self {
            store: "redis",
            app: app.to_owned(),
            place: place.map(str::to_owned),
            well: faults == 0,
            faults,
            warnings,
            findings,
        }
    }

    pub(super) fn is_well(&self) -> bool {
        self.well
    }

    fn summary(&self) -> String {
        let number = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        match (self.faults, self.warnings) {
            (0, 0) => "All is well.\n".to_owned(),
            (0, warnings) => format!("Nothing is broken. {}.\n", number(warnings, "warning")),
            (faults, warnings) => {
                let [faults, warnings] = [number(faults, "fault"), number(warnings, "warning")];
                format!("{faults}, {warnings}. Meant to be so? --accept and the name of the check.\n")
            }
        }
    }
}

impl output::Report for Report {
    fn text(&self, paint: Paint) -> String {
        if self.store == "memory" {
            return "Everything is kept in the memory of each process: there is no Redis to examine.\n\
                    Name one with --redis, FOREBAY_REDIS_URL or `url` under [redis] in the file.\n"
                .to_owned();
        }
        let place =
            self.place.as_deref().map(|place| format!(" at {}", printable(place))).unwrap_or_default();
        let mut text = format!("Redis{place}, application `{}`\n\n", self.app);
        let mut rest = &*self.findings;
        while let Some((line, others)) = rest.split_first() {
            let same = others.iter().take_while(|other| line.is_skipped_like(other)).count();
            rest = &others[same..];
            text += &line.text(same, paint);
        }
        text + "\n" + &self.summary()
    }
}

impl Line {
    fn of(finding: Finding, accepted: &[Check]) -> Self {
        let is_accepted = accepted.contains(&finding.check);
        let (verdict, remedy, reason) = match finding.verdict {
            Verdict::Well => (Word::Ok, None, None),
            Verdict::Warning { .. } | Verdict::Fault { .. } if is_accepted => (Word::Accepted, None, None),
            Verdict::Warning { remedy } => (Word::Warning, Some(remedy), None),
            Verdict::Fault { remedy } => (Word::Fault, Some(remedy), None),
            Verdict::Skipped { reason } => (Word::Skipped, None, Some(reason)),
        };
        Self { check: finding.check.name(), verdict, value: finding.value, remedy, reason }
    }

    fn is_skipped_like(&self, other: &Self) -> bool {
        self.reason.is_some() && self.reason == other.reason
    }

    /// `further` lines say the same.
    fn text(&self, further: usize, paint: Paint) -> String {
        let word = self.verdict.shown(paint);
        let name = match further {
            0 => self.check.to_owned(),
            _ => format!("{} checks", further + 1),
        };
        let value = self.reason.as_deref().unwrap_or(&self.value);
        let mut lines = wrapped(value, WIDTH - VALUE).into_iter();
        let mut text = format!("  {word}{name:12} {}\n", lines.next().unwrap_or_default());
        let remedy = self.remedy.iter().flat_map(|remedy| wrapped(&format!("→ {remedy}"), WIDTH - VALUE));
        for line in lines.chain(remedy) {
            text += &format!("{:VALUE$}{line}\n", "");
        }
        text
    }
}

impl Word {
    /// In a column of nine.
    fn shown(self, paint: Paint) -> String {
        match self {
            Self::Ok => paint.good("ok       "),
            Self::Warning => paint.doubtful("warning  "),
            Self::Fault => paint.bad("FAULT    "),
            Self::Accepted => paint.dim("accepted "),
            Self::Skipped => paint.dim("skipped  "),
        }
    }
}

/// Lines of whole words, none longer than `width` unless a word is. Names of keys are words of others: nothing in them
/// steers the terminal.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().map(printable) {
        let line = lines.last_mut().expect("there is a line");
        match line.chars().count() + 1 + word.chars().count() {
            _ if line.is_empty() => line.push_str(&word),
            length if length <= width => line.extend([" ", &word]),
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::Report as _;

    fn line(check: &'static str, verdict: Word, value: &str, more: &str) -> Line {
        let more = (!more.is_empty()).then(|| more.to_owned());
        let (remedy, reason) = if verdict == Word::Skipped { (None, more) } else { (more, None) };
        Line { check, verdict, value: value.to_owned(), remedy, reason }
    }

    fn report(findings: Vec<Line>) -> Report {
        let faults = findings.iter().filter(|line| line.verdict == Word::Fault).count();
        Report {
            store: "redis",
            app: "shop".into(),
            place: Some("a:1".into()),
            well: faults == 0,
            faults,
            warnings: 0,
            findings,
        }
    }

    #[test]
    fn lines_are_aligned_and_wrapped_within_eighty_columns() {
        let remedy = "CONFIG SET maxmemory 512mb, or what the machine can spare, and the same in redis.conf";
        let text = report(vec![
            line("reachable", Word::Ok, "it answers", ""),
            line("maxmemory", Word::Fault, "no limit", remedy),
            line("slots", Word::Skipped, "", "not a cluster"),
        ])
        .text(Paint::PLAIN);

        let expected = "Redis at a:1, application `shop`

  ok       reachable    it answers
  FAULT    maxmemory    no limit
                        → CONFIG SET maxmemory 512mb, or what the machine can
                        spare, and the same in redis.conf
  skipped  slots        not a cluster

1 fault, 0 warnings. Meant to be so? --accept and the name of the check.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_in_a_name_steers_the_terminal() {
        let value = "1 without, such as a\u{202e}b \u{1b}[31mred";
        let text = report(vec![line("expiry", Word::Fault, value, "DEL them")]).text(Paint::PLAIN);
        assert!(text.contains(r"a\u{202e}b \u{1b}[31mred"), "{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text}");
    }

    #[test]
    fn what_was_skipped_for_one_reason_is_one_line() {
        let skipped = |check| line(check, Word::Skipped, "", "Redis cannot be asked");
        let text = report(vec![
            line("reachable", Word::Fault, "it refuses connections", "start it"),
            skipped("a"),
            skipped("b"),
        ])
        .text(Paint::PLAIN);
        assert!(text.contains("  skipped  2 checks     Redis cannot be asked\n"), "{text}");
    }
}
