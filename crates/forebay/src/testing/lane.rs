//! What a test wants to happen to the bytes of one direction, in all connections of a proxy.

use std::time::Duration;

use tokio::sync::watch;

use crate::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// How bytes flow in one direction. That a peer closes its end flows as its bytes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// At once.
    #[default]
    Pass,
    /// So much later than they came, to the millisecond. Neither order nor throughput suffers.
    Delay(Duration),
    /// Not at all: a hole, in which both sockets stay open. What is held flows on at the next change.
    Hold,
    /// Whole frames vanish, also those that were held or delayed. A peer's closing is passed on.
    Discard,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Lane {
    flow: watch::Sender<Flow>,
    losses: Mutex<Vec<Loss>>,
    dropped: AtomicU64,
}

/// A rule to drop frames.
#[derive(Debug)]
struct Loss {
    needle: Vec<u8>,
    left: u64,
}

impl Lane {
    pub(super) fn set(&self, flow: Flow) {
        self.flow.send_replace(flow);
    }

    pub(super) fn flow(&self) -> watch::Receiver<Flow> {
        self.flow.subscribe()
    }

    /// Completes as soon as this direction is no hole.
    pub(super) async fn open(&self) {
        let mut flow = self.flow();
        flow.wait_for(|flow| *flow != Flow::Hold).await.expect("the lane has the sender");
    }

    /// Drops the next `count` frames that contain `needle`.
    pub(super) fn lose(&self, count: u64, needle: Vec<u8>) {
        if count > 0 {
            self.losses.lock().push(Loss { needle, left: count });
        }
    }

    /// Whether `frame` has to be dropped; then that is counted.
    pub(super) fn loses(&self, frame: &[u8]) -> bool {
        let mut losses = self.losses.lock();
        let Some(at) = losses.iter().position(|loss| contains(frame, &loss.needle)) else { return false };
        losses[at].left -= 1;
        if losses[at].left == 0 {
            losses.remove(at);
        }
        self.dropped.fetch_add(1, Relaxed);
        true
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}

fn contains(frame: &[u8], needle: &[u8]) -> bool {
    needle.is_empty() || frame.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_as_many_frames_as_all_rules_say() {
        let lane = Lane::default();
        lane.lose(1, b"ab".to_vec());
        lane.lose(0, b"x".to_vec());
        lane.lose(1, Vec::new());
        let lost = ["x", "xabx", "ab", "a"].map(|frame| lane.loses(frame.as_bytes()));
        assert_eq!(lost, [true, true, false, false]);
        assert_eq!(lane.dropped(), 2);
    }
}
