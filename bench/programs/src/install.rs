//! Installs what a program needs, in the exact versions of its folder, beside what cargo builds.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::source::{Language, Source};

impl Source {
    /// The words of the command that starts the program, once what it needs is there.
    pub(super) fn installed(self) -> Result<Vec<OsString>> {
        let (from, to) = (self.from(), self.to(&target()?));
        Ok(match self.language {
            Language::Python { script } => {
                once(&from, &to, &["requirements.txt"], || python(&from, &to))?;
                // It is to leave nothing beside the script.
                vec![to.join("bin/python").into(), "-B".into(), from.join(script).into()]
            }
            Language::Node { script } => {
                let versions = ["package.json", "package-lock.json"];
                once(&from, &to, &versions, || node(&from, &to))?;
                // Node looks for packages beside the script.
                copy(&from, &to)?;
                vec!["node".into(), to.join(script).into()]
            }
            Language::Rust { program } => {
                rust(&from, &to)?;
                vec![to.join("release").join(program).into()]
            }
        })
    }
}

/// `peers/` in cargo's target folder, wherever that is.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).context("a program lies in the folder of its profile")?;
    Ok(target.join("peers"))
}

/// Installs into an empty folder, unless what these files ask for is there, as far as there are such files.
fn once(from: &Path, to: &Path, versions: &[&str], install: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted =
        versions.iter().filter_map(|file| fs::read(from.join(file)).ok()).collect::<Vec<_>>().concat();
    let done = to.join("installed");
    if !fs::read(&done).is_ok_and(|installed| installed == wanted) {
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        fs::create_dir_all(to)?;
        install()?;
        fs::write(done, wanted)?;
    }
    Ok(())
}

fn python(from: &Path, to: &Path) -> Result<()> {
    run(Command::new("python3").args(["-m", "venv"]).arg(to))?;
    let mut pip = Command::new(to.join("bin/pip"));
    let quiet = ["install", "--quiet", "--disable-pip-version-check", "-r"];
    run(pip.args(quiet).arg(from.join("requirements.txt")))
}

fn node(from: &Path, to: &Path) -> Result<()> {
    copy(from, to)?;
    let is_locked = to.join("package-lock.json").exists();
    let install: &[_] = if is_locked { &["ci"] } else { &["install", "--no-package-lock"] };
    let quiet = ["--silent", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).args(quiet).current_dir(to))
}

/// A program in Rust that cannot share the lock file of the others.
fn rust(from: &Path, to: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]);
    run(build.arg(from.join("Cargo.toml")).arg("--target-dir").arg(to))
}

/// Writes only what differs: the process before this one may still be reading it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &copied)?;
        } else {
            let wanted = fs::read(entry.path())?;
            if !fs::read(&copied).is_ok_and(|there| there == wanted) {
                fs::write(copied, wanted)?;
            }
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{program}: {}", said.lines().last().unwrap_or("failed"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_lock_file_that_changes_is_installed_into_an_empty_folder() -> Result<()> {
        let home = target()?.join(format!("install-{}", std::process::id()));
        let (from, to, installed) = (home.join("from"), home.join("to"), Cell::new(0));
        fs::create_dir_all(&from)?;
        let install = |lock: &str| -> Result<()> {
            fs::write(from.join("package.json"), "{}")?;
            fs::write(from.join("package-lock.json"), lock)?;
            once(&from, &to, &["package.json", "package-lock.json"], || {
                let is_empty = fs::read_dir(&to)?.next().is_none();
                installed.set(installed.get() + 1);
                fs::write(to.join("package"), lock)?;
                ensure!(is_empty, "something is left of before");
                Ok(())
            })
        };
        install("old")?;
        install("old")?;
        install("new")?;
        assert_eq!(installed.get(), 2);
        Ok(fs::remove_dir_all(home)?)
    }
}
