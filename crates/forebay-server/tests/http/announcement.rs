//! What the server says at its start, pasted into a shell.

use std::process::Command;

use crate::support::Server;

/// Nobody listens there.
const FILE: &str = "[redis]\nurl = \"redis://web:secret@127.0.0.1:1\"";

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

#[test]
fn it_names_the_store_and_where_that_is_without_the_password() {
    let said = &Server::with(FILE).announcement;
    assert!(said.contains("Redis at 127.0.0.1:1: ") && !said.contains("secret"), "{said}");

    let said = &Server::start().announcement;
    assert!(said.contains("memory store"), "{said}");
}

#[test]
fn the_url_of_redis_comes_from_flag_variable_or_file_in_this_order_unless_memory_is_forced() {
    let variable = ("FOREBAY_REDIS_URL", "redis://127.0.0.1:2");
    let flag = ["--redis", "redis://127.0.0.1:3"];
    let said =
        |flag: &[&str], variables: &[(&str, &str)]| Server::given(flag, variables, FILE).announcement.clone();

    assert!(said(&[], &[variable]).contains("127.0.0.1:2: "));
    assert!(said(&flag, &[variable]).contains("127.0.0.1:3: "));
    assert!(said(&flag, &[variable, ("FOREBAY_STORE", "memory")]).contains("memory store"));
}
