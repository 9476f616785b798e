//! "Does it exist at all?": a Bloom filter, whose "no" can be relied on.

mod home;

pub(crate) use self::home::Home;
