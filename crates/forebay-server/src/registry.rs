//! What is made by its name when it is first asked for, up to a number that no client can exceed.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use crate::error::Problem;

/// How many of one kind clients can make that are not declared.
pub(crate) const UNDECLARED: usize = 1024;

/// All of one kind by their names.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    made: RwLock<HashMap<String, T>>,
    most: usize,
}

impl<T: Clone> Registry<T> {
    /// Begins with those that are declared.
    pub(crate) fn new(declared: HashMap<String, T>) -> Self {
        Self { most: declared.len() + UNDECLARED, made: RwLock::new(declared) }
    }

    /// The one called `name`, if it was made.
    pub(crate) fn find(&self, name: &str) -> Option<T> {
        self.made.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The one called `name`, made now if it is new; `full` is what is said where there are too many.
    pub(crate) fn find_or_make(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Problem>,
        full: impl FnOnce() -> Problem,
    ) -> Result<T, Problem> {
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.get(name) {
            return Ok(found.clone());
        }
        if made.len() >= self.most {
            return Err(full());
        }
        let new = make()?;
        made.insert(name.to_owned(), new.clone());
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn ask(registry: &Registry<u32>, name: &str, value: u32) -> Result<u32, Problem> {
        registry.find_or_make(name, || Ok(value), || Problem::new(Kind::TooManySpaces, "full"))
    }

    #[test]
    fn clients_make_so_many_beside_those_that_are_declared() {
        let registry = Registry::new(HashMap::from([("declared".to_owned(), 7)]));
        for number in 0..UNDECLARED {
            assert_eq!(ask(&registry, &number.to_string(), 1).unwrap(), 1);
        }
        assert!(ask(&registry, "one more", 1).is_err());
        assert_eq!(ask(&registry, "declared", 1).unwrap(), 7);
        assert_eq!(ask(&registry, "5", 2).unwrap(), 1);
    }

    #[test]
    fn what_cannot_be_made_takes_no_place() {
        let registry = Registry::<u32>::new(HashMap::new());
        let refused = Problem::new(Kind::InvalidSpace, "no name");
        let full = || Problem::new(Kind::TooManySpaces, "full");
        assert!(registry.find_or_make("a", || Err(refused), full).is_err());
        assert_eq!(registry.find("a"), None);
    }
}
