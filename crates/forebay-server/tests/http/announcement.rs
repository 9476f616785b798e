//! What the server says at its start, pasted into a shell.

use std::process::Command;

use crate::support::Server;

#[test]
fn the_lines_that_it_proposes_work() {
    if Command::new("curl").arg("--version").output().is_err() {
        return eprintln!("skipped: this machine has no curl");
    }
    let server = Server::start();
    let lines: Vec<_> = server.announcement.lines().filter(|line| line.starts_with("  curl")).collect();
    assert_eq!(lines.len(), 3, "{}", server.announcement);

    let answers = lines.iter().map(|line| {
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    });

    let [put, get, fill] = answers.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((put.as_str(), fill.as_str()), ("", ""));
    assert!(get.starts_with("HTTP/1.1 200 OK") && get.ends_with("hello"), "{get}");
}
