//! What a cache asks of its store: five operations on ids of one space and two on its numbers, each atomic as a
//! whole, and to look for ids.

use std::{fmt, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{
    numbers::{Group, Known},
    pattern::Pattern,
    token::Token,
};
use crate::{bus::Kind, observe::ChangeSource};

/// The store of one space. Ids arrive encoded.
pub(crate) trait Backend: Send + Sync {
    /// What a caller may wait for this store in all, before it goes on without.
    fn budget(&self) -> Budget;

    /// Answers what is stored under `id`.
    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>>;

    /// Answers an entry that `request` can use, or who else loads, or grants the lease. One that may have been
    /// granted without an answer is taken back.
    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased>;

    /// Does `step` if the lease of `id` still carries `token`; answers whether it did.
    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool>;

    /// Changes what is stored under `id`, whoever holds its lease: the lease is gone afterwards.
    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()>;

    /// Answers all that there is about `id`, of one moment. Changes nothing.
    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen>;

    /// Answers the numbers of the space and of some tags, all of one moment.
    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known>;

    /// Raises the number of `group` above all of its space, and above `own`; answers it.
    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64>;

    /// Looks for the ids that `finder` wants, of what is stored or being loaded. One that is so throughout is found; so is
    /// a value whose load had begun before. Answers whether all was looked at.
    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool>;

    /// The name under which [`Wake`](crate::wake::Wake) tells that the lease of `id` has ended.
    fn wake_name(&self, id: &str) -> String;
}

/// Who looks for ids.
pub(crate) trait Finder: Send + Sync {
    /// What it looks for.
    fn pattern(&self) -> &Pattern;

    /// Takes some of what was found, encoded. Answers whether to look on.
    fn found(&self, ids: Vec<Box<str>>) -> BoxFuture<'_, bool>;
}

/// The store's answer, on its way.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, Unavailable>>;

/// What is asked about numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The tags, encoded.
    pub(crate) tags: &'a [Box<str>],
    pub(crate) purpose: Purpose,
}

/// What numbers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To see whether an entry is current.
    Look,
    /// To begin a load: the space is given numbers if it has none.
    Load,
    /// To store an entry for so long: the tags are given numbers too, all of which last as long.
    Fill(Duration),
}

/// The store could not be asked. What to do then is the caller's one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unavailable;

/// How long a caller still waits for the store; each question takes its time from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(pub(crate) Duration);

/// An entry as it is stored, with the life it has left there.
///
/// What lies in its place without being one, such as a value of another type, has no bytes: nobody can read it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) bytes: Bytes,
    pub(crate) left: Duration,
}

/// What a store has for one id.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) stored: Option<Stored>,
    /// What lies there in the place of an entry, if nobody of ours can have stored it.
    pub(crate) foreign: Option<Foreign>,
    /// What stands in the place of the lease, and for how long.
    pub(crate) held: Option<(Held, Duration)>,
}

/// Something that others have written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign {
    /// By what it is known.
    pub(crate) reason: &'static str,
    /// Its size, if it is a string.
    pub(crate) bytes: usize,
    /// How long it stays; zero where it has no end.
    pub(crate) left: Duration,
}

/// What stands in the place of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Somebody loads; `waited` when somebody else is to be woken.
    Lease { token: Token, waited: bool },
    /// Somebody loaded in vain.
    Note(Note),
}

/// A request for a lease.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The token of the lease, if it is granted.
    pub(crate) token: Token,
    /// For how long it is granted.
    pub(crate) life: Duration,
    /// What the caller cannot use for another reason than its age.
    pub(crate) reject: Reject,
    /// The entry that the caller has, and wants to replace.
    pub(crate) stale: Option<u64>,
    /// With this much of its fresh life left, or less, that entry is no answer; with more it need not be replaced.
    pub(crate) ahead: Duration,
    /// Whether the caller hears wakes of this id, and so is to be woken.
    pub(crate) listening: bool,
    /// Whether a lease that only this process knows of will do where the store cannot be asked.
    pub(crate) local_will_do: bool,
}

/// What a caller cannot use for another reason than its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reject {
    /// Nothing: the caller found nothing, or only something too old or of another format.
    Nothing,
    /// The entry with this id.
    Entry(u64),
    /// Everything, notes included.
    All,
}

/// The answer to a [`Request`].
#[derive(Debug)]
pub(crate) enum Leased {
    /// An entry that is fresh and not rejected.
    Entry(Stored),
    /// The lease is the caller's.
    Granted {
        /// Whether the caller's stale entry is still stored.
        stale_is_kept: bool,
    },
    /// The store cannot be asked: an entry that was filled in meanwhile, in this process.
    LocalEntry(Stored),
    /// The store cannot be asked: a lease is the caller's that only this process knows of.
    GrantedLocally,
    /// Somebody else holds it, for so long unless renewed.
    Busy(Duration),
    /// A load failed a moment ago; for so long nobody tries again.
    Failed(Duration),
    /// The value of a moment ago is not stored; for a while every caller loads for itself.
    Unshared,
}

/// What the holder of a lease does with it.
#[derive(Debug, Clone)]
pub(crate) enum Settle {
    /// Stores the entry for `life` and ends the lease.
    Fill { bytes: Bytes, life: Duration },
    /// Holds the lease for at least so long from now on.
    Renew(Duration),
    /// Ends the lease and leaves a note for so long.
    Note(Note, Duration),
    /// Removes what is stored and ends the lease: the origin has nothing, and that is not remembered.
    Discard,
    /// Ends the lease.
    Release,
}

/// Why there is no entry although somebody loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// The load failed.
    Failed,
    /// The value is too large, or not meant to be stored. What was stored before is removed.
    Unshared,
}

/// A change that overtakes every load begun before it.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// Nothing is stored afterwards.
    Invalidate,
    /// What was fresh is stale afterwards.
    Expire,
    /// Nothing is stored afterwards, and the lease is the caller's for so long: the first half of a put.
    Claim(Token, Duration),
}

impl Change {
    /// How it is told of, where it was asked for by id.
    pub(crate) fn source(&self) -> ChangeSource {
        match self {
            Self::Invalidate => ChangeSource::Invalidate,
            Self::Expire => ChangeSource::Expire,
            Self::Claim(..) => ChangeSource::Put,
        }
    }

    /// What the other processes are told of it.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Expire => Kind::Aged,
            Self::Invalidate | Self::Claim(..) => Kind::Gone,
        }
    }
}

impl fmt::Debug for dyn Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Backend")
    }
}
