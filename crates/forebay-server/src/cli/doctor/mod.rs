//! `forebay doctor`: what is wrong with the Redis of these settings, and how to mend it.

mod report;

use std::time::Duration;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use forebay::{Forebay, health::Check};

use self::report::Report;
use super::{Failure, Verdict, output::Output, wait_for};
use crate::config::{Config, Flags, Store};

/// How long closing may take: nothing is under way.
const CLOSING: Duration = Duration::from_millis(500);

/// Examines the Redis of these settings: what is wrong with it, and how to mend it
///
/// The checks come in the order in which one would mend what they find. Nothing is left behind in Redis.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    flags: Flags,

    /// Takes what a check finds as meant: it is told, and is no fault. May be given several times
    #[arg(long, value_name = "CHECK", value_parser = check())]
    accept: Vec<Check>,
}

/// The name of a check.
fn check() -> impl TypedValueParser<Value = Check> {
    let named = |name: &str| Check::ALL.into_iter().find(|check| check.name() == name);
    PossibleValuesParser::new(Check::ALL.map(Check::name))
        .map(move |name| named(&name).expect("only the names of checks are possible"))
}

impl Doctor {
    /// Prints what was found, and answers whether all is well.
    pub(super) fn run(self, flags: Flags) -> Result<Verdict, Failure> {
        let config = Config::load(flags)?;
        let report = wait_for(examine(&config, &self.accept))?;
        self.output.tell(&report)?;
        Ok(if report.is_well() { Verdict::Well } else { Verdict::Unwell })
    }
}

async fn examine(config: &Config, accepted: &[Check]) -> Result<Report, Failure> {
    let Store::Redis { url, .. } = &config.store else { return Ok(Report::of_memory(&config.app)) };
    let mut builder = Forebay::builder(&config.app).redis(url.expose());
    if let Some(budget) = config.redis.budget() {
        builder = builder.redis_budget(budget);
    }
    let forebay = builder.build().await.map_err(|error| config.store.refuse(&error))?;
    let diagnosis = forebay.diagnose().await;
    forebay.shutdown(CLOSING).await;
    Ok(Report::of(&config.app, url.place(), diagnosis, accepted))
}
