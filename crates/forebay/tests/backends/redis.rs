//! Stamps every case for Redis.

use std::sync::Weak;

use forebay_rig::Redis;

use crate::server::{Running, ServerRig, Servers};

impl Servers for Redis {
    fn start() -> Self {
        Self::start()
    }

    fn url(&self) -> String {
        self.url()
    }

    fn nodes(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn running() -> &'static Running<Self> {
        static RUNNING: Running<Redis> = Running::new(Weak::new());
        &RUNNING
    }
}

pub(crate) type RedisRig = ServerRig<Redis>;

crate::cases::stamp!(crate::redis::RedisRig);
