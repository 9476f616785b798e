//! hitbox as a program: it and what other peers need do not fit into one lock file.

mod memory;
mod process;

use std::{io, sync::Arc};

use contest::Shared;

use crate::{memory::OverMoka, process::Hitbox};

/// What its one argument is called where it measures itself in process memory.
const MEMORY: &str = "memory";

/// How many entries are read there.
const KEYS: usize = 100_000;

fn main() -> io::Result<()> {
    let url = std::env::args().nth(1).expect("the one argument is the address of Redis");
    if url == MEMORY {
        let keys = contest::keys(KEYS);
        return drive::serve_hits(&OverMoka::filled(&keys), &keys);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let process = || Arc::new(Hitbox::new(&runtime, &url)) as Arc<dyn Shared>;
    drive::serve(&runtime, [process(), process()])
}
