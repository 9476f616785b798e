//! Whether scripts run.

use std::sync::LazyLock;

use super::{
    Verdict,
    ailment::Ailment,
    exam::{Exam, Seen},
};
use crate::{
    key::Kind,
    redis::{Reply, Road, Script, script},
};

/// Writes a key with an expiry, and takes it away again.
static TRIAL: LazyLock<Script> = script!("trial": "trial.lua");

const REMEDY: &str =
    "allow EVAL and EVALSHA (ACL SETUSER … +eval +evalsha), and undo a rename-command of these";

impl Exam<'_> {
    pub(super) async fn scripts(&mut self) -> Seen {
        let key = self.keys().scratch(Kind::Claim, &self.home.token());
        let answer = self.redis.run(Road::Usual, &TRIAL, &[key], &[]).await;
        match answer {
            Ok(Reply::Number(1)) => ("they run".to_owned(), Verdict::Well),
            Ok(_) => ("they do not do what they say".to_owned(), Verdict::fault(REMEDY)),
            Err(_) => {
                let refusal = self.redis.refusal().or_else(|| self.redis.trouble());
                let value = refusal.unwrap_or_else(|| "no answer".to_owned());
                let remedy = Ailment::told_by(&value).map_or(REMEDY, |ailment| ailment.remedy);
                (value, Verdict::fault(remedy))
            }
        }
    }
}
