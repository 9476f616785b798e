//! `schema`: calls the server with what its OpenAPI document allows, and with what it does not, and compares the answers
//! with what is documented.

use std::{
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    process::{self, Group},
    root, target,
    test::Outcome,
    totals::Totals,
};

/// The settings of server and checker, and the versions of all that the checker is made of.
const FILES: &str = "crates/forebay-server/tests/schema";

const REQUIREMENTS: &str = "requirements.txt";

/// So that two runs make the same calls.
const SEED: &str = "7";

/// How many calls are made of each operation beyond those of its examples and bounds.
#[derive(Debug, Clone, Copy)]
struct Effort(u32);

/// 2,000 calls in all.
const SHORT: Effort = Effort(8);

/// 10,000.
const LONG: Effort = Effort(150);

/// Where the server keeps what it is told.
#[derive(Debug, Clone, Copy)]
enum Store {
    Memory,
    Redis,
}

pub(crate) fn short() -> Result<Outcome> {
    check(SHORT)
}

/// Whether nothing was found.
pub(crate) fn long() -> Result<bool> {
    Ok(matches!(check(LONG)?, Outcome::Passed(_)))
}

/// Counts as one test for each store.
fn check(effort: Effort) -> Result<Outcome> {
    let checker = install()?;
    let mut build = process::cargo();
    build.args(["build", "--quiet", "--locked", "--package", "forebay-server"]).current_dir(root());
    ensure!(Group::spawn(&mut build)?.wait()?.success(), "the server cannot be built");
    let mut totals = Totals::default();
    for store in [Store::Redis, Store::Memory] {
        totals += if on(store, &checker, effort)? { Totals::PASSED } else { Totals::FAILED };
    }
    Ok(if totals.failed == 0 { Outcome::Passed(totals) } else { Outcome::Failed(totals) })
}

fn on(store: Store, checker: &Path, Effort(calls): Effort) -> Result<bool> {
    println!("the server keeps what it is told in: {store:?}");
    let redis = match store {
        Store::Memory => None,
        Store::Redis => Some(redis()?),
    };
    let (_server, address) = server(redis.as_ref().map(|(_, url)| url.as_str()))?;
    // Bounds are tried once: they are the same in both.
    let phases = match store {
        Store::Redis => "examples,coverage,fuzzing",
        Store::Memory => "examples,fuzzing",
    };
    let mut check = process::command(&checker.display().to_string());
    check
        .arg("--config-file")
        .arg(root().join(FILES).join("schemathesis.toml"))
        .args(["run", &format!("http://{address}/openapi.json"), "--seed", SEED, "--workers", "1"])
        .args(["--phases", phases, "--max-examples", &calls.to_string()])
        .args(["--generation-database", "none", "--no-color"])
        .current_dir(folder());
    let (check, lines) = Group::spawn_reading(check, |line| println!("{line}"))?;
    let success = check.wait()?.success();
    let has_called = lines.iter().any(|line| line.contains(" generated"));
    ensure!(has_called || !success, "nothing was called");
    Ok(success)
}

/// A server of its own, and its address.
fn server(redis: Option<&str>) -> Result<(Group, String)> {
    let mut server = process::command(&target().join("debug/forebay").display().to_string());
    server.args(["--listen", "127.0.0.1:0", "--config"]).arg(root().join(FILES).join("forebay.toml"));
    server.args(redis.iter().flat_map(|url| ["--redis", url])).stdout(Stdio::piped());
    server.stderr(fs::File::create(folder().join("server.log"))?);
    let mut server = Group::spawn(&mut server)?;
    let lines = server.lines(|_| ());
    let first = lines.recv().context("the server does not start; target/schema/server.log says why")?;
    let address = first.strip_prefix("forebay listens on http://");
    Ok((server, address.context("the server does not say where it listens")?.to_owned()))
}

/// A Redis that keeps nothing, and its address.
fn redis() -> Result<(Group, String)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let mut redis = process::command("redis-server");
    redis.args(["--port", &port, "--bind", "127.0.0.1", "--save", ""]).current_dir(folder());
    let (redis, lines) = Group::spawn_reading(redis, |_| ())?;
    ensure!(lines.iter().any(|line| line.contains("Ready to accept connections")), "Redis does not start");
    Ok((redis, format!("redis://127.0.0.1:{port}")))
}

/// Installs what the file of requirements names, unless it is there.
fn install() -> Result<PathBuf> {
    let wanted = root().join(FILES).join(REQUIREMENTS);
    let (venv, done) = (folder().join("venv"), folder().join(REQUIREMENTS));
    let checker = venv.join("bin/schemathesis");
    if checker.is_file() && same(&wanted, &done)? {
        return Ok(checker);
    }
    fs::create_dir_all(folder())?;
    let mut make = process::command("python3");
    make.args(["-m", "venv", "--clear"]).arg(&venv);
    let made = Group::spawn(&mut make)?.wait()?.success();
    ensure!(made, "python3 cannot make a virtual environment; Debian has that in the package python3-venv");
    let mut pip = process::command(&venv.join("bin/pip").display().to_string());
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"])
        .arg(&wanted);
    if !Group::spawn(&mut pip)?.wait()?.success() {
        bail!("pip cannot install what {FILES}/{REQUIREMENTS} names");
    }
    fs::copy(wanted, done)?;
    Ok(checker)
}

fn same(one: &Path, other: &Path) -> Result<bool> {
    match fs::read(other) {
        Ok(other) => Ok(fs::read(one)? == other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn folder() -> PathBuf {
    target().join("schema")
}
