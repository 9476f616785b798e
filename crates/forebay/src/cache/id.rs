//! An id as its caller spells it, and as keys do.

use std::{borrow::Cow, sync::Arc};

use crate::key::encode;

/// An id as its caller spelled it, and as it is spelled in keys.
#[derive(Debug, Clone)]
pub(crate) struct Id {
    pub(crate) given: Arc<str>,
    pub(crate) key: Arc<str>,
}

impl Id {
    pub(crate) fn new(given: &str) -> Self {
        let whole: Arc<str> = given.into();
        match encode(given) {
            Cow::Borrowed(same) if same.len() == given.len() => Self { key: whole.clone(), given: whole },
            encoded => Self { key: encoded.as_ref().into(), given: whole },
        }
    }
}
