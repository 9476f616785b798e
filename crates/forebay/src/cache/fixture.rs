//! Caches for the tests of this folder, built without a `Forebay` above them.

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

use super::{
    backend::Backend,
    bulkhead::Bulkhead,
    epochs::Epochs,
    inner::{Inner, Shared},
    local::{Memory, Store},
    options::Options,
    waits::Waits,
};
use crate::{
    clock::Clock,
    codec::Codec,
    context::Context,
    dice::Dice,
    key::{App, Name},
    observe::Silent,
    tasks::Tasks,
    wake::Wake,
};

pub(super) const LIFE: Duration = Duration::from_secs(60);

/// What the caches of one process share; two loads without a lease run at a time.
pub(super) fn shared(runtime: Handle, clock: Clock) -> Shared {
    Shared {
        context: Context {
            app: App::new("tests").expect("a name"),
            clock,
            dice: Dice::seeded(1),
            tasks: Tasks::on(runtime),
            observe: Arc::new(Silent),
            wake: Wake::default(),
            heavy: None,
        },
        memory: Arc::new(Memory::new(64 << 20, Store::Inside)),
        epochs: Epochs::new(true),
        waits: Arc::new(Waits::default()),
        outage: Bulkhead::new(2),
    }
}

/// A space over `backend`, without jitter unless `options` say otherwise.
pub(super) fn inner<V: Send + Sync + 'static>(
    shared: Shared,
    options: Options,
    codec: impl Codec<V>,
    backend: Arc<dyn Backend>,
) -> Inner<V> {
    let (name, space) = (Name::new("tests").expect("a name"), shared.memory.space());
    let numbers = shared.epochs.open(options.coherence);
    Inner::new((name, space), options, Arc::new(codec), backend, numbers, shared)
}
