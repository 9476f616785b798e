//! What the server says of its calls, written down.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::{process, root};

/// Where it is kept; a test compares it with what a server says.
const FILE: &str = "crates/forebay-server/openapi.json";

pub(crate) fn write() -> Result<()> {
    let mut server = process::cargo();
    server.args(["run", "--quiet", "--locked", "--package", "forebay-server", "--", "openapi"]);
    let output = server.current_dir(root()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(root().join(FILE), output.stdout).with_context(|| format!("cannot write {FILE}"))?;
    println!("{FILE} is written");
    Ok(())
}
