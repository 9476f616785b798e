//! The library's modules lie on floors, and imports point down only.

use std::{fs, path::Path};

use proc_macro2::{TokenStream, TokenTree};

/// From the ground up; `lib.rs` is above all. A new module gets its place here.
const FLOORS: [&[&str]; 9] = [
    &[
        "clock", "codec", "counter", "dice", "error", "hash", "heavy", "key", "observe", "status", "subject",
        "sync", "tasks", "token",
    ],
    &["expiring", "redis"],
    &["context", "wake"],
    &["bus"],
    &["filter", "limiter", "lock", "once", "topic", "unique"],
    &["cache", "health"],
    &["http"],
    &["forebay", "testing"],
    &["metrics"],
];

/// The floors whose modules may import each other.
const OPEN: [usize; 2] = [0, 2];

/// How the keys and channels of `key.rs` begin.
const KINDS: [&str; 13] = [
    "cache:",
    "lease:",
    "tags:",
    "tag:",
    "rate_limit:",
    "lock:",
    "fence:",
    "claim:",
    "idem:",
    "uv:",
    "filter:",
    "stream:",
    "forebay:",
];

#[test]
fn imports_point_down_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut findings = Vec::new();
    for file in rust_files(&src) {
        let text = fs::read_to_string(&file).expect("the file was just listed");
        let file = file.strip_prefix(&src).expect("it lies in src").to_string_lossy();
        findings.extend(check(&file, &text));
    }
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let paths =
        fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let sources = files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs"));
    sources.chain(folders.iter().flat_map(|folder| rust_files(folder))).collect()
}

/// What is wrong with a file, given by its path in `src` and its text.
fn check(file: &str, text: &str) -> Vec<String> {
    let module = module_path(file);
    let home = module.first().cloned().unwrap_or_default();
    if !home.is_empty() && floor(&home).is_none() {
        return vec![format!("src/{file} is on no floor: add `{home}` to FLOORS in tests/floors.rs")];
    }
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("src/{file}: {error}"));
    let mut scan = Scan { file, home, module, local_redis: false, findings: Vec::new() };
    scan.walk(&tokens.into_iter().collect::<Vec<_>>(), false);
    scan.findings
}

/// `cache/flight.rs` is `[cache, flight]`, `cache/mod.rs` is `[cache]`, and `lib.rs` is `[]`.
fn module_path(file: &str) -> Vec<String> {
    let mut path: Vec<String> = file.trim_end_matches(".rs").split('/').map(Into::into).collect();
    path.pop_if(|last| last == "mod" || last == "lib");
    path
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|modules| modules.contains(&module))
}

struct Scan<'a> {
    file: &'a str,
    /// The module of `lib.rs` that the file belongs to; empty for `lib.rs`.
    home: String,
    module: Vec<String>,
    /// Whether `redis` is a module of this file.
    local_redis: bool,
    findings: Vec<String>,
}

impl Scan<'_> {
    /// Reads one level of tokens: comments are gone from it, macros are not.
    fn walk(&mut self, tokens: &[TokenTree], in_path: bool) {
        for (at, token) in tokens.iter().enumerate() {
            let rest = &tokens[at..];
            let before = &tokens[..at];
            match token {
                TokenTree::Group(group) => {
                    let inline = before.len() > 1 && is(&before[at - 2], "mod");
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    if inline {
                        self.module.push(before[at - 1].to_string());
                    }
                    self.walk(&inner, ends_in_colons(before));
                    if inline {
                        self.module.pop();
                    }
                }
                TokenTree::Ident(_) => {
                    if !ends_in_colons(before) {
                        self.path(rest);
                    }
                    self.clocks(rest);
                    self.redis(before, rest, in_path);
                }
                TokenTree::Literal(literal) => self.key(token, &literal.to_string()),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Follows `crate::…` and `super::…` as far as the module of `lib.rs`.
    fn path(&mut self, mut rest: &[TokenTree]) {
        let mut depth = self.module.len();
        if is(&rest[0], "crate") && starts_with_colons(&rest[1..]) {
            depth = 0;
            rest = &rest[3..];
        }
        while rest.len() > 3 && is(&rest[0], "super") && starts_with_colons(&rest[1..]) {
            depth = depth.saturating_sub(1);
            rest = &rest[3..];
        }
        if depth > 0 || self.home.is_empty() {
            return;
        }
        match &rest[0] {
            TokenTree::Group(group) => {
                let tokens: Vec<_> = group.stream().into_iter().collect();
                tokens
                    .split(|token| is(token, ","))
                    .filter_map(<[_]>::first)
                    .for_each(|name| self.import(name));
            }
            name => self.import(name),
        }
    }

    fn import(&mut self, name: &TokenTree) {
        let (module, home) = (name.to_string(), floor(&self.home).unwrap_or(FLOORS.len()));
        if module == self.home {
            return;
        }
        let what = match floor(&module) {
            Some(below) if below < home || (below == home && OPEN.contains(&home)) => return,
            Some(above) => format!("(floor {above}) from floor {home}"),
            None => "which is on no floor: name its module, or add it to FLOORS in tests/floors.rs".into(),
        };
        self.find(name, &format!("imports crate::{module} {what}"));
    }

    fn clocks(&mut self, rest: &[TokenTree]) {
        let clock = is(&rest[0], "Instant") || is(&rest[0], "SystemTime");
        if self.home != "clock"
            && clock
            && starts_with_colons(&rest[1..])
            && rest.get(3).is_some_and(|t| is(t, "now"))
        {
            self.find(&rest[0], "reads a clock: clock.rs alone does");
        }
    }

    fn redis(&mut self, before: &[TokenTree], rest: &[TokenTree], in_path: bool) {
        if !is(&rest[0], "redis") || self.home == "redis" {
            return;
        }
        let follows = |word| before.last().is_some_and(|token| is(token, word));
        self.local_redis |= follows("mod");
        let leading =
            ends_in_colons(before) && !matches!(before.iter().nth_back(2), Some(TokenTree::Ident(_)));
        let first =
            !ends_in_colons(before) && !in_path && !self.local_redis && starts_with_colons(&rest[1..]);
        if follows("use") || follows("crate") || leading || first {
            self.find(&rest[0], "names the crate `redis`: redis/ alone does");
        }
    }

    fn key(&mut self, token: &TokenTree, literal: &str) {
        let text = literal.trim_start_matches(['b', 'c', 'r', '#']).trim_start_matches('"');
        let mut spelled = KINDS.iter().filter_map(|kind| text.strip_prefix(kind));
        if self.home != "key"
            && literal.ends_with(['"', '#'])
            && spelled.any(|rest| !rest.starts_with([' ', '"']))
        {
            self.find(token, &format!("spells a key ({literal}): key.rs alone does"));
        }
    }

    fn find(&mut self, at: &TokenTree, what: &str) {
        self.findings.push(format!("src/{}:{} {what}", self.file, at.span().start().line));
    }
}

fn is(token: &TokenTree, text: &str) -> bool {
    !matches!(token, TokenTree::Literal(_) | TokenTree::Group(_)) && token.to_string() == text
}

fn starts_with_colons(tokens: &[TokenTree]) -> bool {
    tokens.len() > 2 && is(&tokens[0], ":") && is(&tokens[1], ":")
}

fn ends_in_colons(tokens: &[TokenTree]) -> bool {
    tokens.len() > 1 && tokens[tokens.len() - 2..].iter().all(|token| is(token, ":"))
}

#[test]
fn finds_an_upward_import_however_it_is_written() {
    for text in [
        "use crate::cache::Cache;",
        "use crate::{clock::Clock, cache::{Cache, Entry as E}};",
        "use crate::{\n    clock::Clock, // crate::key\n    cache as c,\n};",
        "use {std::fmt, crate::cache};",
        "use super::cache;",
        "mod tests { use super::super::cache::Cache; }",
        "fn f() -> crate::cache::Cache { todo!() }",
        "fn f() { select! { _ = crate::cache::load() => {} } }",
    ] {
        let findings = check("wake.rs", text);
        assert_eq!(findings.len(), 1, "{text}: {findings:?}");
        assert!(findings[0].contains("imports crate::cache (floor 5) from floor 2"), "{}", findings[0]);
    }
    assert!(check("wake.rs", "\n\nuse crate::cache;")[0].starts_with("src/wake.rs:3 "));
}

#[test]
fn lets_downward_imports_pass() {
    let text = r#"
        //! Not an import: crate::forebay.
        use super::{entry::Entry, super_fast};
        use super::super::clock::Clock;
        use crate::{bus::Bus, cache::fence::Fence, limiter::{self, Quota}};
        /* crate::http */ const TEXT: &str = "crate::http";
        pub(crate) fn f() { crate::wake::wake(); }
    "#;
    assert_eq!(check("cache/flight.rs", text), [""; 0]);
    assert_eq!(check("lib.rs", "mod cache; pub use crate::{cache::Cache, forebay::Forebay};"), [""; 0]);
}

#[test]
fn keeps_primitives_apart_and_every_module_on_a_floor() {
    assert_eq!(check("lock/mod.rs", "use crate::once::Once;").len(), 1);
    assert_eq!(check("clock.rs", "use crate::error::Error;").len(), 0);
    assert!(check("lock/mod.rs", "use crate::Error;")[0].contains("name its module"));
    assert!(check("utils.rs", "")[0].contains("add `utils` to FLOORS"));
}

#[test]
fn clocks_the_client_and_key_spellings_have_one_home_each() {
    for (file, text, right) in [
        ("cache/local.rs", "fn f() { std::time::Instant::now(); }", "clock.rs"),
        ("cache/redis.rs", "use redis::Cmd;", "redis/mod.rs"),
        ("cache/redis.rs", "fn f() { redis::cmd(\"GET\"); ::redis::x }", "redis/mod.rs"),
        ("cache/mod.rs", "fn f() { format!(\"lease:{app}\") }", "key/fingerprint.rs"),
    ] {
        assert!(!check(file, text).is_empty(), "{file}: {text}");
        assert_eq!(check(right, text), [""; 0], "{right}: {text}");
    }
    let fine = "mod redis; use crate::{redis::Redis}; fn f() { redis::new(); crate::redis::g(); log(\"lock: lost\") }";
    assert_eq!(check("lock/mod.rs", fine), [""; 0]);
}
