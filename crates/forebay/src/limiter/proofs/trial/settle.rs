//! What a settlement changes in the model, and must change in the key.

use super::{
    super::{laws::law, model::Taken},
    Trial,
};
use crate::limiter::Mode;

impl Trial {
    /// Tells what a check really cost: once, and it counts as long as the check would.
    pub(super) fn settle(&mut self, back: usize, actual: i64) -> Result<(), String> {
        let before = self.scripts.entry();
        let at = self.age(before.is_none())?;
        let Some(check) = self.admitted.len().checked_sub(back + 1) else { return Ok(()) };
        let in_part = self.settles_in_part();
        let held = &mut self.admitted[check];
        if std::mem::replace(&mut held.settled, true) {
            return Ok(());
        }
        let (cost, young) = (held.cost, held.rules.iter().any(|rule| at - held.at < rule.window));
        let settled = self.scripts.settle(&held.hold, [cost, actual], &held.rules)?;
        law(settled || before == self.scripts.entry(), || "nothing was settled, but written".into())?;
        let must = young && before.is_some() && actual < cost && !in_part;
        law(settled || !must, || format!("{cost} of {} were not settled at {at}", held.at))?;
        if settled {
            self.correct(check, actual, at);
        }
        Ok(())
    }

    /// A debt that was partly paid meanwhile is not given back as a whole, nor is the member of a log that bears a clock
    /// which went back.
    fn settles_in_part(&self) -> bool {
        self.mode == Mode::Gcra || (self.mode == Mode::Log && self.went_back)
    }

    /// What was given back counts no more, and what came on top counts as far as there is room.
    fn correct(&mut self, check: usize, actual: i64, at: i64) {
        let held = &self.admitted[check];
        if actual <= held.cost {
            let most = if self.settles_in_part() { held.cost } else { actual };
            self.model.correct(check, actual, most);
        } else if self.mode == Mode::Log {
            let room =
                held.rules.iter().map(|rule| rule.limit - self.model.list(*rule).trailing(rule.window, at));
            let more = room.min().unwrap_or(0).clamp(0, actual - held.cost);
            self.model.take(&held.rules, Taken { at, cost: more, most: more, check });
        } else {
            self.model.correct(check, held.cost, actual);
        }
    }
}
