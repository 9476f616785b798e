//! Compares what a block printed with what the page shows, where `…` stands for whatever varies.

/// Whether `output` is what `shown` says, apart from space at line ends and at the end. In a line, `…` stands
/// for any text; alone on a line, for any number of lines.
pub(super) fn matches(shown: &str, output: &str) -> bool {
    lines_match(&lines(shown), &lines(output))
}

/// Whether `shown` stands somewhere in `output`, as whole lines.
pub(super) fn contains(shown: &str, output: &str) -> bool {
    matches(&format!("…\n{}\n…", shown.trim_end()), output)
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

fn lines_match(shown: &[&str], output: &[&str]) -> bool {
    match (shown, output) {
        ([], output) => output.is_empty(),
        ([first, shown @ ..], output) if first.trim() == "…" => {
            (0..=output.len()).any(|skipped| lines_match(shown, &output[skipped..]))
        }
        ([shown, rest @ ..], [line, more @ ..]) => line_matches(shown, line) && lines_match(rest, more),
        (_, []) => false,
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let Some((start, rest)) = shown.split_once('…') else { return shown == line };
    let Some(line) = line.strip_prefix(start) else { return false };
    line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| line_matches(rest, &line[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_stands_for_what_varies() {
        assert!(matches(
            "HTTP/1.1 200 OK\nage: …\n…\n\n{\"id\":7}\n",
            "HTTP/1.1 200 OK\r\nage: 3\r\na: b\r\n\r\n{\"id\":7}"
        ));
        assert!(matches("took … ms, … hits", "took 0.2 ms, 99 hits"));
        assert!(matches("…", ""));
    }

    #[test]
    fn everything_else_is_compared() {
        for (shown, output) in [
            ("200", "404"),
            ("took … ms", "took 3 s"),
            ("one", "one\ntwo"),
            ("one\ntwo", "one"),
            ("one\n…\nthree", "one\ntwo"),
            ("", "something"),
        ] {
            assert!(!matches(shown, output), "{shown:?} matches {output:?}");
        }
    }

    #[test]
    fn finds_lines_among_others() {
        let output = "   Compiling forebay\nlistens on http://127.0.0.1:7340\ntry: curl …\n";
        assert!(contains("listens on …\n", output));
        assert!(!contains("listens on\n", output));
    }
}
