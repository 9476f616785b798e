//! Plans, drawn by one instance at a time, and never overwritten by one that was late.

use std::time::Duration;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State, rejection::JsonRejection},
    routing::put,
};
use forebay::{
    Forebay,
    lock::{Held, LockError},
};
use serde::Deserialize;

use crate::{
    database::{Database, Plan},
    outside::Model,
    problem::Problem,
};

/// For how long an instance that was killed keeps the others out. While it draws, its lock is renewed.
const LIFE: Duration = Duration::from_secs(2);

/// Longer than the model usually takes.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct Plans {
    forebay: Forebay,
    model: Model,
    database: Database,
}

pub(crate) fn router(forebay: Forebay, model: Model, database: Database) -> Router {
    let plans = Plans { forebay, model, database };
    Router::new().route("/plans/{id}", put(draw).get(drawn)).with_state(plans)
}

#[derive(Deserialize)]
struct Wish {
    goal: String,
}

async fn draw(
    State(plans): State<Plans>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Plan>, Problem> {
    let Json(Wish { goal }) = Json::from_bytes(&body).map_err(|why: JsonRejection| Problem::no_goal(&why))?;
    Ok(Json(plans.draw(&id, &goal).await?))
}

async fn drawn(State(plans): State<Plans>, Path(id): Path<String>) -> Result<Json<Plan>, Problem> {
    plans.database.plan(&id).await?.map(Json).ok_or_else(|| Problem::no_plan(&id))
}

impl Plans {
    async fn draw(&self, id: &str, goal: &str) -> Result<Plan, Problem> {
        let lock = self.forebay.lock(&format!("plan:{id}")).time_to_live(LIFE).wait(PATIENCE);
        lock.run(|held| self.draw_alone(id, goal, held)).await?
    }

    /// Dropped where the lock is lost meanwhile. A write that is under way then is refused by its fence.
    async fn draw_alone(&self, id: &str, goal: &str, held: Held) -> Result<Plan, Problem> {
        let present = self.database.plan(id).await?;
        // Somebody had it drawn while this request waited.
        if let Some(plan) = present.filter(|plan| plan.goal == goal) {
            return Ok(plan);
        }
        let (steps, fence) = (self.model.plan(goal).await, held.fence());
        let revision = self.database.put_plan(id, goal, &steps, fence).await?;
        let revision = revision.ok_or_else(Problem::overtaken)?;
        Ok(Plan { id: id.into(), goal: goal.into(), steps, revision, fence })
    }
}

impl From<LockError> for Problem {
    fn from(why: LockError) -> Self {
        match why {
            LockError::Busy { retry_after } => Self::busy(retry_after),
            LockError::Lost => Self::lost(),
            // Also when nobody knows whether somebody draws: nothing is drawn beside it.
            why => Self::unavailable(&why),
        }
    }
}
