//! "Only once": claims, and work that runs once however often it is asked for.

mod home;

pub(crate) use self::home::Home;
