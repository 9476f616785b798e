//! A lock in the hands of its holder.

use std::{fmt, sync::Arc, time::Duration};

use super::{error::unavailable, grip::Grip, hold::Hold};
use crate::{error::Error, token::Token};

/// A held lock, which is renewed until this is dropped or the lock is lost.
///
/// Dropping it frees the lock, whoever drops it and wherever: the freeing is a task of its own. Of several guards that one
/// process has under one [token of its own](super::Lock::token), the last one does.
#[must_use = "a lock is freed when its guard is dropped"]
pub struct Guard(pub(super) Arc<Grip>);

/// What the work under a lock knows of it. Cheap to clone.
#[derive(Clone)]
pub struct Held(Arc<Hold>);

impl Guard {
    /// The number of this holding: above those of all earlier holders, below those of all later ones.
    ///
    /// Send it along with each write, and let what is written refuse a number below the last one. In SQL:
    ///
    /// ```sql
    /// UPDATE plans SET body = $1, fence = $2 WHERE id = $3 AND fence < $2
    /// ```
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.0.hold.fence
    }

    /// The name under which the lock is held.
    #[must_use]
    pub fn token(&self) -> Token {
        self.0.hold.token
    }

    /// How long the lock is held for certain, even if it cannot be renewed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.hold.remaining()
    }

    /// Whether the lock is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.hold.is_lost()
    }

    /// Completes when the lock is lost: before the store admits another holder, unless this process is stopped, or the
    /// store loses its data.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        self.0.hold.lost()
    }

    /// What may be handed to the work under the lock.
    #[must_use]
    pub fn held(&self) -> Held {
        Held(self.0.hold.clone())
    }

    /// Frees the lock and waits until that is done. Whoever stops waiting has freed it all the same. Other guards under the
    /// same token are told that it is lost.
    ///
    /// Returns whether the lock was still held.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. The lock is freed as soon as it can, or else ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        let Grip { hold, inner, .. } = &*self.0;
        let was_held = !hold.is_lost();
        if !was_held && self.0.is_elsewhere() {
            return Ok(false);
        }
        self.0.end();
        let released = inner.backend.release(&hold.name, hold.token).await.map_err(|_| unavailable())?;
        Ok(released && was_held)
    }

    /// Turns the lock into its token, to carry it out of this program: nobody renews it any more but by
    /// [`Lock::renew`](super::Lock::renew), and it is freed by [`Lock::release`](super::Lock::release) or ends with its
    /// life.
    #[must_use = "the token is all that is left of the lock"]
    pub fn into_token(self) -> Token {
        self.0.hand_out();
        self.token()
    }
}

impl Held {
    /// The number of this holding, as [`Guard::fence`].
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.0.fence
    }

    /// How long the lock is held for certain, even if it cannot be renewed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.remaining()
    }

    /// Whether the lock is lost, or was freed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// Completes when the lock is lost, or was freed.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        self.0.lost()
    }
}

fn shown(hold: &Hold, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name).field("token", &hold.token).field("fence", &hold.fence).finish_non_exhaustive()
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(&self.0.hold, "Guard", f)
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(&self.0, "Held", f)
    }
}
