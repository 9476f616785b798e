//! The programs that there are.

use std::path::{Path, PathBuf};

/// A program, and where it lies in `peers/`.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Its name in the tables.
    pub name: &'static str,
    folder: &'static str,
    pub(super) language: Language,
    /// What comes after the address of Redis.
    pub(super) arguments: &'static [&'static str],
}

/// What a program is written in: also how it is installed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Language {
    Python { script: &'static str },
    Node { script: &'static str },
    Rust { program: &'static str },
}

/// The limiters.
pub const LIMITERS: [Source; 2] = [
    Source {
        name: "Node `rate-limiter-flexible`",
        folder: "rate_limiter_flexible",
        language: Language::Node { script: "check.mjs" },
        arguments: &[],
    },
    Source {
        name: "Python `limits`",
        folder: "limits",
        language: Language::Python { script: "check.py" },
        arguments: &[],
    },
];

/// The lock of redis-py.
pub const REDIS_LOCK: Source = Source {
    name: "Python `redis` `Lock`",
    folder: "redis_lock",
    language: Language::Python { script: "lock.py" },
    arguments: &[],
};

/// hitbox in process memory, which obeys `drive::Reads`. It takes `memory` in place of an address.
pub const HITBOX_IN_MEMORY: Source = Source {
    name: "`hitbox` over moka",
    folder: "hitbox",
    language: Language::Rust { program: "peer-hitbox" },
    arguments: &[],
};

/// The caches over Redis, each of which obeys the orders of `drive`.
pub const CACHES: [Source; 8] = [
    Source {
        name: "`hitbox`",
        folder: "hitbox",
        language: Language::Rust { program: "peer-hitbox" },
        arguments: &[],
    },
    node("Node `bentocache`", &["bentocache"]),
    node("Node `ioredis` by hand", &["ioredis"]),
    python("Python `cashews`", &["cashews"]),
    python("Python `cashews`, `lock=True`", &["cashews_lock"]),
    python("Python `aiocache`, `cached_stampede`", &["aiocache"]),
    python("Python `dogpile.cache`, `distributed_lock`", &["dogpile"]),
    python("Python `redis.asyncio` by hand", &["by_hand"]),
];

const fn python(name: &'static str, arguments: &'static [&'static str]) -> Source {
    Source { name, folder: "python", language: Language::Python { script: "driver.py" }, arguments }
}

const fn node(name: &'static str, arguments: &'static [&'static str]) -> Source {
    Source { name, folder: "node", language: Language::Node { script: "driver.mjs" }, arguments }
}

impl Source {
    /// Where it lies.
    pub(super) fn from(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("peers").join(self.folder)
    }

    /// Where it is installed.
    pub(super) fn to(self, peers: &Path) -> PathBuf {
        peers.join(self.folder)
    }
}
