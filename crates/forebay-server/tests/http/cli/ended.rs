//! Verbs that go on, and are told to end.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::{sleep, timeout},
};

use super::{Said, origin::Origin};
use crate::support::{Server, command};

/// Much less than what would be waited for, and much more than a busy machine takes.
const PATIENCE: Duration = Duration::from_secs(40);

/// A verb that runs, and what it says.
struct Running {
    child: Child,
    out: Lines,
    err: Lines,
}

/// The lines of an output, each as soon as it is whole.
struct Lines(UnboundedReceiver<String>);

impl Running {
    fn begin(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command();
        command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child, out: Lines::of(out), err: Lines::of(err) }
    }

    /// Warms these ids, a file of which is at `ids`.
    fn warm(server: &Server, origin: &Origin, ids: &str, arguments: &[&str]) -> Self {
        let (place, template) = (format!("http://{}", server.address), origin.template());
        let always = ["warm", "catalog", "--origin", &template, "--ids", ids];
        Self::begin(&[&always, arguments].concat(), &[("FOREBAY_SERVER", &place)])
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// The exit code, or none if a signal has ended it, and the rest of what it has said.
    async fn ended(mut self) -> Said {
        let status = async {
            loop {
                match self.child.try_wait().unwrap() {
                    Some(status) => break status,
                    None => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let code = timeout(PATIENCE, status).await.expect("it still runs").code();
        Said { code, out: self.out.rest().await, err: self.err.rest().await }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Lines {
    fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = unbounded_channel();
        // Nobody waits for it: it ends with the output, or at the next line once nobody wants that.
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Self(lines)
    }

    /// Of which nothing more is read.
    fn unread() -> Self {
        Self(unbounded_channel().1)
    }

    async fn next(&mut self) -> Option<String> {
        timeout(PATIENCE, self.0.recv()).await.expect("it says nothing more, and does not end")
    }

    /// Waits for these words, whatever is said before them.
    async fn until(&mut self, words: &str) {
        while !self.next().await.unwrap_or_else(|| panic!("it has ended without `{words}`")).contains(words) {
        }
    }

    async fn rest(&mut self) -> String {
        let mut said = String::new();
        while let Some(line) = self.next().await {
            said += &(line + "\n");
        }
        said
    }
}

fn ids(count: usize) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let ids: String = (0..count).map(|n| format!("n-{n}\n")).collect();
    fs::write(file.path(), ids).unwrap();
    file
}

async fn is_asked_for(origin: &Origin, ids: usize) {
    let asked = async {
        while origin.calls().len() < ids {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, asked).await.expect("the origin is not asked");
}

#[tokio::test]
async fn whoever_waits_for_its_turn_is_not_waited_for() {
    let (server, origin, ids) = (Server::start(), Origin::ready().await, ids(3));
    // One each 100 s.
    let arguments = ["--rate", "0.01", "--ttl", "1m"];
    let running = Running::warm(&server, &origin, ids.path().to_str().unwrap(), &arguments);
    is_asked_for(&origin, 1).await;
    running.signal(Signal::SIGINT);
    let said = running.ended().await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("1 loaded") && said.out.contains("interrupted"), "{said:?}");
}

#[tokio::test]
async fn what_was_interrupted_goes_on_where_it_stopped_and_repeats_nothing() {
    let (server, origin, ids) = (Server::start(), Origin::answering(4).await, ids(10));
    let done = NamedTempFile::new().unwrap();
    let arguments =
        ["--resume", done.path().to_str().unwrap(), "--concurrency", "2", "--ttl", "1h", "--json"];
    let begin = || Running::warm(&server, &origin, ids.path().to_str().unwrap(), &arguments);
    let counted = |said: &Said| -> Value {
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("no JSON: {said:?}"))
    };
    let mut running = begin();
    is_asked_for(&origin, 6).await;
    running.signal(Signal::SIGINT);
    running.err.until("what runs is let end").await;
    origin.let_go(100);
    let said = running.ended().await;
    let told = counted(&said);
    assert_eq!(
        (said.code, &told["loaded"], &told["interrupted"]),
        (Some(1), &6.into(), &true.into()),
        "{told}"
    );
    assert_eq!(fs::read_to_string(done.path()).unwrap().matches("catalog n-").count(), 6);

    let said = begin().ended().await;
    let told = counted(&said);
    assert_eq!((said.code, &told["loaded"], &told["before"]), (Some(0), &4.into(), &6.into()), "{told}");
    let calls = origin.calls();
    assert!(calls.len() == 10 && calls.values().all(|calls| *calls == 1), "{calls:?}");
}

#[tokio::test]
async fn a_second_signal_waits_for_nothing() {
    let (server, origin, ids) = (Server::start(), Origin::answering(0).await, ids(3));
    let mut running = Running::warm(&server, &origin, ids.path().to_str().unwrap(), &[]);
    is_asked_for(&origin, 1).await;
    running.signal(Signal::SIGINT);
    running.err.until("a second time does not wait").await;
    running.signal(Signal::SIGINT);
    let said = running.ended().await;
    assert!(said.code == Some(1) && said.out.contains("interrupted"), "{said:?}");
}

#[tokio::test]
async fn a_verb_does_not_outlive_its_terminal() {
    let (server, origin, ids) = (Server::start(), Origin::answering(0).await, ids(3));
    let running = Running::warm(&server, &origin, ids.path().to_str().unwrap(), &[]);
    is_asked_for(&origin, 1).await;
    running.signal(Signal::SIGHUP);
    let said = running.ended().await;
    assert_eq!(said.code, None, "{said:?}");
}

#[tokio::test]
async fn what_goes_on_ends_once_nobody_reads_it() {
    let server = Server::start();
    let place = format!("http://{}", server.address);
    for (arguments, variable) in [
        (&["demo", "--seconds", "600", "--json"][..], ("FOREBAY_STORE", "memory")),
        (&["top", "--json"], ("FOREBAY_SERVER", &place)),
    ] {
        let mut running = Running::begin(arguments, &[variable]);
        let first = running.out.next().await.unwrap();
        assert!(first.starts_with('{'), "{arguments:?}: {first}");
        // As `head -1` does.
        running.out = Lines::unread();
        let said = running.ended().await;
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
