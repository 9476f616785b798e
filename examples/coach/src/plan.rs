//! `POST /generate-plan`: one plan of a runner is drawn at a time, and none overwrites a later one.

use std::time::Duration;

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use forebay::lock::{Held, LockError};
use serde::{Deserialize, Serialize};

use crate::{
    body::{Body, Example, Text},
    problem::Problem,
    runners::Runner,
    service::Coach,
};

/// For how long an instance that was killed keeps the others out. While it draws, its lock is renewed.
const LIFE: Duration = Duration::from_secs(5);

pub(crate) fn router() -> Router<Coach> {
    Router::new().route("/generate-plan", post(generate))
}

#[derive(Deserialize)]
struct Wish {
    goal: Text,
}

impl Example for Wish {
    const EXAMPLE: &str = r#"{"goal": "10 km in 45 minutes"}"#;
}

#[derive(Serialize)]
struct Plan {
    user: String,
    goal: String,
    plan: String,
    /// How often it was written.
    revision: u32,
    /// Under which it was written.
    fence: u64,
}

async fn generate(
    State(coach): State<Coach>,
    runner: Runner,
    Body(Wish { goal }): Body<Wish>,
) -> Result<(StatusCode, Json<Plan>), Problem> {
    // Whoever comes second is told so at once: waiting would draw the plan a second time.
    let lock = coach.forebay.lock(&format!("plan:{}", runner.id)).time_to_live(LIFE).wait(Duration::ZERO);
    let plan = lock.run(|held| coach.draw(runner, goal.into(), held)).await??;
    Ok((StatusCode::CREATED, Json(plan)))
}

impl Coach {
    /// Dropped where the lock is lost meanwhile. A write that is under way then is refused by its fence.
    async fn draw(&self, runner: Runner, goal: String, held: Held) -> Result<Plan, Problem> {
        let wish = format!("Draw a plan of four weeks for this goal: {goal}");
        let plan = self.model.complete(&runner.id, &runner.prompt(), &wish).await?.text;
        let fence = held.fence();
        let revision = self.store.put_plan(&runner.id, &goal, &plan, fence).await?;
        let revision = revision.ok_or_else(Problem::overtaken)?;
        Ok(Plan { user: runner.id, goal, plan, revision, fence })
    }
}

impl From<LockError> for Problem {
    fn from(why: LockError) -> Self {
        match why {
            LockError::Busy { retry_after } => Self::plan_is_drawn(retry_after),
            LockError::Lost => Self::lost(),
            // Also when nobody knows whether somebody draws: nothing is drawn beside it.
            why => Self::unavailable(&why),
        }
    }
}
