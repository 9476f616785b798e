//! `forebay config`: the settings, without a server that runs by them.

use clap::Subcommand;
use serde::Serialize;

use super::{
    Failure, Verdict,
    output::{Output, Paint, Report},
    serve, wait_for,
};
use crate::{
    app::App,
    config::{Config, Flags, Setting},
};

/// Looks at the settings without running anything
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Refuses what `forebay serve` would refuse, and tells where each value comes from
    ///
    /// It also says what is legal and likely not what was meant, which changes nothing about the exit code. Redis is not
    /// asked for anything: that is what `forebay doctor` is for.
    Check {
        #[command(flatten)]
        flags: Flags,

        #[command(flatten)]
        output: Output,
    },
}

/// Settings that can be used.
#[derive(Debug, Serialize)]
struct Checked {
    settings: Vec<Setting>,
    /// What is legal, and likely not what was meant.
    doubts: Vec<String>,
}

impl Verb {
    pub(super) fn run(&self, flags: Flags) -> Result<Verdict, Failure> {
        let Self::Check { output, .. } = self;
        let config = Config::load(flags.clone())?;
        serve::filter()?;
        // As the server does, but for the tasks that ask Redis: they do not come to run.
        wait_for(async { Ok(App::start(&config).await?) })?;
        let doubts = config.doubts(&flags);
        output.tell(&Checked { settings: config.told(flags)?, doubts })?;
        Ok(Verdict::Well)
    }
}

impl Report for Checked {
    fn text(&self, paint: Paint) -> String {
        let width = |of: fn(&Setting) -> &str| {
            self.settings.iter().map(|setting| of(setting).chars().count()).max().unwrap_or(0)
        };
        let (names, values) = (width(|setting| &setting.name), width(|setting| &setting.value).min(32));
        let mut text = format!("{}\n\n", paint.good("The settings can be used."));
        for Setting { name, value, from } in &self.settings {
            text += &format!("{name:names$}  {value:values$}  {}\n", paint.dim(from));
        }
        if !self.doubts.is_empty() {
            text += &format!("\n{}\n", paint.bold("Worth a look:"));
        }
        for doubt in &self.doubts {
            text += &format!("- {}\n", paint.doubtful(doubt));
        }
        text
    }
}
