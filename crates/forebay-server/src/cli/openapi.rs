//! `forebay openapi`: what there is to call, for programs.

use clap::Args;

use super::{Failure, Verdict, output::print};
use crate::router;

/// Prints the OpenAPI document of this server, as it serves it at /openapi.json
#[derive(Debug, Args)]
pub(super) struct Openapi {}

impl Openapi {
    pub(super) fn run(&self) -> Result<Verdict, Failure> {
        print(&router::document())?;
        Ok(Verdict::Well)
    }
}
