//! Which node has which slot.

use std::sync::Arc;

use super::node::Node;

/// The slots of a cluster, as its specification counts them.
pub(super) const SLOTS: u16 = 16384;

/// The nodes, and the slots of each.
#[derive(Debug)]
pub(super) struct Topology {
    nodes: Vec<Arc<Node>>,
    /// Ends of runs of slots, ascending and inclusive, with the place of the node that has the run.
    runs: Vec<(u16, Option<usize>)>,
}

impl Topology {
    pub(super) fn unknown() -> Self {
        Self { nodes: Vec::new(), runs: Vec::new() }
    }

    pub(super) fn of_one(node: Arc<Node>) -> Self {
        Self { nodes: vec![node], runs: vec![(SLOTS - 1, Some(0))] }
    }

    /// Takes ranges of slots, inclusive, each with its node.
    pub(super) fn of(mut ranges: Vec<(u16, u16, Arc<Node>)>) -> Self {
        ranges.sort_by_key(|(first, ..)| *first);
        let mut topology = Self::unknown();
        let mut next = 0;
        for (first, last, node) in ranges {
            if first > next {
                topology.runs.push((first - 1, None));
            }
            let place = topology.place(node);
            topology.runs.push((last, Some(place)));
            next = last.saturating_add(1);
        }
        topology
    }

    fn place(&mut self, node: Arc<Node>) -> usize {
        let held = self.nodes.iter().position(|other| Arc::ptr_eq(other, &node));
        held.unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    /// The node that has `key`; without one, any that can be used.
    pub(super) fn node(&self, key: Option<&str>) -> Option<Arc<Node>> {
        let Some(key) = key else {
            return self.nodes.iter().find(|node| !node.is_down()).or(self.nodes.first()).cloned();
        };
        if let [only] = &*self.nodes
            && self.runs.len() == 1
        {
            return Some(only.clone());
        }
        let slot = slot(key);
        let run = self.runs.partition_point(|(last, _)| *last < slot);
        self.runs.get(run)?.1.map(|place| self.nodes[place].clone())
    }

    /// Whether every slot has a node.
    pub(super) fn is_whole(&self) -> bool {
        self.uncovered().is_empty()
    }

    /// Runs of slots without a node, first and last.
    pub(super) fn uncovered(&self) -> Vec<(u16, u16)> {
        let (mut missing, mut next) = (Vec::new(), 0);
        let end = (SLOTS - 1, None);
        for (last, place) in self.runs.iter().chain([&end]) {
            if place.is_none() && next <= *last {
                missing.push((next, *last));
            }
            next = last + 1;
        }
        missing
    }

    pub(super) fn nodes(&self) -> Vec<Arc<Node>> {
        self.nodes.clone()
    }

    /// Whether every slot has the node that it has in `other`.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let named = |topology: &Self| -> Vec<(u16, Option<String>)> {
            let name = |place: usize| topology.nodes[place].name.clone();
            topology.runs.iter().map(|(last, place)| (*last, place.map(name))).collect()
        };
        named(self) == named(other)
    }
}

/// The slot of a key: CRC16 of what is between its first braces, as the Redis Cluster Specification says.
fn slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(tag, _)| tag);
    let hashed = tag.filter(|tag| !tag.is_empty()).unwrap_or(key);
    crc16::State::<crc16::XMODEM>::calculate(hashed.as_bytes()) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_no_node_has_are_told_wherever_they_lie() {
        let of =
            |runs: &[(u16, Option<usize>)]| Topology { nodes: Vec::new(), runs: runs.to_vec() }.uncovered();
        let whole = [(5, Some(0)), (SLOTS - 1, Some(1))];
        assert_eq!(of(&whole), []);
        assert_eq!(of(&[]), [(0, SLOTS - 1)]);
        let holes = [(4, None), (100, Some(0)), (101, None), (16_000, Some(1))];
        assert_eq!(of(&holes), [(0, 4), (101, 101), (16_001, SLOTS - 1)]);
    }

    #[test]
    fn slots_are_those_of_the_specification() {
        // From the specification's appendix, and as `CLUSTER KEYSLOT` answers.
        assert_eq!(slot("123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot("{user1000}.following"), slot("{user1000}.followers"));
        assert_eq!(slot("foo{}{bar}"), crc16::State::<crc16::XMODEM>::calculate(b"foo{}{bar}") % SLOTS);
        assert_eq!(slot("foo{{bar}}zap"), slot("{{bar}"));
    }
}
