//! The one thread that starts every child.
//!
//! The kernel kills a child when the *thread* that started it ends, and the thread of a test ends before the process,
//! while a server may be shared with other tests.

use std::{
    ffi::OsStr,
    io,
    process::{Child, Command},
    sync::{
        LazyLock,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

const LIVES: &str = "the spawner lives as long as the process";

static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
    let (sender, orders) = mpsc::channel();
    thread::Builder::new().name("spawner".into()).spawn(|| serve(orders)).expect("a thread can be started");
    sender
});

struct Order {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Starts a child of [`dying`], which is killed when this process ends, however it ends.
///
/// # Errors
///
/// The program cannot be started.
///
/// # Panics
///
/// If no thread can be started.
pub fn spawn(command: Command) -> io::Result<Child> {
    let (answer, started) = mpsc::channel();
    SPAWNER.send(Order { command, answer }).expect(LIVES);
    started.recv().expect(LIVES)
}

/// A command whose process the kernel kills when the thread that started it ends.
pub fn dying(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

fn serve(orders: Receiver<Order>) {
    for Order { mut command, answer } in orders {
        answer.send(command.spawn()).expect("who orders a child waits for it");
    }
}
