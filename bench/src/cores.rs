//! Which core a thread runs on, where that decides what is measured.

use anyhow::{Context, Result};
use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};

/// The core of the servers.
const SERVER: usize = 0;

/// The core of their clients, another one.
const CLIENT: usize = 1;

/// Keeps a process with one thread on the core of the servers.
pub(crate) fn keep_server(pid: u32) -> Result<()> {
    keep(pid, SERVER)
}

/// Keeps a process with one thread on the core of the clients.
pub(crate) fn keep_client(pid: u32) -> Result<()> {
    keep(pid, CLIENT)
}

/// Keeps the calling thread on the core of the clients.
///
/// # Panics
///
/// Panics if there is no second core.
pub(crate) fn keep_this_client() {
    keep_client(0).expect("locks are measured on two cores");
}

fn keep(pid: u32, core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    sched_setaffinity(Pid::from_raw(pid.try_into()?), &cores).context("the row needs two cores")
}
