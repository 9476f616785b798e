//! `forebay inspect`: what is known of one id.

use base64::{Engine, engine::general_purpose::STANDARD};
use clap::Args;
use reqwest::Method;

use super::{
    Failure, Verdict,
    client::Reach,
    output::{Output, Paint, Report},
    wait_for,
    words::{bytes, millis, printable, span},
};
use crate::api::inspect::{Age, InTheStore, InThisServer, Inspected, Lease, Stored, Tag};

/// Shows what is known of one id: in the server's memory, in the store, and who loads it
///
/// It takes no lease and counts as no read. The token needs the scope `ops`. Exit code 1 where the store cannot be asked.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The space
    space: String,

    /// The id
    id: String,

    /// Prints the value, too, for which the token needs the scope `data` as well
    #[arg(long)]
    value: bool,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

impl Inspect {
    pub(super) fn run(&self) -> Result<Verdict, Failure> {
        let inspected = wait_for(self.ask())?;
        self.output.tell(&inspected)?;
        Ok(match inspected.store {
            InTheStore::Unavailable => Verdict::Unwell,
            _ => Verdict::Well,
        })
    }

    async fn ask(&self) -> Result<Inspected, Failure> {
        let client = self.reach.client()?;
        let request = client.request(Method::GET, &["ops", "cache", &self.space, &self.id])?;
        let request = if self.value { request.query(&[("value", "1")]) } else { request };
        client.read(client.send(request).await?).await
    }
}

impl Report for Inspected {
    fn text(&self, paint: Paint) -> String {
        let mut lines = vec![format!("{} {}", printable(&self.space), paint.bold(&printable(&self.id)))];
        let mut line = |name: &str, text: String| lines.push(format!("  {name:7} {text}"));
        line("memory", self.memory.as_ref().map_or("nothing".to_owned(), |memory| in_memory(memory, paint)));
        line("store", in_store(&self.store, paint));
        if let InTheStore::Entry(stored) = &self.store {
            for text in about(stored) {
                line("", text);
            }
            for (at, tag) in stored.tags.iter().enumerate() {
                line(if at == 0 { "tags" } else { "" }, tagged(tag, paint));
            }
        }
        line("lease", lease(self.lease.as_ref()));
        if self.under_way {
            line("", "this server is about to load it, or waits for it".to_owned());
        }
        lines.extend(value(&self.store));
        lines.join("\n") + "\n"
    }
}

fn in_memory(memory: &InThisServer, paint: Paint) -> String {
    let what = if memory.absent { "an absence" } else { "the value" };
    let used = match memory.used {
        true => paint.good(&format!("{what}, in use for {}", millis(memory.used_for_ms))),
        false => paint.dim(&format!("{what}, out of use")),
    };
    format!("{used}; {}, {} old", bytes(memory.bytes), millis(memory.age_ms))
}

fn in_store(store: &InTheStore, paint: Paint) -> String {
    match store {
        InTheStore::Unavailable => {
            paint.bad("cannot be asked, or a change of the id still waits to be sent to it")
        }
        InTheStore::Nothing => "nothing".to_owned(),
        InTheStore::Unreadable { reason, bytes: size, left_ms } => {
            let size = bytes(*size as u64);
            let foreign = "which no server has written (foreign key); the next load replaces it";
            match reason.as_str() {
                "foreign_type" => return paint.bad(&format!("something that is no string, {foreign}")),
                "no_expiry" => return paint.bad(&format!("{size} without an expiry, {foreign}")),
                _ => {}
            }
            paint.bad(&format!(
                "{size} that no server of this version can read ({reason}), for {}",
                millis(*left_ms)
            ))
        }
        InTheStore::Entry(stored) => life(stored, paint),
    }
}

fn life(stored: &Stored, paint: Paint) -> String {
    let what = if stored.absent { "an absence, " } else { "" };
    let (fresh, stale) = (millis(stored.fresh_for_ms), millis(stored.stale_for_ms));
    match (stored.current, stored.age, stored.stale_for_ms) {
        (Some(false), ..) => paint.doubtful(&format!("{what}invalidated: nobody is given it")),
        (_, Age::Fresh, 0) => paint.good(&format!("{what}fresh for {fresh}")),
        (_, Age::Fresh, _) => paint.good(&format!("{what}fresh for {fresh}, then stale for {stale}")),
        (_, Age::Stale, _) => paint.doubtful(&format!("{what}stale, for {stale} more")),
    }
}

/// What a stored entry is, in lines.
fn about(stored: &Stored) -> Vec<String> {
    let packed = if stored.encoding == "none" { String::new() } else { format!(" as {}", stored.encoding) };
    let (size, value) = (bytes(stored.stored_bytes as u64), bytes(stored.value_bytes as u64));
    let mut first = format!("{size} stored{packed}, {value} of value");
    if let Some(content_type) = &stored.content_type {
        first += &format!(", {}", printable(content_type));
    }
    let loaded = match stored.load_ms {
        0.0 => "load time unknown".to_owned(),
        ms => format!("took {} to load", span(std::time::Duration::from_secs_f64(ms / 1e3))),
    };
    let mut lines = vec![first, format!("{} old, {loaded}, entry {}", millis(stored.age_ms), stored.entry)];
    lines.extend(stored.validator.as_ref().map(|validator| format!("validator {}", printable(validator))));
    lines
}

fn tagged(tag: &Tag, paint: Paint) -> String {
    let name = printable(&tag.tag);
    match tag.current {
        Some(true) => name,
        Some(false) => paint.doubtful(&format!("{name}, invalidated since")),
        None => format!("{name}, not known to be current"),
    }
}

fn lease(lease: Option<&Lease>) -> String {
    match lease {
        None => "free".to_owned(),
        Some(Lease::Held { holder, left_ms, awaited }) => {
            let awaited = if *awaited { "; others wait for it" } else { "" };
            format!("held for {} by the token {holder}…{awaited}", millis(*left_ms))
        }
        Some(Lease::Failed { left_ms }) => {
            format!("a load failed; the origin is left alone for {}", millis(*left_ms))
        }
        Some(Lease::Unshared { left_ms }) => {
            format!("the last value was not to be stored; everybody loads alone for {}", millis(*left_ms))
        }
    }
}

/// The value, where it was asked for.
fn value(store: &InTheStore) -> Vec<String> {
    let InTheStore::Entry(stored) = store else { return Vec::new() };
    let Some(bytes) = stored.value.as_ref().and_then(|value| STANDARD.decode(value).ok()) else {
        return Vec::new();
    };
    match String::from_utf8(bytes) {
        Ok(text) => std::iter::once(String::new()).chain(text.lines().map(printable)).collect(),
        Err(_) => vec![String::new(), "It is no text; --json has it in base64.".to_owned()],
    }
}
