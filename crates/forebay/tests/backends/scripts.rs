//! What a script may touch: the keys it is given, no other. A cluster refuses others only where another node has them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// Every script, with its path. What one comes after, by its own words, is put before it.
pub(crate) fn all() -> Vec<(PathBuf, String)> {
    let paths = scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.clone(), beginning(&path, &text) + &text)
    };
    paths.into_iter().map(read).collect()
}

fn beginning(path: &Path, text: &str) -> String {
    let words = text.replace("\n-- ", " ");
    let Some((_, after)) = words.split_once("Comes after ") else { return String::new() };
    let name = after.split('.').next().unwrap_or_default();
    let folders = path.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join(format!("{name}.lua"))).find(|file| file.exists());
    fs::read_to_string(found.unwrap_or_else(|| panic!("{} comes after {name}", path.display()))).unwrap()
}

/// Commands whose first argument is no key.
const KEYLESS: [&str; 3] = ["INFO", "PUBLISH", "TIME"];

/// Commands all of whose arguments are keys.
const KEYS_ONLY: [&str; 5] = ["DEL", "UNLINK", "EXISTS", "MGET", "PFCOUNT"];

/// Commands whose first argument says what they do.
const SUBCOMMANDS: [&str; 2] = ["XGROUP", "XINFO"];

#[test]
fn scripts_touch_only_the_keys_they_are_given() {
    let scripts = all();
    assert!(!scripts.is_empty());
    for (path, text) in scripts {
        let strangers = strangers(&text);
        assert!(strangers.is_empty(), "{} touches {strangers:?}", path.display());
    }
}

#[test]
fn a_key_that_is_not_given_is_found() {
    let script = "
        local value, lease = KEYS[1], KEYS[2]
        local other = ARGV[1]
        redis.call('DEL', value, KEYS[i + 1], 'a')
        redis.pcall('GET', other)
        redis.call('HSET', lease, 'b', ARGV[1])
        redis.call('XINFO', 'STREAM', value)
        redis.call('XGROUP', 'CREATE', group, value)
        redis.call('XREADGROUP', 'GROUP', group, 'c', 'STREAMS', value, '>')
        redis.call('XREADGROUP', 'GROUP', value, 'c', 'STREAMS', lease .. 'e', '>')
        redis.call(command, value)
        -- redis.call('GET', 'c')
        redis.call('PUBLISH', ARGV[1], redis.call('GET', lease .. 'd'))";
    assert_eq!(strangers(script), ["'a'", "other", "group", "lease .. 'e'", "command", "lease .. 'd'"]);
}

/// Everything that a script uses as a key, or cannot be seen not to be one, and that is not out of `KEYS`.
fn strangers(script: &str) -> Vec<String> {
    let lines = script.lines().map(|line| line.split("--").next().unwrap_or_default());
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let given = given(&code);
    let mut strangers = Vec::new();
    for (at, _) in code.match_indices("redis.") {
        let Some(rest) = ["call(", "pcall("].iter().find_map(|call| code[at + 6..].strip_prefix(call)) else {
            continue;
        };
        let arguments = arguments(rest);
        let Some(command) = arguments[0].strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) else {
            strangers.push(arguments[0].clone());
            continue;
        };
        let before = match command {
            command if SUBCOMMANDS.contains(&command) => 2,
            "XREADGROUP" => arguments.iter().position(|word| word == "'STREAMS'").map_or(1, |at| at + 1),
            _ => 1,
        };
        let keys = match command {
            command if KEYLESS.contains(&command) => 0,
            command if KEYS_ONLY.contains(&command) => arguments.len() - 1,
            _ => 1,
        };
        let keys = arguments.into_iter().skip(before).take(keys);
        strangers.extend(keys.filter(|key| !is_given(key) && !given.contains(key.as_str())));
    }
    strangers
}

/// The locals that are elements of `KEYS`.
fn given(code: &str) -> HashSet<&str> {
    let mut given = HashSet::new();
    for (names, values) in
        code.lines().filter_map(|line| line.trim().strip_prefix("local ")?.split_once(" = "))
    {
        let pairs = names.split(',').map(str::trim).zip(values.split(", "));
        given.extend(pairs.filter(|(_, value)| is_given(value.trim())).map(|(name, _)| name));
    }
    given
}

fn is_given(argument: &str) -> bool {
    argument == "unpack(KEYS)"
        || argument.strip_prefix("KEYS[").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}

/// The arguments of the call whose opening parenthesis was just read.
fn arguments(code: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut arguments) = (0, false, vec![String::new()]);
    for c in code.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => break,
            ')' | ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().expect("there is always one").push(c);
    }
    arguments.iter().map(|argument| argument.trim().to_owned()).collect()
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => scripts(&path),
        false => vec![path],
    });
    found.filter(|path| path.extension().is_some_and(|extension| extension == "lua")).collect()
}
