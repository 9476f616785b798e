//! hitbox as a program: it and what other peers need do not fit into one lock file.

mod process;

use std::{io, sync::Arc};

use contest::Shared;

use crate::process::Hitbox;

fn main() -> io::Result<()> {
    let url = std::env::args().nth(1).expect("the one argument is the address of Redis");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let process = || Arc::new(Hitbox::new(&runtime, &url)) as Arc<dyn Shared>;
    drive::serve(&runtime, [process(), process()])
}
