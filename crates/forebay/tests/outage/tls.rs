//! Over TLS, a server is used if its authority is trusted; if not, the status says that.

use std::{env, path::Path, process::Command};

use forebay::cache::{Invalidated, Put};
use forebay_rig::Tls;

use crate::{
    stage::{PATIENCE, key, process, read, status, works},
    timing::until,
};

/// Tells the process in which a test runs once more where its server is.
const URL: &str = "FOREBAY_TEST_TLS";

/// Runs `test` once more, in a process that trusts the authority in this file and nobody else.
fn trusting(authority: &Path, test: &str, url: &str) {
    let mut command = Command::new(env::current_exe().expect("a test is a program"));
    command.args(["--exact", test, "--nocapture"]).env(URL, url).env("SSL_CERT_FILE", authority);
    let output = command.env_remove("SSL_CERT_DIR").output().expect("a program runs twice");
    let said = [&*output.stdout, &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn a_server_whose_authority_is_trusted_is_used() {
    let Ok(url) = env::var(URL) else {
        let server = Tls::start();
        trusting(&server.authority(), "tls::a_server_whose_authority_is_trusted_is_used", &server.url());
        let stored = server.redis().call(&["EXISTS", &key("kept")]);
        return assert_eq!(stored, "1", "what the other process has stored");
    };
    let (forebay, cache) = process(&url).await;
    until(PATIENCE, || works(&forebay)).await.unwrap_or_else(|| panic!("{:?}", status(&forebay)));
    for id in ["gone", "kept"] {
        assert_eq!(cache.put(id, "old".to_owned()).await.expect("it can be stored"), Put::Stored);
    }
    assert_eq!(cache.invalidate("gone").await, Invalidated::Everywhere);
    assert_eq!(read(&cache, "gone", "new").await, "new");
    assert!(forebay.shutdown(PATIENCE).await);
}

#[tokio::test]
async fn a_server_of_another_authority_is_not_used_and_the_status_says_why() {
    let Ok(url) = env::var(URL) else {
        let [server, stranger] = [Tls::start(), Tls::start()];
        let name = "tls::a_server_of_another_authority_is_not_used_and_the_status_says_why";
        return trusting(&stranger.authority(), name, &server.url());
    };
    let (forebay, cache) = process(&url).await;
    let says = || status(&forebay).reason.is_some_and(|why| why.contains("certificate is not trusted"));
    until(PATIENCE, says).await.unwrap_or_else(|| panic!("{:?}", status(&forebay)));
    assert_eq!(read(&cache, "a", "loaded").await, "loaded");
    assert!(!status(&forebay).usable);
}
