//! The bugs: what stands in the library, and what stands in a library that breaks its promises.

use std::path::Path;

/// One bug.
#[derive(Debug)]
pub(super) struct Bug {
    pub(super) name: &'static str,
    /// Where it shows.
    pub(super) topology: &'static str,
    /// The promises of which it breaks one, by their numbers: what else is broken says nothing of it.
    pub(super) breaks: &'static [&'static str],
    edits: &'static [Edit],
}

/// What is replaced in one file.
#[derive(Debug)]
struct Edit {
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
}

impl Bug {
    /// The bytes of a file with the bug in them, if that is where it is.
    pub(super) fn put_into(&self, path: &Path, bytes: Vec<u8>) -> Vec<u8> {
        let here = self.edits.iter().filter(|edit| path == Path::new(edit.file));
        here.fold(bytes, |bytes, Edit { right, wrong, .. }| match String::from_utf8(bytes) {
            Ok(text) => text.replacen(right, wrong, 1).into_bytes(),
            Err(error) => error.into_bytes(),
        })
    }
}

const fn bug(name: &'static str, breaks: &'static [&'static str], edits: &'static [Edit]) -> Bug {
    Bug { name, topology: "one", breaks, edits }
}

const fn edit(file: &'static str, right: &'static str, wrong: &'static str) -> Edit {
    Edit { file, right, wrong }
}

const FILL: &str = "crates/forebay/src/cache/redis/fill.lua";
const INVALIDATE: &str = "crates/forebay/src/cache/redis/invalidate.lua";
const LEASE: &str = "crates/forebay/src/cache/redis/lease.lua";
const HEARING: &str = "crates/forebay/src/cache/hearing.rs";
const INNER: &str = "crates/forebay/src/cache/inner.rs";
const OUTAGE: &str = "crates/forebay/src/cache/outage.rs";
const WRITE: &str = "crates/forebay/src/cache/write.rs";
const DEFERRED: &str = "crates/forebay/src/cache/deferred.rs";
const FENCE: &str = "crates/forebay/src/cache/fence.rs";
const NUMBERS: &str = "crates/forebay/src/cache/numbers.rs";
const NODE: &str = "crates/forebay/src/redis/node.rs";

/// Each has to be found by a short run.
pub(super) const BUGS: &[Bug] = &[
    bug(
        "a fill does not look whose the lease is",
        &["P3"],
        &[edit(FILL, "held.err or held[1] ~= ARGV[1]", "held.err")],
    ),
    bug(
        "an invalidate leaves the lease",
        &["P3"],
        &[edit(INVALIDATE, "redis.call('DEL', KEYS[i], KEYS[i + 1])", "redis.call('DEL', KEYS[i])")],
    ),
    bug(
        "the lease is granted to everybody",
        &["P2"],
        &[edit(LEASE, "if left > 0 and not held.err then", "if false then")],
    ),
    bug(
        "a fill has no expiry",
        &["P5"],
        &[edit(
            FILL,
            "redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])",
            "redis.pcall('SET', KEYS[1], ARGV[3])",
        )],
    ),
    bug(
        "what others change is not heeded",
        &["P4"],
        &[edit(HEARING, "ear.overtake(id, kind);", "if id.is_empty() { ear.overtake(id, kind); }")],
    ),
    bug(
        "memory is trusted whatever was missed",
        &["P4"],
        &[
            edit(HEARING, "self.epochs.missed();", ""),
            edit(HEARING, "Heard::Deaf => self.epochs.set_hearing(false),", "Heard::Deaf => {}"),
        ],
    ),
    bug("a gap makes nothing suspect", &["P4"], &[edit(HEARING, "self.epochs.missed();", "")]),
    bug(
        "memory is not dropped behind the store",
        &["P3"],
        &[edit(
            WRITE,
            "        self.overtake(key, kind);\n        self.changed",
            "        let _ = kind;\n        self.changed",
        )],
    ),
    bug(
        "what is not confirmed is not in the way",
        &["P3"],
        &[edit(
            DEFERRED,
            "state.spaces.contains_key(&space) || state.items.contains_key(&(space, Item::Id(id.into())))",
            "state.spaces.contains_key(&space) && id.is_empty()",
        )],
    ),
    bug(
        "memory takes what was overtaken",
        &["P3", "P4"],
        &[edit(
            FENCE,
            "let whole = !*cut && epoch.now() == self.epoch;",
            "let whole = !*cut || *cut || epoch.now() == self.epoch;",
        )],
    ),
    bug(
        "a change lets running loads serve",
        &["P3"],
        &[edit(INNER, "self.flights.detach(key, &self.shared.context.tasks);", "")],
    ),
    bug(
        "what is not confirmed is forgotten",
        &["P3", "P4"],
        &[edit(
            OUTAGE,
            "Err(Unavailable) => self.deferred.keep(&self.remote, id, &change)",
            "Err(Unavailable) => {}",
        )],
    ),
    Bug {
        topology: "sentinel",
        ..bug(
            "what was confirmed is not done again at another server",
            &["P3"],
            &[edit(
                DEFERRED,
                "if now.since(since) <= REMEMBERED {",
                "if now.since(since) > REMEMBERED * 2 {",
            )],
        )
    },
    bug(
        "a tag that was invalidated passes nothing",
        &["P3", "P4"],
        &[edit(
            NUMBERS,
            "Some(held) if held.at_least > stamp.number => return Judgement::Passed,",
            "Some(held) if held.at_least > stamp.number * 2 => return Judgement::Passed,",
        )],
    ),
    bug("a lease has no expiry", &["P5"], &[edit(LEASE, "redis.call('PEXPIRE', lease, life)", "")]),
    bug(
        "Redis is waited for without end",
        &["P1", "P8"],
        &[edit(NODE, "clock.timeout(until.since(now), &mut work)", "clock.timeout(CROWDED * 4, &mut work)")],
    ),
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::root;

    #[test]
    fn what_a_bug_replaces_is_there_once() {
        for Bug { name, edits, .. } in BUGS {
            for Edit { file, right, .. } in *edits {
                let found = fs::read_to_string(root().join(file)).unwrap().matches(right).count();
                assert_eq!(
                    found, 1,
                    "{file} has changed: say in xtask/src/bugs/table.rs how {name:?} is put into it"
                );
            }
        }
    }
}
