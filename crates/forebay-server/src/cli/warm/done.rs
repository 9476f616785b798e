//! Which ids are done, in this run and in those before.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::Path,
};

use crate::cli::Failure;

/// The ids of a file, to which each one is added when it is done: nothing of it is lost if the program is killed.
///
/// A line is a space, a blank and an id: those of one space say nothing about another.
#[derive(Debug)]
pub(super) struct Done {
    space: String,
    before: HashSet<String>,
    file: Option<File>,
}

impl Done {
    pub(super) fn open(path: Option<&Path>, space: &str) -> Result<Self, Failure> {
        let mut done = Self { space: space.to_owned(), before: HashSet::new(), file: None };
        let Some(path) = path else { return Ok(done) };
        let refuse = |error: io::Error| Failure::Usage(format!("{} (--resume): {error}", path.display()));
        let file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(refuse)?;
        let of_space =
            |line: String| line.split_once(' ').filter(|(of, _)| *of == space).map(|(_, id)| id.to_owned());
        let before = BufReader::new(&file).lines().filter_map(|line| line.map(of_space).transpose());
        done.before = before.collect::<Result<_, _>>().map_err(refuse)?;
        done.file = Some(file);
        // What was cut short is not taken for the beginning of another id.
        done.write("").map_err(refuse)?;
        Ok(done)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.before.contains(id)
    }

    /// Takes note of one that is done.
    pub(super) fn note(&mut self, id: &str) -> Result<(), Failure> {
        let line = format!("{} {id}", self.space);
        self.write(&line).map_err(|error| Failure::Undone(format!("cannot note that {id} is done: {error}")))
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{line}\n").as_bytes()))
    }
}
