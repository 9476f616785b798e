//! `POST /payments`: each is charged once, whatever its client retries.

use std::{num::NonZeroU32, time::Duration};

use anyhow::Result;
use axum::{
    Extension, Json, Router,
    extract::State,
    http::StatusCode,
    middleware::from_extractor,
    response::{IntoResponse, Response},
    routing::post,
};
use forebay::{
    Forebay,
    http::{Effect, IdempotencyLayer},
    lock::{Guard, LockError},
    once::OnIndeterminate,
};
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

/// For how long retries are told to wait that come after a crash, and how long an order stays kept from others then. While
/// a payment runs both are renewed.
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

/// Runs once for each `Idempotency-Key` of a runner, and to its end, also when the client goes away. What was paid under
/// another key, or what a Redis has forgotten that was lost, the row of the order still knows.
async fn pay(
    State(coach): State<Coach>,
    Runner { id, .. }: Runner,
    Body(Order { order, cents }): Body<Order>,
) -> Result<Response, Problem> {
    let order = String::from(order);
    let (_alone, charged) = match coach.begin(&id, &order).await {
        Ok(begun) => begun,
        // Nothing was done: the next one under this key is no replay of it.
        Err(problem) => return Ok((Extension(Effect::None), problem).into_response()),
    };
    let charge = match charged {
        Some(charge) => charge,
        None => coach.charge(&id, &order, cents.get()).await?,
    };
    if charge.cents != cents.get() {
        return Err(Problem::other_amount(&charge));
    }
    Ok((StatusCode::CREATED, Json(charge)).into_response())
}

impl Coach {
    /// Keeps an order from whoever would pay it under another key at the same time, and looks whether somebody has.
    async fn begin(&self, runner: &str, order: &str) -> Result<(Guard, Option<Charge>), Problem> {
        let lock = self.forebay.lock(&format!("payment:{runner}:{order}")).time_to_live(LEASE).wait(LEASE);
        let alone = lock.acquire().await.map_err(|why| match why {
            LockError::Busy { retry_after } => Problem::order_is_being_paid(retry_after),
            why => why.into(),
        })?;
        Ok((alone, self.store.charged(runner, order).await?))
    }

    /// Has the bank charge a runner. After a crash in the midst of this it is told again: a real one is sent the order as a
    /// key of its own, by which it knows that it was.
    async fn charge(&self, runner: &str, order: &str, cents: u32) -> Result<Charge, sqlx::Error> {
        sleep(BANK / 2).await;
        self.store.tell_bank(runner, order).await?;
        let charge = self.store.charge(runner, order, cents).await?;
        // The way back is as long: who goes away now has paid.
        sleep(BANK / 2).await;
        Ok(charge)
    }
}
