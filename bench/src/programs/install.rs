//! Installs what a program needs, in the exact versions of its folder, beside what cargo builds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::{Language, Source};

/// The folder with what the program needs.
pub(super) fn installed(source: Source) -> Result<PathBuf> {
    let (folder, from) = (target()?.join(source.folder), source.folder());
    fs::create_dir_all(&folder)?;
    let versions = match source.language {
        Language::Python => "requirements.txt",
        Language::Node => "package.json",
    };
    let (wanted, done) = (fs::read(from.join(versions))?, folder.join("installed"));
    let is_there = fs::read(&done).is_ok_and(|installed| installed == wanted);
    match source.language {
        Language::Python if !is_there => python(&from.join(versions), &folder)?,
        Language::Node => node(source, &folder, is_there)?,
        Language::Python => {}
    }
    fs::write(done, wanted)?;
    Ok(folder)
}

/// `peers/` in cargo's target folder, wherever that is.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).context("a program lies in the folder of its profile")?;
    Ok(target.join("peers"))
}

fn python(versions: &Path, folder: &Path) -> Result<()> {
    run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"]).arg(versions))
}

/// Node looks for packages beside the script, which is therefore copied.
fn node(source: Source, folder: &Path, is_there: bool) -> Result<()> {
    for file in ["package.json", source.script] {
        fs::copy(source.folder().join(file), folder.join(file))?;
    }
    if is_there {
        return Ok(());
    }
    let quiet = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"];
    run(Command::new("npm").args(quiet).current_dir(folder))
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{program}: {}", said.lines().last().unwrap_or("failed"));
    Ok(())
}
