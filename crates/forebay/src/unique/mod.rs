//! "How many different ones?": visitors counted by the day.

mod home;

pub(crate) use self::home::Home;
