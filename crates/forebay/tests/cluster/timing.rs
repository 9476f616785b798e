//! What the callers that are shared with the tests of outages count time by.

pub(crate) use forebay_rig::timed;

pub(crate) use crate::stage::pass;
