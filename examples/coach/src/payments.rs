//! `POST /payments`: each is charged once, whatever its client retries.

use std::{num::NonZeroU32, time::Duration};

use anyhow::Result;
use axum::{Json, Router, extract::State, http::StatusCode, middleware::from_extractor, routing::post};
use forebay::{Forebay, http::IdempotencyLayer, once::OnIndeterminate};
use serde::Deserialize;
use tokio::time::sleep;

use crate::{
    body::{Body, Example, Text},
    callers::Known,
    problem::Problem,
    runners::Runner,
    service::Coach,
    store::Charge,
};

/// For how long retries are told to wait that come after a crash. While a payment runs its lease is renewed.
const LEASE: Duration = Duration::from_secs(5);

/// How long the bank takes, which is imitated.
const BANK: Duration = Duration::from_millis(200);

pub(crate) fn router(forebay: &Forebay) -> Result<Router<Coach>> {
    // One whose instance died is carried out again: its order is charged once all the same.
    let once = forebay.idempotency().lease(LEASE).on_indeterminate(OnIndeterminate::Rerun).build()?;
    let payments = Router::new().route("/payments", post(pay).layer(IdempotencyLayer::new(once).required()));
    // Whoever is not known is told so, and not that keys are for callers who are.
    Ok(payments.route_layer(from_extractor::<Known>()))
}

#[derive(Deserialize)]
struct Order {
    order: Text,
    cents: NonZeroU32,
}

impl Example for Order {
    const EXAMPLE: &str = r#"{"order": "7", "cents": 1200}"#;
}

/// Runs once for each `Idempotency-Key` of a runner, and to its end, also when the client goes away. What a Redis has
/// forgotten that was lost, the row of the order still knows.
async fn pay(
    State(coach): State<Coach>,
    Runner { id, .. }: Runner,
    Body(Order { order, cents }): Body<Order>,
) -> Result<(StatusCode, Json<Charge>), Problem> {
    let order = String::from(order);
    sleep(BANK / 2).await;
    coach.store.tell_bank(&id, &order).await?;
    let charge = coach.store.charge(&id, &order, cents.get()).await?;
    // The way back is as long: who goes away now has paid.
    sleep(BANK / 2).await;
    if charge.cents != cents.get() {
        return Err(Problem::other_amount(&charge));
    }
    Ok((StatusCode::CREATED, Json(charge)))
}
