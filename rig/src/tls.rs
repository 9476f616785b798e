//! A server that is also spoken with over TLS, under an authority that nobody else knows.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::{port, redis::Redis};

const AUTHORITY: &[&str] = &["-subj", "/CN=rig authority", "-keyout", "ca.key", "-out", "ca.crt"];

const SERVER: &[&str] = &[
    "-subj",
    "/CN=rig",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-addext",
    "basicConstraints=critical,CA:FALSE",
    "-CA",
    "ca.crt",
    "-CAkey",
    "ca.key",
    "-keyout",
    "server.key",
    "-out",
    "server.crt",
];

/// A server of one's own, which ends as [`Redis`] does.
#[derive(Debug)]
pub struct Tls {
    redis: Redis,
    port: u16,
    folder: TempDir,
}

impl Tls {
    /// Makes the certificates with `openssl` (3.0 or later) and starts a server with them.
    ///
    /// # Panics
    ///
    /// If there is no `openssl`, or the server speaks no TLS.
    pub fn start() -> Self {
        let folder = TempDir::with_prefix("forebay-rig-").expect("a folder can be created");
        certify(folder.path(), AUTHORITY);
        certify(folder.path(), SERVER);
        let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let [authority, key, certificate] = ["ca.crt", "server.key", "server.crt"].map(file);
        let port = port::free();
        let redis = Redis::with(&[
            "--tls-port",
            &port.to_string(),
            "--tls-ca-cert-file",
            &authority,
            "--tls-key-file",
            &key,
            "--tls-cert-file",
            &certificate,
            "--tls-auth-clients",
            "no",
        ]);
        Self { redis, port, folder }
    }

    /// The address as clients take it.
    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }

    /// The server, asked without TLS.
    pub fn redis(&self) -> &Redis {
        &self.redis
    }

    /// The file of the authority's certificate.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }
}

fn certify(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("openssl");
    command
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-days", "2"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    let output = command.output().expect("openssl is installed");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
