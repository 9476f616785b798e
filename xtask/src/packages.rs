//! The tools that the tests call and the Debian packages they come from.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Result;
use nix::unistd::Uid;

use crate::{process::Group, test::Outcome};

/// Program, Debian package.
const TOOLS: &[(&str, &str)] = &[
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("faketime", "faketime"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3"),
    ("redis-server", "redis-server"),
    ("setpriv", "util-linux"),
];

/// Installs what is missing if nobody needs to be asked, else says what to type.
pub(crate) fn ensure() -> Result<Outcome> {
    let mut missing: Vec<&str> = TOOLS.iter().filter(|tool| !on_path(tool.0)).map(|tool| tool.1).collect();
    missing.extend((!makes_environments()).then_some("python3-venv"));
    let root = Uid::effective().is_root();
    let ask_nobody = env::var_os("CI").is_some_and(|ci| ci == "true") || (root && on_debian());
    if missing.is_empty() || (ask_nobody && install(&missing, root)?) {
        return Ok(Outcome::passed());
    }
    println!(
        "The tests need packages that are not installed. Type:\n\n    {}\n",
        line(&missing, sudo(root, "sudo "))
    );
    Ok(Outcome::PackagesMissing)
}

fn install(packages: &[&str], root: bool) -> Result<bool> {
    let line = line(packages, sudo(root, "sudo -n "));
    println!("{line}");
    let mut shell = Command::new("sh");
    let status = Group::spawn(shell.args(["-c", &line]).env("DEBIAN_FRONTEND", "noninteractive"))?.wait()?;
    Ok(status.success())
}

fn line(packages: &[&str], sudo: &str) -> String {
    let packages = packages.join(" ");
    format!("{sudo}apt-get update && {sudo}apt-get install -y --no-install-recommends {packages}")
}

fn sudo(root: bool, prefix: &str) -> &str {
    if root { "" } else { prefix }
}

fn on_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

fn on_path(program: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(program).is_file())
}

/// Whether Python can make virtual environments, for which Debian has a package of its own.
fn makes_environments() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_whole_line_to_type() {
        assert_eq!(
            line(&["curl", "chromium"], sudo(false, "sudo ")),
            "sudo apt-get update && sudo apt-get install -y --no-install-recommends curl chromium"
        );
        assert!(line(&["curl"], sudo(true, "sudo ")).starts_with("apt-get update && apt-get install"));
    }

    #[test]
    fn finds_a_program_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program-anywhere"));
    }
}
