//! The machine on which a run was made, as far as its figures depend on it.

use std::{fs, process::Command};

use anyhow::{Context, Result};
use serde::Serialize;

/// A machine at the time of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// How many it has.
    pub cores: usize,
    /// Its processor's name.
    pub cpu: String,
    /// That of Linux.
    pub kernel: String,
    /// The compiler of all that is in Rust.
    pub rustc: String,
    /// The mean number of runnable processes over the minute before the run.
    pub load: String,
    /// When it was looked at, in UTC.
    pub date: String,
}

impl Machine {
    /// This machine, now.
    ///
    /// # Errors
    ///
    /// It is no Linux, or has no `rustc`.
    pub fn look() -> Result<Self> {
        let first = |file: &str| -> Result<String> {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
            Ok(text.split_whitespace().next().unwrap_or("unknown").to_owned())
        };
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            cpu: cpu()?,
            kernel: first("/proc/sys/kernel/osrelease")?,
            rustc: rustc()?,
            load: first("/proc/loadavg")?,
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        })
    }
}

fn cpu() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let model = text.lines().find(|line| line.starts_with("model name"));
    let name = model.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name);
    Ok(name.to_owned())
}

fn rustc() -> Result<String> {
    let output = Command::new("rustc").arg("--version").output().context("cannot run rustc")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
