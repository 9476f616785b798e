//! A codec that fails on demand, and that stands still on demand while it reads.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU8, Ordering::SeqCst},
    },
};

use forebay::{
    Error,
    codec::{Codec, Json, Payload},
};

/// A codec of strings; its clones change their minds together.
#[derive(Clone, Default)]
pub(crate) struct Whim {
    mute: Arc<AtomicBool>,
    shape: Arc<AtomicU8>,
    gate: Arc<Gate>,
}

impl Whim {
    /// From now on values have no form.
    pub(crate) fn writes_nothing(&self) {
        self.mute.store(true, SeqCst);
    }

    /// From now on values have another shape: what was written before cannot be read.
    pub(crate) fn changes_shape(&self) {
        self.shape.fetch_add(1, SeqCst);
    }

    /// Reading stands still from now on.
    pub(crate) fn stops_reading(&self) {
        self.gate.set(true);
    }

    /// What stood still goes on.
    pub(crate) fn reads_on(&self) {
        self.gate.set(false);
    }

    /// Whether a read stands still.
    pub(crate) fn is_reading(&self) -> bool {
        self.gate.0.lock().unwrap().waits
    }
}

impl Codec<String> for Whim {
    fn id(&self) -> u8 {
        200
    }

    fn encode(&self, value: &String) -> Result<Payload, Error> {
        if self.mute.load(SeqCst) {
            return Json.encode(&BTreeMap::from([((), ())]));
        }
        Json.encode(&(self.shape.load(SeqCst), value.clone()))
    }

    fn decode(&self, payload: Payload) -> Result<String, Error> {
        self.gate.pass();
        let (shape, value): (u8, String) = Json.decode(payload)?;
        if shape == self.shape.load(SeqCst) { Ok(value) } else { Json.decode(Payload::default()) }
    }
}

/// Holds up a thread.
#[derive(Default)]
struct Gate(Mutex<State>, Condvar);

#[derive(Default)]
struct State {
    closed: bool,
    waits: bool,
}

impl Gate {
    fn set(&self, closed: bool) {
        self.0.lock().unwrap().closed = closed;
        self.1.notify_all();
    }

    fn pass(&self) {
        let mut state = self.0.lock().unwrap();
        state.waits = state.closed;
        drop(self.1.wait_while(state, |state| state.closed).unwrap());
    }
}
