//! What a server refuses to everybody, whatever the rights: by the code that it answers.

/// What such a code means, and what to do about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ailment {
    code: &'static str,
    pub(super) seen: &'static str,
    pub(super) remedy: &'static str,
}

const ALL: [Ailment; 8] = [
    Ailment {
        code: "BUSY",
        seen: "a script runs without an end (BUSY)",
        remedy: "SCRIPT KILL, or FUNCTION KILL where it is a function; one that has written is ended by SHUTDOWN NOSAVE \
                 alone, which loses what is not on disk",
    },
    Ailment {
        code: "LOADING",
        seen: "it is loading its data (LOADING)",
        remedy: "wait until it has read its data",
    },
    Ailment {
        code: "MASTERDOWN",
        seen: "it is a replica whose primary is down (MASTERDOWN)",
        remedy: "bring its primary back, or make it one by REPLICAOF NO ONE",
    },
    Ailment {
        code: "READONLY",
        seen: "it is a replica, which takes no writes (READONLY)",
        remedy: "put the address of the primary into the URL",
    },
    Ailment {
        code: CLUSTERDOWN,
        seen: "it takes the cluster for broken (CLUSTERDOWN)",
        remedy: "redis-cli --cluster check with the address of any node says what is missing",
    },
    Ailment {
        code: MISCONF,
        seen: "it refuses writes, as its last save failed (MISCONF)",
        remedy: "look into the log of Redis and for space on its disk; CONFIG SET stop-writes-on-bgsave-error no has it \
                 take writes that it cannot save",
    },
    Ailment {
        code: OOM,
        seen: "it refuses writes, as its memory is full (OOM)",
        remedy: "raise maxmemory, or shorten the lives of values",
    },
    Ailment {
        code: NOREPLICAS,
        seen: "it refuses writes, as too few replicas are in step (NOREPLICAS)",
        remedy: "start or reconnect replicas, or CONFIG SET min-replicas-to-write 0",
    },
];

const CLUSTERDOWN: &str = "CLUSTERDOWN";
pub(super) const MISCONF: &str = "MISCONF";
pub(super) const OOM: &str = "OOM";
pub(super) const NOREPLICAS: &str = "NOREPLICAS";

impl Ailment {
    pub(super) fn of(code: &str) -> Option<Self> {
        ALL.into_iter().find(|one| one.code == code)
    }

    /// Of which a reason in words tells.
    pub(super) fn told_by(reason: &str) -> Option<Self> {
        let mut words = reason.split(|c: char| !c.is_ascii_uppercase());
        words.find_map(Self::of)
    }

    /// Whether a check of its own tells of it.
    pub(super) fn has_a_check(code: &str) -> bool {
        [MISCONF, OOM, NOREPLICAS, CLUSTERDOWN].contains(&code)
    }
}
