//! What a filter asks of its store: whole atomic steps.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;

use super::{answer::Figures, mark::Mark, shape::Shape};
use crate::{
    redis::{Redis, Unusable},
    token::Token,
};

/// An answer of a store, or that it cannot be asked.
pub(super) type Told<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// What a store sees of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is not there.
    No,
    /// It may be there.
    Maybe,
    /// Nobody knows: the filter was not built, or something was lost since.
    Incomplete,
}

/// What a store says to a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// From now on all additions go to its bitmap, too.
    Begun,
    /// Another is under way, and held for so long.
    Running(Duration),
    /// The server does not say whether it has lost something, so that nothing could be believed.
    Untold,
}

/// What a rebuild does with its bitmap.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    /// Adds ids.
    Add(&'a [Mark]),
    /// Holds it for a lease from now on.
    Hold,
    /// Puts it in the place of the one in use.
    Switch,
}

/// One filter.
pub(super) trait Backend: fmt::Debug + Send + Sync {
    /// The one that is asked, where answers can be late.
    fn redis(&self) -> Option<&Redis>;

    /// Looks whether ids are there.
    fn check<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, Vec<Seen>>;

    /// Adds ids to every bitmap that is or will be in use.
    fn add<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, ()>;

    /// Tells how the filter stands; nothing where it was never built.
    fn look(&self) -> Told<'_, Figures>;

    /// Begins a rebuild under `token`.
    fn begin(&self, token: Token, shape: Shape) -> Told<'_, Beginning>;

    /// Does `step` if the rebuild of `token` is still the one under way; answers whether it did.
    fn step<'a>(&'a self, token: Token, step: Step<'a>) -> Told<'a, bool>;

    /// Ends the rebuild of `token`, which may have begun without an answer. Nobody waits for that.
    fn abandon(&self, token: Token);
}
