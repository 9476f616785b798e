//! A small Redis for scripts, in process and on a clock that the test moves.
//!
//! It knows the commands that the limiter's scripts may use and no others, and looks after every script whether the
//! keys it touched will go away again.

mod commands;
mod lua;
mod packing;
mod reply;
mod sorted;
mod tests;
mod world;

pub(super) use self::{
    lua::Script,
    reply::Reply,
    sorted::Sorted,
    world::{Entry, Value},
};

use std::{
    cell::{Ref, RefCell},
    rc::Rc,
};

use self::{lua::Host, world::World};

/// One Redis: its clock, its keys and the Lua state in which its scripts run.
pub(super) struct Server {
    host: Host,
    world: Rc<RefCell<World>>,
}

impl Server {
    pub(super) fn new() -> Self {
        let world = Rc::new(RefCell::new(World::default()));
        Self { host: Host::new(&world), world }
    }

    /// Compiles a script, once per server.
    pub(super) fn load(&self, text: &str) -> Script {
        self.host.load(text)
    }

    /// Runs a script, and errs when it fails or breaks a rule that holds for every script.
    pub(super) fn run(&self, script: &Script, keys: &[&str], args: &[Vec<u8>]) -> Result<Reply, String> {
        self.world.borrow_mut().begin(keys);
        let reply = self.host.run(script, keys, args)?;
        self.world.borrow_mut().finish()?;
        Ok(reply)
    }

    /// Does one command outside a script, as a client's pipeline would.
    pub(super) fn command(&self, words: &[&str]) -> Reply {
        let words: Vec<_> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        self.world.borrow_mut().command(&words)
    }

    pub(super) fn now(&self) -> i64 {
        self.world.borrow().now
    }

    /// Moves the server's clock, back if `ms` is negative.
    pub(super) fn step(&self, ms: i64) {
        self.world.borrow_mut().now += ms;
    }

    /// The longest life, in milliseconds, that a key may have after a script.
    pub(super) fn set_horizon(&self, ms: i64) {
        self.world.borrow_mut().horizon = ms;
    }

    /// From now on a number that does not fit a packed field is cut off, as in Redis.
    pub(super) fn be_lenient(&self) {
        self.world.borrow_mut().lenient = true;
    }

    pub(super) fn put(&self, key: &str, value: Value, life: Option<i64>) {
        self.world.borrow_mut().put(key.as_bytes(), value, life);
    }

    pub(super) fn persist(&self, key: &str) {
        self.world.borrow_mut().persist(key.as_bytes());
    }

    pub(super) fn entry(&self, key: &str) -> Option<Entry> {
        self.world.borrow_mut().live(key.as_bytes()).cloned()
    }

    /// Puts a key and the clock back to where they were.
    pub(super) fn restore(&self, key: &str, entry: Option<Entry>, now: i64) {
        let mut world = self.world.borrow_mut();
        world.now = now;
        world.restore(key.as_bytes(), entry);
    }

    pub(super) fn published(&self) -> Ref<'_, [(Vec<u8>, Vec<u8>)]> {
        Ref::map(self.world.borrow(), |world| world.published.as_slice())
    }
}
