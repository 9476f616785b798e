//! Payments, each charged once whatever its client retries.

use std::{num::NonZeroU32, time::Duration};

use anyhow::Result;
use axum::{
    Json, Router,
    body::Bytes,
    extract::{State, rejection::JsonRejection},
    http::StatusCode,
    middleware::from_extractor,
    routing::post,
};
use forebay::{Forebay, http::IdempotencyLayer};
use serde::Deserialize;

use crate::{
    database::{Charge, Database},
    keys::User,
    outside::Bank,
    problem::Problem,
};

/// For how long retries are told to wait that come after a crash. While a payment runs its lease is renewed.
const LEASE: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct Payments {
    bank: Bank,
    database: Database,
}

pub(crate) fn router(forebay: &Forebay, bank: Bank, database: Database) -> Result<Router> {
    let once = IdempotencyLayer::new(forebay.idempotency().lease(LEASE).build()?).required();
    Ok(Router::new()
        // In front of paying, which is a POST. Reading is repeated as often as one likes.
        .route("/payments", post(pay).get(paid).layer(once))
        // Whoever is not known is told so, and not that keys are for callers who are.
        .route_layer(from_extractor::<User>())
        .with_state(Payments { bank, database }))
}

#[derive(Deserialize)]
struct Order {
    order: String,
    cents: NonZeroU32,
}

/// Runs once for each `Idempotency-Key` of a user, and to its end, also when the client goes away.
async fn pay(
    State(Payments { bank, .. }): State<Payments>,
    User(payer): User,
    body: Bytes,
) -> Result<(StatusCode, Json<Charge>), Problem> {
    let Json(Order { order, cents }) =
        Json::from_bytes(&body).map_err(|why: JsonRejection| Problem::no_order(&why))?;
    let cents = cents.get();
    let id = bank.charge(payer.as_str(), &order, cents).await?;
    Ok((StatusCode::CREATED, Json(Charge { id, order, cents })))
}

async fn paid(
    State(Payments { database, .. }): State<Payments>,
    User(payer): User,
) -> Result<Json<Vec<Charge>>, Problem> {
    Ok(Json(database.charges(payer.as_str()).await?))
}
