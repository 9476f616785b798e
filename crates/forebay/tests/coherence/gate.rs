//! A way to the server on which nobody who is new comes through, or no answer to a request for tracking nor anything
//! behind it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// What comes through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    All,
    /// Everything on connections that there are.
    Known,
    /// No answer to a request for tracking that comes from now on.
    Untracked,
}

/// Open until it is shut.
pub(crate) struct Gate {
    pub(crate) url: String,
    pass: watch::Sender<Pass>,
}

impl Gate {
    pub(crate) async fn before(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("redis://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let (pass, mut passes) = watch::channel(Pass::All);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                passes.wait_for(|pass| *pass != Pass::Known).await.ok();
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                tokio::spawn(carry(client, server, passes.clone()));
            }
        });
        Self { url, pass }
    }

    /// Holds up the answers to requests for tracking that come from now on.
    pub(crate) fn hold_answers(&self) {
        self.pass.send_replace(Pass::Untracked);
    }

    /// Holds up new connections.
    pub(crate) fn hold_connections(&self) {
        self.pass.send_replace(Pass::Known);
    }

    pub(crate) fn open(&self) {
        self.pass.send_replace(Pass::All);
    }
}

async fn carry(client: TcpStream, server: TcpStream, passes: watch::Receiver<Pass>) {
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let asked = Arc::new(AtomicBool::new(false));
    tokio::select! {
        () = requests(from_client, to_server, &asked) => {}
        () = replies(from_server, to_client, &asked, passes) => {}
    }
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, asked: &AtomicBool) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        if piece[..read].windows(8).any(|word| word == b"TRACKING") {
            asked.store(true, SeqCst);
        }
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

async fn replies(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    asked: &AtomicBool,
    mut passes: watch::Receiver<Pass>,
) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        if asked.load(SeqCst) && passes.wait_for(|pass| *pass != Pass::Untracked).await.is_err() {
            return;
        }
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}
