//! A script, known to the server by its hash once it has been sent in full.

/// A script put together from files beside the caller, with the word that it has in figures.
macro_rules! script {
    ($word:literal: $($file:literal),+) => {
        std::sync::LazyLock::new(|| $crate::redis::Script::new($word, concat!($(include_str!($file)),+)))
    };
}
pub(crate) use script;

/// A script of constant text; every key it touches is among its keys.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) word: &'static str,
    pub(super) text: &'static str,
    pub(super) hash: String,
}

impl Script {
    pub(crate) fn new(word: &'static str, text: &'static str) -> Self {
        Self { word, text, hash: redis::Script::new(text).get_hash().to_owned() }
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }
}
