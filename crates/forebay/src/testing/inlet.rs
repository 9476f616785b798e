//! The end of a direction that reads: it cuts what comes into frames, and drops those that a test wants lost.

use bytes::BytesMut;
use tokio::{io::AsyncReadExt, net::tcp::OwnedReadHalf};

use super::{
    frame::{Malformed, Splitter},
    lane::Lane,
};

/// How much is read at once.
const PIECE: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Inlet {
    from: OwnedReadHalf,
    unsplit: BytesMut,
    /// `None` once something came that is no RESP: from then on bytes are passed on as they are.
    splitter: Option<Splitter>,
}

impl Inlet {
    pub(super) fn new(from: OwnedReadHalf) -> Self {
        Self { from, unsplit: BytesMut::new(), splitter: Some(Splitter::default()) }
    }

    /// The next whole frames that are not dropped; `None` when the peer sends no more. Nothing is lost when
    /// the call is given up.
    pub(super) async fn read(&mut self, lane: &Lane) -> Option<BytesMut> {
        loop {
            self.unsplit.reserve(PIECE);
            if matches!(self.from.read_buf(&mut self.unsplit).await, Ok(0) | Err(_)) {
                // A frame that will never be whole is passed on as it is.
                return Some(self.unsplit.split()).filter(|rest| !rest.is_empty());
            }
            let kept = self.frames(lane);
            if !kept.is_empty() {
                return Some(kept);
            }
        }
    }

    fn frames(&mut self, lane: &Lane) -> BytesMut {
        let mut kept = BytesMut::new();
        while let Some(splitter) = &mut self.splitter {
            match splitter.split(&self.unsplit) {
                Ok(None) => return kept,
                Ok(Some(length)) => {
                    let frame = self.unsplit.split_to(length);
                    if !lane.loses(&frame) {
                        kept.unsplit(frame);
                    }
                }
                Err(Malformed) => self.splitter = None,
            }
        }
        kept.unsplit(self.unsplit.split());
        kept
    }
}
