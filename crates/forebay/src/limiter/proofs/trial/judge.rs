//! Where a trial holds what a script says and leaves behind against the laws.

use super::{
    super::{
        laws::{self, Says, law},
        model::Rule,
        scripts::Verdict,
        server::Entry,
    },
    Trial,
};
use crate::limiter::Mode;

impl Trial {
    /// The key's age now. Where there is no key, nothing may be left that counts.
    pub(super) fn age(&mut self, gone: bool) -> Result<i64, String> {
        let now = self.scripts.now();
        let age = self.model.clock.age(now);
        if gone {
            for rule in self.tiers.iter().flatten() {
                let least = *self.mode.counted(*rule, self.model.list(*rule), age).start();
                law(least == 0, || format!("the key is gone, and {least} of {rule:?} with it"))?;
            }
            self.model.forget(now);
        }
        Ok(age)
    }

    fn says(&mut self, at: i64, cost: i64) -> Says {
        let (mode, model) = (self.mode, &mut self.model);
        laws::all(self.rules.iter().map(|rule| mode.says(*rule, model.list(*rule), at, cost)))
    }

    /// Nothing is admitted or refused against the mode's definition.
    pub(super) fn keeps_to_the_definition(
        &mut self,
        verdict: &Verdict,
        at: i64,
        cost: i64,
    ) -> Result<(), String> {
        let against = if verdict.admitted { Says::Refuse } else { Says::Admit };
        let said = self.says(at, cost);
        law(said != against, || format!("at {at}, {said:?} was right for {cost}, and not {verdict:?}"))?;
        law(verdict.readable, || "a value of ours is unreadable".into())?;
        let ends = self.scripts.entry().is_none_or(|entry| entry.deadline.is_some());
        law(ends, || "a key without life limit was not healed".into())?;
        law(verdict.admitted == (verdict.retry == 0), || format!("{verdict:?} names a false instant"))
    }

    pub(super) fn keeps_the_bound(&mut self, at: i64) -> Result<(), String> {
        let (mode, model) = (self.mode, &mut self.model);
        // What was taken under another tier's limit may still be in the window.
        let most = |rule: &Rule| {
            let alike = self.tiers.iter().flatten().filter(|other| other.window == rule.window);
            alike.map(|other| other.limit).fold(rule.limit, i64::max)
        };
        let mut rules = self
            .rules
            .iter()
            .map(|rule| if mode == Mode::Sliding { Rule { limit: most(rule), ..*rule } } else { *rule });
        rules.try_for_each(|rule| mode.bound(rule, model.list(rule), at))
    }

    /// What a verdict says is used is what the definition counts, and none of it is left when it says so.
    pub(super) fn counts(&mut self, verdict: &Verdict, at: i64) -> Result<(), String> {
        for (rule, (used, reset)) in self.rules.iter().zip(&verdict.windows) {
            let list = self.model.list(*rule);
            let counted = self.mode.counted(*rule, list, at);
            law(counted.contains(&i128::from(*used)), || format!("{rule:?} counts {counted:?}, not {used}"))?;
            let fits = self.tiers.len() > 1 || i128::from(*used) <= self.mode.room(*rule);
            law(fits, || format!("{rule:?} has {used} used, more than there is"))?;
            let left = *self.mode.counted(*rule, list, at + reset).start();
            law(left == 0, || format!("{rule:?} still counts {left} when it is reset, in {reset} ms"))?;
            let before = *self.mode.counted(*rule, list, at + reset - 1).end();
            law(before > 0 || *reset == 0, || format!("{rule:?} is reset late, in {reset} ms"))?;
        }
        Ok(())
    }

    /// After a refusal or a peek all is as it was, but for a clock that went back and a missing life limit.
    pub(super) fn consumed_nothing(&mut self, before: &Option<Entry>, went_back: bool) -> Result<(), String> {
        let now = self.scripts.now();
        if went_back {
            self.model.clock.write(now);
            self.went_back = true;
        }
        let after = self.scripts.entry();
        let healed = went_back || before.as_ref().is_some_and(|entry| entry.deadline.is_none());
        law(healed || *before == after, || format!("{before:?} became {after:?}"))
    }

    /// Who comes back then, with nobody else about, is admitted, and a millisecond before is not. It is not later
    /// than the definition has it, and for `strict` no later than a sub-window after the exact instant.
    pub(super) fn names_the_instant(&mut self, retry: i64, cost: i64) -> Result<(), String> {
        let (entry, now) = (self.scripts.entry(), self.scripts.now());
        for (after, right) in [(retry - 1, false), (retry, true)] {
            self.scripts.step(after);
            let verdict = self.scripts.ask(cost, false, &self.rules)?;
            self.scripts.restore(entry.clone(), now);
            law(verdict.admitted == right, || format!("told {retry} ms, and {after} ms after: {verdict:?}"))?;
        }
        let at = self.model.clock.age(now);
        law(self.says(at + retry, cost) != Says::Refuse, || format!("{retry} ms are too few for {cost}"))?;
        law(self.says(at + retry - 1, cost) != Says::Admit, || {
            format!("{retry} ms are too many for {cost}")
        })?;
        law(self.mode != Mode::Strict || self.in_time(at, retry, cost), || {
            format!("{retry} ms for {cost} are more than a sub-window late")
        })
    }

    /// Whether some window, exactly counted, still refuses a sub-window before the instant.
    fn in_time(&mut self, at: i64, retry: i64, cost: i64) -> bool {
        let model = &mut self.model;
        self.rules.iter().any(|rule| {
            let early = retry - 1 - (rule.window + 9) / 10;
            early < 0 || Mode::Log.says(*rule, &model.list(*rule).at_most(), at + early, cost) == Says::Refuse
        })
    }
}
