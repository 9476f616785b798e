//! dashmap with its defaults: the concurrent map that services commonly use.

use std::{any::Any, fmt, hint::black_box, sync::Arc};

use contest::{Hit, Hold, Payload, payload};
use dashmap::DashMap;

/// The name in the tables of one that is only read.
pub const GET: &str = "dashmap `get`";

/// A map of values.
#[derive(Debug)]
pub struct Map(DashMap<String, Arc<Payload>>);

impl Map {
    /// A map with a value for each of `keys`.
    pub fn filled(keys: &[String]) -> Self {
        let map = DashMap::new();
        for (number, key) in keys.iter().enumerate() {
            map.insert(key.clone(), Arc::new(payload(number)));
        }
        Self(map)
    }
}

impl Hit for Map {
    fn name(&self) -> &'static str {
        GET
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        for &number in order {
            black_box(self.0.get(&keys[number as usize]).expect("it is there").clone());
        }
    }
}

/// A map of times with its default hasher.
pub struct Deadlines {
    map: DashMap<String, u64>,
}

impl Deadlines {
    /// A map with a time for each of `keys`.
    pub fn filled(keys: &[String]) -> Self {
        let map = DashMap::new();
        for (number, key) in keys.iter().enumerate() {
            map.insert(key.clone(), number as u64);
        }
        Self { map }
    }
}

impl Hit for Deadlines {
    fn name(&self) -> &'static str {
        GET
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        for &number in order {
            black_box(*self.map.get(&keys[number as usize]).expect("it is there"));
        }
    }
}

impl fmt::Debug for Deadlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadlines").field("len", &self.map.len()).finish()
    }
}

/// dashmap as a holder of entries.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "dashmap"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        Box::new(Map::filled(keys))
    }
}
