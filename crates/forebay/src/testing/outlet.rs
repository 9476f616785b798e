//! The end of a direction that writes: what waits there flows on as a test wants it to.

use std::{collections::VecDeque, future};

use bytes::BytesMut;
use tokio::{io::AsyncWriteExt, net::tcp::OwnedWriteHalf};

use super::lane::Flow;
use crate::clock::{Clock, Moment};

/// How many bytes may wait, so that a hole or a delay takes no more memory; then the sender has to wait too.
const ROOM: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Outlet<'a> {
    to: OwnedWriteHalf,
    clock: &'a Clock,
    waiting: VecDeque<Parcel>,
    waiting_bytes: usize,
    /// What has begun to be written, and so is written to its end: half a frame would spoil all that follow.
    writing: BytesMut,
    state: State,
}

#[derive(Debug)]
struct Parcel {
    came: Moment,
    /// `None`: the sender sends no more.
    bytes: Option<BytesMut>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The receiver is gone: what comes for it has nowhere to go.
    Broken,
    /// The receiver knows that no more will come.
    Closed,
}

impl<'a> Outlet<'a> {
    pub(super) fn new(to: OwnedWriteHalf, clock: &'a Clock) -> Self {
        let (waiting, writing) = (VecDeque::new(), BytesMut::new());
        Self { to, clock, waiting, waiting_bytes: 0, writing, state: State::Open }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether more may be pushed.
    pub(super) fn takes_more(&self) -> bool {
        let ended = self.waiting.back().is_some_and(|last| last.bytes.is_none());
        self.waiting_bytes < ROOM && !ended
    }

    /// Takes what came now; `None` when no more will come.
    pub(super) fn push(&mut self, bytes: Option<BytesMut>) {
        self.waiting_bytes += bytes.as_ref().map_or(0, BytesMut::len);
        self.waiting.push_back(Parcel { came: self.clock.now(), bytes });
    }

    /// Does the next thing that `flow` allows, as soon as there is one. Nothing is lost when the call is given
    /// up.
    pub(super) async fn forward(&mut self, flow: Flow) {
        if flow == Flow::Hold {
            future::pending::<()>().await;
        } else if self.writing.is_empty() {
            self.next(flow).await;
        } else {
            self.write().await;
        }
    }

    async fn next(&mut self, flow: Flow) {
        self.due(flow).await;
        match self.waiting.pop_front().and_then(|parcel| parcel.bytes) {
            Some(bytes) => {
                self.waiting_bytes -= bytes.len();
                if self.state == State::Open && flow != Flow::Discard {
                    self.writing = bytes;
                }
            }
            None => {
                // A receiver that is gone needs not be told.
                self.to.shutdown().await.ok();
                self.state = State::Closed;
            }
        }
    }

    /// Completes when the first parcel may go.
    async fn due(&self, flow: Flow) {
        let Some(parcel) = self.waiting.front() else { return future::pending().await };
        if let Flow::Delay(delay) = flow {
            let wait = parcel.came.after(delay).since(self.clock.now());
            if !wait.is_zero() {
                self.clock.sleep(wait).await;
            }
        }
    }

    async fn write(&mut self) {
        if matches!(self.to.write_buf(&mut self.writing).await, Ok(0) | Err(_)) {
            self.writing.clear();
            self.state = State::Broken;
        }
    }
}
