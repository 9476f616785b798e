//! Runs the shell blocks of the pages for users as a reader would type them: page by page, in order, in one shell each,
//! from the root.

mod block;
mod expect;
mod shell;

use std::{
    collections::BTreeSet,
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use self::{
    block::{Block, Mode},
    shell::Session,
};
use crate::{process::Group, root, test::Outcome, totals::Totals};

/// Each block counts as one test; the first that fails ends the run.
pub(crate) fn run() -> Result<Outcome> {
    let mut totals = Totals::default();
    for page in pages()? {
        totals += read(&page).with_context(|| page.display().to_string())?;
        if totals.failed > 0 {
            return Ok(Outcome::Failed(totals));
        }
    }
    ensure!(totals.ran() > 0, "no page has a ```sh block");
    Ok(Outcome::Passed(totals))
}

/// The README, and what it leads to, from the root.
fn pages() -> Result<Vec<PathBuf>> {
    let within = |folder: &str| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(root().join(folder))?;
        let mut names: Vec<_> = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        Ok(names.into_iter().map(|name| Path::new(folder).join(name)).collect())
    };
    let docs = within("docs")?.into_iter().filter(|page| page.extension().is_some_and(|end| end == "md"));
    let examples = within("examples")?.into_iter().map(|folder| folder.join("README.md"));
    let mut pages = vec![PathBuf::from("README.md")];
    pages.extend(docs.chain(examples).filter(|page| root().join(page).exists()));
    Ok(pages)
}

/// What is left running ends with the page.
fn read(page: &Path) -> Result<Totals> {
    let blocks = block::parse(&fs::read_to_string(root().join(page))?)?;
    for port in ports(&blocks) {
        TcpListener::bind(("127.0.0.1", port)).with_context(|| {
            format!("it uses port {port}, which is taken: stop what listens on 127.0.0.1:{port}")
        })?;
    }
    let scratch = tempfile::tempdir()?;
    let mut session = Session::start(scratch.path())?;
    let mut servers = Vec::new();
    let mut totals = Totals::default();
    for block in &blocks {
        println!("--- {}:{}{}\n{}", page.display(), block.line, block.mode, block.script.trim_end());
        match play(block, &mut session, &mut servers) {
            Ok(one) => totals += one,
            Err(error) => {
                println!("error: {}:{}: {error:#}", page.display(), block.line);
                totals += Totals::FAILED;
                break;
            }
        }
    }
    Ok(totals)
}

fn play(block: &Block, session: &mut Session, servers: &mut Vec<Group>) -> Result<Totals> {
    match &block.mode {
        Mode::Skip(_) => return Ok(Totals::SKIPPED),
        Mode::Background(until) => {
            servers.push(shell::serve(&session.script(block)?, until, block.expected.as_deref())?);
        }
        Mode::Foreground => {
            let output = session.run(block)?;
            if let Some(expected) = &block.expected {
                let shown = expected.trim_end();
                ensure!(
                    expect::matches(expected, &output),
                    "printed something else than the page says, which is:\n{shown}"
                );
            }
        }
    }
    Ok(Totals::PASSED)
}

/// The ports of this machine that the blocks talk to.
fn ports(blocks: &[Block]) -> BTreeSet<u16> {
    let run = blocks.iter().filter(|block| !matches!(block.mode, Mode::Skip(_)));
    run.flat_map(|block| ["127.0.0.1:", "localhost:"].map(|host| block.script.split(host).skip(1)))
        .flatten()
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_ports_that_the_blocks_use() {
        let text = "```sh\ncurl -s 127.0.0.1:7340/livez\ncurl http://localhost:7350/products/1\n```\n\
                    <!-- readme-test: skip because it is not for you -->\n```sh\ncurl localhost:1\n```\n";
        assert_eq!(ports(&block::parse(text).unwrap()), BTreeSet::from([7340, 7350]));
    }
}
