//! A script, known to the server by its hash once it has been sent in full.

/// A script put together from files beside the caller.
macro_rules! script {
    ($($file:literal),+) => {
        std::sync::LazyLock::new(|| $crate::redis::Script::new(concat!($(include_str!($file)),+)))
    };
}
pub(crate) use script;

/// A script of constant text; every key it touches is among its keys.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) text: &'static str,
    pub(super) hash: String,
}

impl Script {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text, hash: redis::Script::new(text).get_hash().to_owned() }
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }
}
