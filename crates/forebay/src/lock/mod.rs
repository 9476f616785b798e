//! "Only one at a time": locks whose holders are told when they have lost them.

mod home;

pub(crate) use self::home::Home;
