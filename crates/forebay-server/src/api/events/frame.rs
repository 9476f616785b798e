//! Events as they are written.

use std::time::Duration;

use forebay::topic::{Deaf, Heard, Id, Message};
use serde_json::{Value, json};

/// A comment, which clients pass over.
pub(super) const KEEP_ALIVE: &str = ":\n\n";

/// When to come back after a loss, and behind which event.
pub(super) fn hello(again: Duration, last: Option<Id>) -> String {
    let mut frame = format!("retry: {}\n", again.as_millis());
    if let Some(id) = last {
        frame += &format!("id: {id}\n");
    }
    frame + "\n"
}

pub(super) fn of(heard: &Heard) -> String {
    match heard {
        Heard::Message(message) => of_message(message),
        Heard::Deaf(Deaf::Begins) => deaf(&json!({ "why": "begins" })),
        Heard::Deaf(Deaf::Missed(count)) => missed(*count),
        // It is heard again, and a client has to look up what it has missed meanwhile.
        Heard::Deaf(_) => deaf(&json!({ "why": "over" })),
    }
}

/// So many messages were missed, where that is known.
pub(super) fn missed(count: Option<u64>) -> String {
    deaf(&json!({ "why": "missed", "missed": count }))
}

fn deaf(why: &Value) -> String {
    format!("event: deaf\ndata: {why}\n\n")
}

fn of_message(message: &Message) -> String {
    let mut frame = message.id.map_or_else(String::new, |id| format!("id: {id}\n"));
    match message.text() {
        Some(text) => lines(text).for_each(|line| frame += &format!("data: {line}\n")),
        // A service that uses the library may publish any bytes.
        None => frame += &format!("event: hex\ndata: {}\n", hex::encode(&message.payload)),
    }
    frame + "\n"
}

/// The lines of a text, however they end; clients put them together with `\n`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_its_event_or_begin_another() {
        for (text, expected) in [
            ("", [""].as_slice()),
            ("a\n\nid: 7\n", &["a", "", "id: 7", ""]),
            ("a\r\nb\rc", &["a", "b", "c"]),
            ("\r\r\n", &["", "", ""]),
        ] {
            assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
