//! `/ops/cache/{space}/{id}`: all that is known of one id, for operators.

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use forebay::cache::{Found, InMemory, Inspection, Standing, StoredEntry};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{self, millis};
use crate::{
    app::Shared,
    config::Scope,
    content::Content,
    error::{Kind, Problem},
    extract::{KnownTarget, Named, Query},
};

/// The parameter that asks for the value, too.
const VALUE: &str = "value";

/// How much of an entry is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    WithoutValue,
    WithValue,
}

/// What is known of one id.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Inspection)]
pub(crate) struct Inspected {
    pub(crate) space: String,
    pub(crate) id: String,
    /// What the memory of this server has; `null` if it has nothing.
    pub(crate) memory: Option<InThisServer>,
    /// What the store has.
    pub(crate) store: InTheStore,
    /// What stands in the place of the lease, if anything does.
    pub(crate) lease: Option<Lease>,
    /// Whether this server is about to load the id, or waits for it.
    pub(crate) under_way: bool,
}

/// How a value is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Age {
    Fresh,
    Stale,
}

/// A value, or an absence, in process memory.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = InspectedMemory)]
pub(crate) struct InThisServer {
    /// Whether reads are answered with it.
    pub(crate) used: bool,
    pub(crate) absent: bool,
    pub(crate) bytes: u64,
    pub(crate) age_ms: u64,
    pub(crate) fresh_for_ms: u64,
    pub(crate) used_for_ms: u64,
    pub(crate) entry: String,
}

/// What the store has.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[schema(as = InspectedStore)]
pub(crate) enum InTheStore {
    /// Redis cannot be asked, or a change of the id waits until it can.
    Unavailable,
    Nothing,
    Unreadable {
        reason: String,
        bytes: usize,
        left_ms: u64,
    },
    Entry(Box<Stored>),
}

/// An entry in the store.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = InspectedEntry)]
pub(crate) struct Stored {
    /// Whether it can be handed out: `null` where its numbers could not be asked for.
    pub(crate) current: Option<bool>,
    pub(crate) age: Age,
    pub(crate) absent: bool,
    pub(crate) age_ms: u64,
    pub(crate) fresh_for_ms: u64,
    pub(crate) stale_for_ms: u64,
    /// What it takes in the store.
    pub(crate) stored_bytes: usize,
    /// How long the value is.
    pub(crate) value_bytes: usize,
    pub(crate) encoding: String,
    pub(crate) codec: u8,
    pub(crate) content_type: Option<String>,
    pub(crate) validator: Option<String>,
    pub(crate) load_ms: f64,
    pub(crate) tags: Vec<Tag>,
    pub(crate) entry: String,
    /// The bytes as base64, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) value: Option<String>,
}

/// A tag of an entry.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = InspectedTag)]
pub(crate) struct Tag {
    pub(crate) tag: String,
    /// Whether it was not invalidated since the entry was loaded.
    pub(crate) current: Option<bool>,
}

/// What stands in the place of a lease.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[schema(as = InspectedLease)]
pub(crate) enum Lease {
    /// Somebody loads, whose token begins with `holder`.
    Held { holder: String, left_ms: u64, awaited: bool },
    /// A load failed a moment ago.
    Failed { left_ms: u64 },
    /// Every caller loads for itself for a while.
    Unshared { left_ms: u64 },
}

/// Answers what the levels have. It takes no lease and counts as no read.
#[utoipa::path(
    get, path = "/ops/cache/{space}/{id}", tag = "operations",
    params(
        ("value" = Option<u64>, Query, nullable = false, description = "1: with the value, in base64; the token needs the scope `data` as well", minimum = 1, maximum = 1),
    ),
    responses(
        (status = 200, description = "What the levels have", body = Inspected),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader]))),
)]
pub(crate) async fn inspect(
    State(app): State<Shared>,
    Named(name): Named,
    KnownTarget { space, id }: KnownTarget,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let told = match Query::read(&uri, &[VALUE])?.flag(VALUE)? {
        true => Told::WithValue,
        false => Told::WithoutValue,
    };
    if told == Told::WithValue {
        app.tokens.require(&[Scope::Data], &headers)?;
    }
    let Some(space) = space else {
        let store = InTheStore::Nothing;
        let nothing = Inspected { space: name, id, memory: None, store, lease: None, under_way: false };
        return Ok(answer::json(&nothing));
    };
    let Inspection { memory, store, is_under_way: under_way, .. } = space.cache.inspect(&id).await;
    let (store, lease) = match store {
        Some(seen) => (found(&seen.entry, told), seen.lease.map(Lease::from)),
        None => (InTheStore::Unavailable, None),
    };
    let memory = memory.map(InThisServer::from);
    Ok(answer::json(&Inspected { space: name, id, memory, store, lease, under_way }))
}

fn found(found: &Found<Content>, told: Told) -> InTheStore {
    match found {
        Found::Nothing => InTheStore::Nothing,
        Found::Unreadable { reason, bytes, left, .. } => {
            let reason = (*reason).to_owned();
            InTheStore::Unreadable { reason, bytes: *bytes, left_ms: millis(*left) }
        }
        Found::Entry(entry) => InTheStore::Entry(Box::new(stored(entry, told))),
        _ => InTheStore::Unavailable,
    }
}

fn stored(entry: &StoredEntry<Content>, told: Told) -> Stored {
    let value = entry.value.as_ref().filter(|_| told == Told::WithValue);
    let tags = entry.tags.iter().map(|tag| Tag { tag: tag.tag.clone(), current: tag.is_current });
    Stored {
        current: entry.is_current,
        age: if entry.fresh_for.is_zero() { Age::Stale } else { Age::Fresh },
        absent: entry.value.is_none(),
        age_ms: millis(entry.age),
        fresh_for_ms: millis(entry.fresh_for),
        stale_for_ms: millis(entry.stale_for),
        stored_bytes: entry.stored_bytes,
        value_bytes: entry.payload_bytes,
        encoding: if entry.is_compressed { "zstd" } else { "none" }.to_owned(),
        codec: entry.codec,
        content_type: entry.content_type.clone(),
        validator: entry.validator.as_deref().map(str::to_owned),
        load_ms: entry.load_time.as_secs_f64() * 1e3,
        tags: tags.collect(),
        entry: number(entry.id),
        value: value.map(|content| STANDARD.encode(&content.bytes)),
    }
}

/// The number of an entry as its `ETag` has it.
fn number(id: u64) -> String {
    format!("{id:016x}")
}

impl From<InMemory> for InThisServer {
    fn from(memory: InMemory) -> Self {
        Self {
            used: memory.is_in_use,
            absent: memory.is_absence,
            bytes: memory.bytes,
            age_ms: millis(memory.age),
            fresh_for_ms: millis(memory.fresh_for),
            used_for_ms: millis(memory.used_for),
            entry: number(memory.id),
        }
    }
}

impl From<Standing> for Lease {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Held { holder, left, is_awaited, .. } => {
                Self::Held { holder, left_ms: millis(left), awaited: is_awaited }
            }
            Standing::Failed(left) => Self::Failed { left_ms: millis(left) },
            Standing::Unshared(left) => Self::Unshared { left_ms: millis(left) },
            _ => Self::Unshared { left_ms: 0 },
        }
    }
}
