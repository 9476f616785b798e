//! `cargo xtask ops`: writes anew what is made of the code: the board and the alert rules in `ops/`, and the OpenAPI
//! document of the server.

use std::process::ExitCode;

use anyhow::Result;

use crate::{openapi, process, root};

pub(crate) fn run() -> Result<ExitCode> {
    openapi::write()?;
    let mut ops = process::cargo();
    ops.args(["run", "--locked", "--package", "forebay-ops"]);
    let status = process::Group::spawn(ops.current_dir(root()))?.wait()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
