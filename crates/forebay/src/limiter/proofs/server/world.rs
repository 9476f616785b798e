//! The keys of the small Redis, their lives, and the rules that every script must keep.

use std::collections::HashMap;

use super::sorted::Sorted;

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Value {
    Text(Vec<u8>),
    Sorted(Sorted),
    /// A hash, list, set or stream: every command of a script meets the wrong type.
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Entry {
    pub(in super::super) value: Value,
    /// When it goes, on the server's clock.
    pub(in super::super) deadline: Option<i64>,
}

pub(super) struct World {
    /// Milliseconds since 1970.
    pub(super) now: i64,
    pub(super) horizon: i64,
    /// Whether a number that does not fit a packed field is cut off.
    pub(super) lenient: bool,
    pub(super) published: Vec<(Vec<u8>, Vec<u8>)>,
    entries: HashMap<Vec<u8>, Entry>,
    declared: Vec<Vec<u8>>,
    /// How many scripts have run.
    pub(super) runs: i64,
    /// Which of the keys had no TTL before the script.
    endless: Vec<Vec<u8>>,
    /// What a script did that none may, even where it caught the error.
    broken: Vec<String>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            now: 1_700_000_000_123,
            horizon: i64::MAX,
            lenient: false,
            published: Vec::new(),
            entries: HashMap::new(),
            declared: Vec::new(),
            runs: 0,
            endless: Vec::new(),
            broken: Vec::new(),
        }
    }
}

impl World {
    pub(super) fn begin(&mut self, keys: &[&str]) {
        self.declared = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        self.broken.clear();
        self.runs += 1;
        let mut declared = self.declared.clone();
        declared.retain(|key| self.live(key).is_some_and(|entry| entry.deadline.is_none()));
        self.endless = declared;
    }

    /// Errs when the script broke a rule, or made a key that lives for ever or longer than the horizon.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        for key in self.declared.clone() {
            let (now, horizon) = (self.now, self.horizon);
            let Some(entry) = self.live(&key) else { continue };
            match entry.deadline.map(|deadline| deadline - now) {
                None if !self.endless.contains(&key) => self.blame("left a key without TTL".into()),
                Some(left) if left > horizon => {
                    self.blame(format!("left a TTL of {left} ms, past the horizon of {horizon} ms"));
                }
                _ => {}
            }
        }
        self.broken.first().map_or(Ok(()), |broken| Err(format!("a script {broken}")))
    }

    pub(super) fn blame(&mut self, what: String) {
        self.broken.push(what);
    }

    pub(super) fn touch(&mut self, key: &[u8]) {
        if !self.declared.iter().any(|declared| declared == key) {
            self.blame(format!("touched {:?}, which is not in KEYS", String::from_utf8_lossy(key)));
        }
    }

    /// What lies under `key`, if its life is not over. Like Redis, a key lives through its last millisecond.
    pub(super) fn live(&mut self, key: &[u8]) -> Option<&mut Entry> {
        let over = |entry: &Entry| entry.deadline.is_some_and(|deadline| self.now > deadline);
        if self.entries.get(key).is_some_and(over) {
            self.entries.remove(key);
        }
        self.entries.get_mut(key)
    }

    pub(super) fn put(&mut self, key: &[u8], value: Value, life: Option<i64>) {
        let deadline = life.map(|life| self.now + life);
        self.entries.insert(key.to_vec(), Entry { value, deadline });
    }

    pub(super) fn restore(&mut self, key: &[u8], entry: Option<Entry>) {
        self.entries.remove(key);
        self.entries.extend(entry.map(|entry| (key.to_vec(), entry)));
    }

    pub(super) fn persist(&mut self, key: &[u8]) {
        if let Some(entry) = self.live(key) {
            entry.deadline = None;
        }
    }

    /// Gives a key so many milliseconds from now, and removes it if that is none.
    pub(super) fn expire(&mut self, key: &[u8], life: i64) -> bool {
        let deadline = self.now + life;
        let Some(entry) = self.live(key) else { return false };
        entry.deadline = Some(deadline);
        if life <= 0 {
            self.remove(key);
        }
        true
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let lives = self.live(key).is_some();
        self.entries.remove(key);
        lives
    }
}
