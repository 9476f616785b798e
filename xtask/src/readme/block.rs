//! A shell block of a page with what its directive asks for and what it should print.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The line of its opening fence.
    pub(super) line: usize,
    pub(super) mode: Mode,
    pub(super) script: String,
    /// The `text` block that comes next, if one does.
    pub(super) expected: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Foreground,
    /// Runs on, once it has printed this.
    Background(String),
    /// Does not run, for this reason.
    Skip(String),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreground => Ok(()),
            Self::Background(until) => write!(f, " (in the background, until it prints {until:?})"),
            Self::Skip(reason) => write!(f, " (skipped because {reason})"),
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<Block>> {
    let fences = fences(text);
    let mut blocks = Vec::new();
    for (fence, next) in fences.iter().zip(fences.iter().skip(1).map(Some).chain([None])) {
        let line = fence.line;
        match fence.tag {
            "sh" => blocks.push(Block {
                line,
                mode: mode(&fence.directives).with_context(|| format!("line {line}"))?,
                script: fence.body.clone(),
                expected: next.filter(|next| next.tag == "text").map(|next| next.body.clone()),
            }),
            "bash" | "shell" | "console" => {
                bail!("line {line}: tag the shell block ```sh, so that it is run")
            }
            _ => ensure!(fence.directives.is_empty(), "line {line}: a readme-test directive without ```sh"),
        }
    }
    Ok(blocks)
}

/// A fenced block, or the end of the text.
#[derive(Debug, Default)]
struct Fence<'a> {
    line: usize,
    tag: &'a str,
    body: String,
    /// Those between the fence before and this one.
    directives: Vec<&'a str>,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut fences = Vec::new();
    let mut directives = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((line, content)) = lines.next() {
        if let Some(tag) = content.trim_start().strip_prefix("```") {
            let indent = content.len() - content.trim_start().len();
            let inside = lines.by_ref().map(|(_, content)| content).take_while(|line| line.trim() != "```");
            let body = inside.map(|line| format!("{}\n", unindent(line, indent))).collect();
            fences.push(Fence { line, tag: tag.trim(), body, directives: std::mem::take(&mut directives) });
        }
        directives.extend(content.trim().strip_prefix("<!-- readme-test:"));
    }
    fences.push(Fence { line: text.lines().count(), directives, ..Fence::default() });
    fences
}

fn unindent(line: &str, by: usize) -> &str {
    let blank = line.len() - line.trim_start().len();
    &line[blank.min(by)..]
}

fn mode(directives: &[&str]) -> Result<Mode> {
    let directive = match directives {
        [] => return Ok(Mode::Foreground),
        [one] => one.strip_suffix("-->").context("a directive ends on its line")?.trim(),
        _ => bail!("more than one directive for this block"),
    };
    if let Some(reason) = directive.strip_prefix("skip because ") {
        return Ok(Mode::Skip(reason.into()));
    }
    let until = directive.strip_prefix("background until \"").and_then(|rest| rest.strip_suffix('"'));
    let until = until
        .with_context(|| format!("`{directive}` is neither `background until \"…\"` nor `skip because …`"))?;
    Ok(Mode::Background(until.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = r#"# Forebay

<!-- readme-test: skip because the test has the project already -->
```sh
git clone …
```

<!-- readme-test: background until "listens on" -->
```sh
cargo run --release
```

1. Then:

   ```sh
   for id in 1 2; do
     curl "$id"
   done
   ```

   which prints

   ```text
   one
   ```

```rust
fn main() {}
```

```text
a picture
```
"#;

    #[test]
    fn reads_blocks_with_their_directives_and_outputs() {
        let [clone, server, client] = &parse(README).unwrap()[..] else { panic!("three blocks") };
        assert_eq!(clone.mode, Mode::Skip("the test has the project already".into()));
        assert_eq!(server.mode, Mode::Background("listens on".into()));
        assert_eq!(
            (server.line, server.script.as_str(), &server.expected),
            (9, "cargo run --release\n", &None)
        );
        assert_eq!((client.line, &client.mode), (15, &Mode::Foreground));
        assert_eq!(client.script, "for id in 1 2; do\n  curl \"$id\"\ndone\n");
        assert_eq!(client.expected.as_deref(), Some("one\n"));
    }

    #[test]
    fn refuses_what_would_silently_not_be_tested() {
        for text in [
            "```bash\ntrue\n```",
            "<!-- readme-test: skip -->\n```sh\ntrue\n```",
            "<!-- readme-test: skip because a -->\n<!-- readme-test: skip because b -->\n```sh\ntrue\n```",
            "<!-- readme-test: skip because a -->\n```rust\n```",
            "```sh\ntrue\n```\n<!-- readme-test: skip because it is late -->",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
