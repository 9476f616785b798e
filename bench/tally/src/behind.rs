//! The chapter on where Forebay is behind: by how much, why, and what is going to be done about it.

use std::fmt;

use crate::{
    table::Table,
    verdict::{Because, LEVEL},
};

const HEAD: &str = "\
Each figure of Forebay is compared with that of every peer in its table. Here is where it is behind one, by more than the
factor of 1.2 that means something; what is within that factor, up or down, is level. A plan of \"none\" says that the
difference is the price of something that is wanted.
";

/// All tables of one run.
#[derive(Debug)]
pub struct Behind<'a>(pub &'a [Table]);

/// What has the same reason in one row.
struct Entry {
    row: &'static str,
    because: Option<Because>,
    figures: Vec<Figure>,
}

/// One of ours in one table, and the peers ahead of it.
struct Figure {
    table: String,
    ours: &'static str,
    peers: Vec<String>,
}

impl Behind<'_> {
    /// Where a peer is ahead, and nobody has said why.
    pub fn unexplained(&self) -> Vec<String> {
        let unexplained = self.entries().into_iter().filter(|entry| entry.because.is_none());
        unexplained.flat_map(|entry| entry.figures).map(|figure| figure.to_string()).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for table in self.0 {
            for (ours, one) in table.verdicts.iter().flat_map(|all| all.behind().map(|one| (all.ours, one))) {
                let (row, because) = (table.row, one.because);
                let is_it = |entry: &Entry| (entry.row, entry.because) == (row, because);
                let at = entries.iter().position(is_it).unwrap_or_else(|| {
                    entries.push(Entry { row, because, figures: Vec::new() });
                    entries.len() - 1
                });
                entries[at].take(&table.title, ours, format!("{} by {}", one.peer, one.by()));
            }
        }
        entries
    }
}

impl Entry {
    fn take(&mut self, table: &str, ours: &'static str, peer: String) {
        match self.figures.last_mut() {
            Some(last) if last.table == table && last.ours == ours => last.peers.push(peer),
            _ => self.figures.push(Figure { table: table.into(), ours, peers: vec![peer] }),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, ours, peers } = self;
        write!(f, "{table}: {ours} behind {}", peers.join(", "))
    }
}

impl fmt::Display for Behind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_assert!(HEAD.contains(&LEVEL.to_string()), "the text has the factor");
        writeln!(f, "\n## Where Forebay is behind\n\n{HEAD}")?;
        let entries = self.entries();
        if entries.is_empty() {
            return writeln!(f, "Nowhere.");
        }
        writeln!(f, "| row | figures, and the factor | reason | plan |\n|---|---|---|---|")?;
        for Entry { row, because, figures } in entries {
            let (reason, plan) = because.map_or(("**no reason given**", "–"), |one| (one.reason, one.plan));
            let figures: Vec<_> = figures.iter().map(ToString::to_string).collect();
            writeln!(f, "| `{row}` | {} | {reason} | {plan} |", figures.join("<br>"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rounds::Samples, verdict::Better};

    const LIVES: Because = Because { peers: &["map"], reason: "It has lives.", plan: "None." };

    fn table(title: &str, because: &[Because]) -> Table {
        let samples =
            [("ours", 2.0), ("map", 1.0)].map(|(name, figure)| Samples { name, samples: vec![figure] });
        let mut table = Table::new("hit", "map", samples.into());
        table.title = title.into();
        table.judge("ours", &["map"], Better::Less, because);
        table
    }

    #[test]
    fn what_has_one_reason_is_one_line() {
        let text = Behind(&[table("One", &[LIVES]), table("Two", &[LIVES])]).to_string();
        let line = "| `hit` | One: ours behind map by 2.00<br>Two: ours behind map by 2.00 | It has lives. | None. |\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn what_nobody_explains_is_said_to_be_so() {
        let tables = [table("One", &[])];
        assert!(Behind(&tables).to_string().contains("**no reason given**"));
        assert_eq!(Behind(&tables).unexplained(), ["One: ours behind map by 2.00"]);
    }
}
