//! `cargo xtask test`: the steps of the one test command, run in order until one fails.

use std::{
    env,
    num::NonZero,
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Result, bail};

use crate::{
    cases, chaos, packages, page,
    process::{self, Group},
    readme, root, schema, soak, target,
    totals::Totals,
};

const STEPS: &[Step] = &[
    Step::own("packages", "installs missing Debian packages, or says what to type", packages::ensure),
    Step::cargo("format", "fmt --all --check"),
    Step::cargo("lints", "clippy --workspace --all-targets --all-features --locked -- -D warnings"),
    Step::cargo("bare", "clippy -p forebay --lib --no-default-features --locked -- -D warnings"),
    Step::cargo(
        "tower",
        "clippy -p forebay --lib --no-default-features --features tower --locked -- -D warnings",
    ),
    Step::cargo(
        "axum",
        "clippy -p forebay --lib --no-default-features --features axum --locked -- -D warnings",
    ),
    Step::own("cases", "looks whether every known fault is a test, or does not apply", cases::check),
    Step::tests("tests", "test --workspace --all-features --locked --no-fail-fast"),
    Step::tests(
        "bench",
        "test --manifest-path bench/Cargo.toml -p tally -p programs -p drive --lib --locked",
    ),
    Step::tests("models", "test -p forebay --lib --locked models")
        .env("RUSTFLAGS", "--cfg forebay_shuttle")
        .target("shuttle"),
    Step::own("page", "looks at the dashboard in a browser", page::run),
    Step::own("schema", "compares the answers of the server with its OpenAPI document", schema::short),
    Step::own("soak", "loads three processes over one Redis for half a minute", soak::short),
    Step::own(
        "chaos",
        "has everything fail for half a minute, on one server, on a cluster and under sentinels",
        chaos::short,
    ),
    Step::cargo("docs", "doc --workspace --all-features --no-deps --locked")
        .env("RUSTDOCFLAGS", "-D warnings"),
    Step::own("readme", "runs the shell blocks of README.md and of what it leads to", readme::run),
];

/// How a step ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Passed(Totals),
    Failed(Totals),
    PackagesMissing,
}

impl Outcome {
    pub(crate) fn passed() -> Self {
        Self::Passed(Totals::default())
    }
}

#[derive(Debug, Clone, Copy)]
struct Step {
    name: &'static str,
    work: Work,
    env: Option<(&'static str, &'static str)>,
    target: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
enum Work {
    /// Arguments of cargo.
    Cargo(&'static str),
    /// Arguments of cargo, for a step in which at least one test has to run.
    Tests(&'static str),
    /// What it does, and the function that does it.
    Own(&'static str, fn() -> Result<Outcome>),
}

impl Step {
    const fn new(name: &'static str, work: Work) -> Self {
        Self { name, work, env: None, target: None }
    }

    const fn cargo(name: &'static str, args: &'static str) -> Self {
        Self::new(name, Work::Cargo(args))
    }

    const fn tests(name: &'static str, args: &'static str) -> Self {
        Self::new(name, Work::Tests(args))
    }

    const fn own(name: &'static str, about: &'static str, work: fn() -> Result<Outcome>) -> Self {
        Self::new(name, Work::Own(about, work))
    }

    const fn env(self, name: &'static str, value: &'static str) -> Self {
        Self { env: Some((name, value)), ..self }
    }

    /// Builds in a folder of its own inside the target directory, as its flags would rebuild everything else.
    const fn target(self, folder: &'static str) -> Self {
        Self { target: Some(folder), ..self }
    }

    fn describe(&self) -> String {
        match self.work {
            Work::Own(about, _) => about.into(),
            Work::Cargo(args) | Work::Tests(args) => match self.env {
                Some((name, value)) => format!("{name}=\"{value}\" cargo {args}"),
                None => format!("cargo {args}"),
            },
        }
    }

    fn run(&self) -> Result<Outcome> {
        match self.work {
            Work::Own(_, work) => work(),
            Work::Cargo(args) => {
                let success = Group::spawn(&mut self.command(args))?.wait()?.success();
                Ok(if success { Outcome::passed() } else { Outcome::Failed(Totals::default()) })
            }
            Work::Tests(args) => count(self.command(args)),
        }
    }

    fn command(&self, args: &str) -> Command {
        let mut cargo = process::cargo();
        cargo.args(args.split(' ')).envs(self.env).current_dir(root());
        if let Some(folder) = self.target {
            cargo.env("CARGO_TARGET_DIR", target().join(folder));
        }
        cargo
    }
}

/// Runs the tests that `cargo` is to run, of which there has to be one at least.
pub(crate) fn count(mut cargo: Command) -> Result<Outcome> {
    cargo.env("RUST_TEST_THREADS", threads());
    let (cargo, lines) = Group::spawn_reading(cargo, |line| println!("{line}"))?;
    let success = cargo.wait()?.success();
    let totals: Totals = lines.iter().map(|line| Totals::of_line(&line)).sum();
    if success && totals.ran() == 0 {
        println!("no test ran");
    }
    Ok(if success && totals.ran() > 0 { Outcome::Passed(totals) } else { Outcome::Failed(totals) })
}

/// How many tests run at once, unless the environment says it: most of them wait most of their time.
fn threads() -> String {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    env::var("RUST_TEST_THREADS").unwrap_or_else(|_| (2 * cores).to_string())
}

pub(crate) fn list() -> ExitCode {
    for step in STEPS {
        println!("{:<10} {}", step.name, step.describe());
    }
    ExitCode::SUCCESS
}

/// Runs all steps, or the first, which sees to what the others need, and those named.
pub(crate) fn run(only: &[String]) -> Result<ExitCode> {
    let known = |name: &&String| STEPS.iter().any(|step| step.name == **name);
    if let Some(name) = only.iter().find(|name| !known(name)) {
        bail!("there is no step `{name}`: `cargo xtask test --list` shows them");
    }
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let steps: Vec<_> = STEPS[..1].iter().chain(STEPS[1..].iter().filter(wanted)).copied().collect();
    let exit = run_steps(&steps)?;
    println!("{}", cases::Cases::read(root())?);
    Ok(exit)
}

fn run_steps(steps: &[Step]) -> Result<ExitCode> {
    let mut totals = Totals::default();
    let mut table = Vec::new();
    let mut exit = ExitCode::SUCCESS;
    for step in steps {
        println!("\n==> {}: {}", step.name, step.describe());
        let started = process::now();
        let outcome = step.run().unwrap_or_else(|error| {
            println!("error: {error:#}");
            Outcome::Failed(Totals::default())
        });
        table.push(row(step.name, started.elapsed(), outcome));
        println!("<== {}", table[table.len() - 1]);
        totals += counted(outcome);
        exit = exit_code(outcome);
        if !matches!(outcome, Outcome::Passed(_)) {
            break;
        }
    }
    table.extend(steps.iter().skip(table.len()).map(|step| format!("{:<10}        not run", step.name)));
    println!("\n{}\n\n{totals}", table.join("\n"));
    Ok(exit)
}

/// A step that fails without a failed test counts as one, so that the totals never hide a failure.
fn counted(outcome: Outcome) -> Totals {
    match outcome {
        Outcome::Passed(totals) => totals,
        Outcome::Failed(totals) => Totals { failed: totals.failed.max(1), ..totals },
        Outcome::PackagesMissing => Totals::default(),
    }
}

fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Passed(_) => ExitCode::SUCCESS,
        Outcome::Failed(_) => ExitCode::FAILURE,
        Outcome::PackagesMissing => ExitCode::from(2),
    }
}

fn row(name: &str, took: Duration, outcome: Outcome) -> String {
    let verdict = match outcome {
        Outcome::Passed(totals) if totals == Totals::default() => "ok".into(),
        Outcome::Passed(totals) => format!("ok      {totals}"),
        Outcome::Failed(_) => format!("FAILED  {}", counted(outcome)),
        Outcome::PackagesMissing => "packages missing".into(),
    };
    format!("{name:<10} {:>7.1} s  {verdict}", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILS: Step = Step::own("fails", "", || Ok(Outcome::Failed(Totals::PASSED)));
    const PANICS: Step = Step::own("panics", "", || panic!("a step after a failed one was run"));

    #[test]
    fn stops_at_the_first_failure() {
        assert_eq!(run_steps(&[FAILS, PANICS]).unwrap(), ExitCode::FAILURE);
    }

    #[test]
    fn missing_packages_have_an_exit_code_of_their_own() {
        let missing = Step::own("packages", "", || Ok(Outcome::PackagesMissing));
        assert_eq!(run_steps(&[missing, PANICS]).unwrap(), ExitCode::from(2));
    }

    #[test]
    fn a_failed_step_counts_as_a_failed_test() {
        assert_eq!(counted(Outcome::Failed(Totals::PASSED)), Totals { passed: 1, failed: 1, skipped: 0 });
    }
}
