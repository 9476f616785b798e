//! `page`: looks at the dashboard of the server in a browser.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    process::{self, Group},
    root, target,
    test::Outcome,
    totals::Totals,
};

/// The tests and what they need, beside which nothing is installed.
const TESTS: &str = "crates/forebay-server/tests/page";

const LOCK: &str = "package-lock.json";

/// The lock file of what is installed to its end.
const INSTALLED: &str = "installed.json";

/// The browser driver wants it.
const LEAST_NODE: u32 = 18;

/// Runs the tests in a folder of their own inside the target directory, where their screenshots stay.
pub(crate) fn run() -> Result<Outcome> {
    let folder = target().join("page");
    fs::create_dir_all(&folder)?;
    check_node()?;
    install(&folder)?;
    for old in scripts(&folder)? {
        fs::remove_file(old)?;
    }
    for script in scripts(&root().join(TESTS))? {
        copy(&script, &folder)?;
    }
    let mut build = process::cargo();
    build.args(["build", "--quiet", "--locked", "--package", "forebay-server"]).current_dir(root());
    ensure!(Group::spawn(&mut build)?.wait()?.success(), "the server cannot be built");
    let (node, lines) = Group::spawn_reading(tests(&folder), |line| println!("{line}"))?;
    let success = node.wait()?.success();
    let totals: Totals = lines.iter().map(|line| of_line(&line)).sum();
    println!("screenshots are in {}", folder.join("shots").display());
    let passed = success && totals.failed == 0 && totals.passed > 0;
    Ok(if passed { Outcome::Passed(totals) } else { Outcome::Failed(totals) })
}

fn tests(folder: &Path) -> Command {
    let mut node = process::command("node");
    // One at a time: what is measured should not be what the others do.
    node.args(["--test", "--test-reporter=tap", "--test-concurrency=1"])
        .current_dir(folder)
        .env("FOREBAY", target().join("debug/forebay"))
        .env("PAGE_SHOTS", folder.join("shots"));
    node
}

fn check_node() -> Result<()> {
    let output = process::command("node").arg("--version").output().context("cannot start node")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    let is_new = major.is_some_and(|major| major >= LEAST_NODE);
    ensure!(
        is_new,
        "node is {version}, and has to be v{LEAST_NODE} or later; Debian has it from 12 (bookworm) on"
    );
    Ok(())
}

/// Installs what the lock file names, unless it is there.
fn install(folder: &Path) -> Result<()> {
    let wanted = fs::read(root().join(TESTS).join(LOCK))?;
    if fs::read(folder.join(INSTALLED)).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    for file in ["package.json", LOCK] {
        copy(&root().join(TESTS).join(file), folder)?;
    }
    let mut npm = process::command("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    let done = Group::spawn(&mut npm)?.wait()?.success();
    ensure!(done, "npm cannot install what {TESTS}/{LOCK} names");
    fs::write(folder.join(INSTALLED), wanted)?;
    Ok(())
}

fn scripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(|path| path.extension().is_some_and(|end| end == "js")).collect())
}

fn copy(file: &Path, folder: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::copy(file, folder.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    Ok(())
}

/// Reads `# pass 5`, `# fail 1` and `# skipped 2`, with which the test runner of node ends.
fn of_line(line: &str) -> Totals {
    let count = |name: &str| {
        let number = line.strip_prefix("# ").and_then(|rest| rest.strip_prefix(name)?.strip_prefix(' '));
        number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    };
    Totals { passed: count("pass"), failed: count("fail") + count("cancelled"), skipped: count("skipped") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_what_node_tells_at_its_end() {
        let lines = [
            "ok 1 - # pass 7",
            "# tests 8",
            "# pass 5",
            "# fail 1",
            "# cancelled 1",
            "# skipped 2",
            "# todo 9",
        ];
        let totals: Totals = lines.map(of_line).into_iter().sum();
        assert_eq!(totals, Totals { passed: 5, failed: 2, skipped: 2 });
    }
}
