//! Ids, a line each, from a file or the standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek},
    path::Path,
    thread,
};

use tokio::sync::mpsc::{self, Receiver};

use super::Failure;

/// How many lines are read ahead.
const AHEAD: usize = 256;

/// Lines of a file, or of the standard input, as they come.
#[derive(Debug)]
pub(super) struct Ids {
    lines: Receiver<io::Result<String>>,
    count: Option<u64>,
    place: String,
}

impl Ids {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let place = path.display().to_string();
        if path.as_os_str() == "-" {
            return Ok(Self { lines: read(|| Ok(io::stdin())), count: None, place });
        }
        let refuse = |error: io::Error| Failure::Usage(format!("{place} (--ids): {error}"));
        if !path.metadata().map_err(refuse)?.is_file() {
            // What comes through a pipe comes once, and only as soon as somebody writes.
            let path = path.to_owned();
            return Ok(Self { lines: read(|| File::open(path)), count: None, place });
        }
        let (file, count) = counted(path).map_err(refuse)?;
        Ok(Self { lines: read(|| Ok(file)), count: Some(count), place })
    }

    /// How many there are, if that is known before the end.
    pub(super) fn count(&self) -> Option<u64> {
        self.count
    }

    /// The next one, as soon as there is one.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Failure> {
        let refuse = |error| Failure::Undone(format!("{}: {error}", self.place));
        self.lines.recv().await.transpose().map_err(refuse)
    }
}

/// A file, and how many ids it has.
fn counted(path: &Path) -> io::Result<(File, u64)> {
    let mut file = File::open(path)?;
    let count = ids(BufReader::new(&file)).try_fold(0, |count, id| id.map(|_| count + 1))?;
    file.rewind()?;
    Ok((file, count))
}

/// Opens and reads in a thread of its own, as nothing else can be done while a terminal or a pipe is waited for.
fn read<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Receiver<io::Result<String>> {
    let (told, read) = mpsc::channel(AHEAD);
    thread::spawn(move || match open() {
        Ok(place) => ids(BufReader::new(place)).try_for_each(|id| told.blocking_send(id)).ok(),
        Err(error) => told.blocking_send(Err(error)).ok(),
    });
    read
}

/// One of each line that has any.
pub(super) fn ids(lines: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    let id = |line: io::Result<String>| line.map(|line| line.trim().to_owned());
    lines.lines().map(id).filter(|id| !id.as_ref().is_ok_and(String::is_empty))
}
