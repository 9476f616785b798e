//! Programs of their own whose caches are tried: what they need is installed, in the exact versions of their folders,
//! beside what cargo builds.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use forebay_trials::{chaos::Players, order::Subject};

/// The players of a subject, once its program can be started.
///
/// # Errors
///
/// What could not be installed or built.
pub(crate) fn players(subject: Subject) -> Result<Players> {
    let program = match subject {
        Subject::Cashews => python("cashews")?,
        Subject::Bentocache => node("bentocache")?,
        Subject::Hitbox => rust("hitbox")?,
        Subject::Forebay | Subject::Naive | Subject::Moka => return Ok(subject.into()),
    };
    Ok(Players { subject, program })
}

fn python(name: &str) -> Result<Vec<PathBuf>> {
    let (from, to) = folders(name)?;
    let versions = from.join("requirements.txt");
    once(&versions, &to, || {
        run(Command::new("python3").args(["-m", "venv"]).arg(&to))?;
        let mut pip = Command::new(to.join("bin/pip"));
        run(pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&versions))
    })?;
    Ok(vec![to.join("bin/python"), from.join("worker.py")])
}

/// Node looks for packages beside the script, which is therefore copied.
fn node(name: &str) -> Result<Vec<PathBuf>> {
    let (from, to) = folders(name)?;
    for file in ["package.json", "worker.mjs"] {
        fs::copy(from.join(file), to.join(file))?;
    }
    once(&from.join("package.json"), &to, || {
        let quiet = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"];
        run(Command::new("npm").args(quiet).current_dir(&to))
    })?;
    Ok(vec!["node".into(), to.join("worker.mjs")])
}

/// Cargo knows by itself what is built already.
fn rust(name: &str) -> Result<Vec<PathBuf>> {
    let (from, to) = folders(name)?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(from.join("Cargo.toml"));
    run(build.arg("--target-dir").arg(&to))?;
    Ok(vec![to.join("debug").join(format!("peer-{name}"))])
}

/// Where a program lies, and where it is installed: in cargo's target folder, wherever that is.
fn folders(name: &str) -> Result<(PathBuf, PathBuf)> {
    let own = env::current_exe()?;
    let target = own.ancestors().nth(2).context("a program lies in the folder of its profile")?;
    let to = target.join("peers").join(name);
    fs::create_dir_all(&to)?;
    Ok((Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name), to))
}

/// Installs unless the same versions are there.
fn once(versions: &Path, folder: &Path, install: impl Fn() -> Result<()>) -> Result<()> {
    let (wanted, done) = (fs::read(versions)?, folder.join("installed"));
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install()?;
    Ok(fs::write(done, wanted)?)
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{program}: {}", said.lines().last().unwrap_or("failed"));
    Ok(())
}
