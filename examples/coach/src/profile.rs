//! `PUT /profile`: a new profile is committed, and then what was known and said before is forgotten everywhere.

use axum::{Json, Router, extract::State, routing::put};
use forebay::cache::Invalidated;
use serde::Serialize;
use tokio::join;

use crate::{
    body::{Body, Example},
    problem::Problem,
    runners::Runner,
    service::Coach,
    store::Profile,
};

pub(crate) fn router() -> Router<Coach> {
    Router::new().route("/profile", put(change))
}

impl Example for Profile {
    const EXAMPLE: &str = r#"{"vo2max": 52.5, "lt_pace": 255}"#;
}

impl Profile {
    fn is_human(self) -> bool {
        (10.0..=100.0).contains(&self.vo2max) && (120..=900).contains(&self.lt_pace)
    }
}

#[derive(Serialize)]
struct Changed {
    user: String,
    #[serde(flatten)]
    profile: Profile,
    /// Whether all instances know. Otherwise Redis could not be asked, and is told once it can.
    everywhere: bool,
}

async fn change(
    State(coach): State<Coach>,
    Runner { id, .. }: Runner,
    Body(profile): Body<Profile>,
) -> Result<Json<Changed>, Problem> {
    if !profile.is_human() {
        return Err(Problem::no_profile());
    }
    let user = id.clone();
    // A task of its own, since a client that hangs up drops its handler, perhaps between the two.
    let change = tokio::spawn(async move { coach.change_profile(&id, profile).await });
    let everywhere = change.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))?;
    Ok(Json(Changed { user, profile, everywhere }))
}

impl Coach {
    async fn change_profile(&self, user: &str, profile: Profile) -> Result<bool, sqlx::Error> {
        let committed = self.store.set_profile(user, profile).await;
        // Also after an error, which does not prove that nothing was committed.
        let forgotten = join!(self.runners.invalidate(user), self.answers.invalidate(user));
        committed?;
        Ok(forgotten == (Invalidated::Everywhere, Invalidated::Everywhere))
    }
}
