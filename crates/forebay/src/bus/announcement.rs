//! One change between its number and its answer.

use super::Inner;

/// A change on its way: it counts as told once it is answered, as given up when dropped before.
#[derive(Debug)]
pub(crate) struct Announcement<'a> {
    pub(super) bus: &'a Inner,
    pub(super) number: u64,
    pub(super) message: String,
}

impl Announcement<'_> {
    pub(crate) fn message(&self) -> &[u8] {
        self.message.as_bytes()
    }

    /// Vouches that the message was published. `false` if that took so long that nobody waits for it any more.
    pub(crate) fn answered(self) -> bool {
        self.bus.numbers.answered(self.number)
    }
}

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        self.bus.numbers.failed(self.number);
    }
}
