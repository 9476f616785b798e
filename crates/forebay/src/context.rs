//! What every primitive is built from: time, chance, tasks, an ear, a bell and the application's name.

use std::{fmt, sync::Arc};

use crate::{
    clock::Clock, dice::Dice, heavy::HeavyHitters, key::App, observe::Observe, redis::Redis, tasks::Tasks,
    wake::Wake,
};

/// The constructor argument of every primitive; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    pub(crate) dice: Dice,
    pub(crate) tasks: Tasks,
    pub(crate) observe: Arc<dyn Observe>,
    pub(crate) wake: Wake,
    /// Who is met most often, where that is asked for.
    pub(crate) heavy: Option<Arc<HeavyHitters>>,
}

/// Redis, in the hands of a primitive; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) redis: Redis,
    /// Keeps the tasks of the store going for as long as a primitive exists.
    #[expect(dead_code, reason = "held for its drop")]
    pub(crate) keeps: Arc<dyn fmt::Debug + Send + Sync>,
}
