//! What every primitive is built from: time, chance, tasks, an ear, a bell and the application's name.

use std::sync::Arc;

use crate::{clock::Clock, dice::Dice, key::App, observe::Observe, tasks::Tasks, wake::Wake};

/// The constructor argument of every primitive; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    pub(crate) dice: Dice,
    pub(crate) tasks: Tasks,
    pub(crate) observe: Arc<dyn Observe>,
    pub(crate) wake: Wake,
}
