//! Whether a contestant of ours is ahead of its peers, and why where it is not.

use std::fmt;

use serde::Serialize;

use crate::table::{Table, median};

/// What is within this factor of a peer, up or down, is level with it: less than that means nothing.
pub const LEVEL: f64 = 1.2;

/// Which of two figures is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The larger one.
    More,
    /// The smaller one.
    Less,
}

/// Why one of ours may be behind some peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Because {
    /// Of these, or of any peer where none is named.
    pub peers: &'static [&'static str],
    /// What it does that they do not.
    pub reason: &'static str,
    /// What is going to be done about it.
    pub plan: &'static str,
}

/// How one of ours stands beside its peers.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// Its name in the table.
    pub ours: &'static str,
    /// Beside each of them, the best one first.
    pub beside: Vec<Standing>,
}

/// How one of ours stands beside one peer.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The peer's name in the table.
    pub peer: &'static str,
    /// By which factor ours is better: the median over the rounds.
    pub lead: f64,
    /// What was said beforehand about being behind this peer.
    pub because: Option<Because>,
}

impl Table {
    /// Compares `ours` with each of `peers`. Of several reasons that name a peer, or none, the first one counts.
    ///
    /// # Panics
    ///
    /// Panics if one of them was not measured.
    pub fn judge(&mut self, ours: &'static str, peers: &[&'static str], better: Better, because: &[Because]) {
        let mut beside: Vec<_> = peers
            .iter()
            .map(|&peer| Standing {
                peer,
                lead: self.lead(ours, peer, better),
                because: because.iter().find(|because| because.is_about(peer)).copied(),
            })
            .collect();
        beside.sort_by(|one, other| one.lead.total_cmp(&other.lead));
        self.verdicts.push(Verdict { ours, beside });
    }

    /// All contestants whose names are not among `ours`, nor among `floors`, which do less than any peer could.
    pub fn peers(&self, ours: &[&str], floors: &[&str]) -> Vec<&'static str> {
        let names = self.figures.iter().map(|figure| figure.name);
        names.filter(|name| !ours.contains(name) && !floors.contains(name)).collect()
    }

    fn lead(&self, ours: &str, peer: &str, better: Better) -> f64 {
        let [ours, peer] = [ours, peer].map(|name| &self.figure(name).samples);
        let leads = ours.iter().zip(peer).map(|(&ours, &peer)| match better {
            Better::More => factor(ours, peer),
            Better::Less => factor(peer, ours),
        });
        median(&leads.collect::<Vec<_>>())
    }
}

/// Nothing is as much as nothing, and waiting for ever as long as waiting for ever.
fn factor(figure: f64, of: f64) -> f64 {
    if figure.total_cmp(&of).is_eq() { 1.0 } else { figure / of }
}

impl Because {
    fn is_about(&self, peer: &str) -> bool {
        self.peers.is_empty() || self.peers.contains(&peer)
    }
}

impl Verdict {
    /// The peers that ours is behind.
    pub fn behind(&self) -> impl Iterator<Item = &Standing> {
        self.beside.iter().filter(|standing| standing.is_behind())
    }
}

impl Standing {
    /// Whether the peer is better by more than means nothing.
    pub fn is_behind(&self) -> bool {
        self.lead * LEVEL < 1.0
    }

    /// By which factor the peer is better.
    pub fn by(&self) -> String {
        if self.lead > 0.0 { format!("{:.2}", 1.0 / self.lead) } else { "∞".to_owned() }
    }

    fn is_level(&self) -> bool {
        !self.is_behind() && self.lead <= LEVEL
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.ours)?;
        let is_ahead = |standing: &&Standing| !standing.is_behind() && !standing.is_level();
        let level: Vec<_> = self.beside.iter().filter(|one| one.is_level()).collect();
        let behind: Vec<_> = self.behind().collect();
        let mut ahead = self.beside.iter().filter(is_ahead);
        if behind.is_empty() && level.is_empty() {
            return match ahead.next() {
                Some(Standing { peer, lead, .. }) if lead.is_finite() => {
                    write!(f, "ahead of every peer, of the best, {peer}, by a factor of {lead:.2}")
                }
                _ => write!(f, "ahead of every peer"),
            };
        }
        let listed = behind.iter().map(|one| format!("{} by a factor of {}", one.peer, one.by()));
        if !behind.is_empty() {
            write!(f, "**behind** {}", listed.collect::<Vec<_>>().join(", "))?;
        }
        if !level.is_empty() {
            let comma = if behind.is_empty() { "" } else { "; " };
            let listed = level.iter().map(|one| format!("{} ({:.2})", one.peer, one.lead));
            write!(f, "{comma}level with {}", listed.collect::<Vec<_>>().join(", "))?;
        }
        if ahead.next().is_some() { write!(f, "; ahead of all others") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Samples;

    const SLOWER: Because = Because { peers: &["map"], reason: "It has lives.", plan: "None." };

    fn table(figures: &[(&'static str, f64)]) -> Table {
        let samples = figures.iter().map(|&(name, figure)| Samples { name, samples: vec![figure; 3] });
        Table::new("row", figures[0].0, samples.collect())
    }

    fn judged(better: Better, figures: &[(&'static str, f64)]) -> Verdict {
        let mut table = table(figures);
        let peers = table.peers(&["ours"], &["floor"]);
        table.judge("ours", &peers, better, &[SLOWER]);
        table.verdicts.remove(0)
    }

    #[test]
    fn a_row_that_is_ahead_names_the_best_peer() {
        let figures = [("ours", 10.0), ("map", 30.0), ("cache", 20.0), ("floor", 1.0)];
        let verdict = judged(Better::Less, &figures);
        assert_eq!(verdict.to_string(), "ours: ahead of every peer, of the best, cache, by a factor of 2.00");
    }

    #[test]
    fn behind_level_and_ahead_are_told_apart_by_a_fifth() {
        let figures = [("ours", 100.0), ("map", 125.0), ("tie", 115.0), ("cache", 50.0)];
        let verdict = judged(Better::More, &figures);
        let told = "ours: **behind** map by a factor of 1.25; level with tie (0.87); ahead of all others";
        assert_eq!(verdict.to_string(), told);
        assert_eq!(verdict.behind().next().and_then(|map| map.because), Some(SLOWER));
    }

    #[test]
    fn none_is_level_with_none_and_ahead_of_some() {
        let verdict = judged(Better::Less, &[("ours", 0.0), ("map", 0.0), ("cache", 5.0)]);
        assert_eq!(verdict.to_string(), "ours: level with map (1.00); ahead of all others");
    }

    #[test]
    fn an_answer_is_ahead_of_a_wait_for_ever() {
        let verdict = judged(Better::Less, &[("ours", 5.0), ("map", f64::INFINITY)]);
        assert_eq!(verdict.to_string(), "ours: ahead of every peer");
    }
}
