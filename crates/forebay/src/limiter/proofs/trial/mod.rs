//! One subject's history, played to the scripts and held against every law at every step.

mod judge;
mod settle;

use super::{
    model::{Model, Rule, Taken},
    scripts::{Scripts, Verdict},
};
use crate::limiter::{Mode, backend::Hold};

/// One thing that happens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Time passes, in milliseconds.
    Wait(i64),
    /// As much time as the last refusal named, and this much more or less.
    Return(i64),
    Check(i64),
    Peek(i64),
    /// Gives a check, counted back from the newest that was admitted, another cost.
    Settle(usize, i64),
    /// The server's clock jumps, and no time passes.
    Jump(i64),
    /// The subject gets another tier.
    Tier(usize),
    /// Somebody takes the key's life limit away.
    Persist,
}

/// What a check was granted.
pub(super) struct Held {
    pub(super) cost: i64,
    at: i64,
    hold: Hold,
    rules: Vec<Rule>,
    settled: bool,
}

pub(super) struct Trial {
    pub(super) scripts: Scripts,
    pub(super) model: Model,
    pub(super) admitted: Vec<Held>,
    mode: Mode,
    tiers: Vec<Vec<Rule>>,
    rules: Vec<Rule>,
    retry: i64,
    /// Whether the server's clock ever went back while there was a key.
    went_back: bool,
}

impl Trial {
    pub(super) fn new(scripts: Scripts, tiers: &[Vec<Rule>]) -> Self {
        Self {
            mode: scripts.mode(),
            scripts: scripts.of(tiers),
            model: Model::default(),
            admitted: Vec::new(),
            tiers: tiers.to_vec(),
            rules: tiers[0].clone(),
            retry: 0,
            went_back: false,
        }
    }

    /// Plays a history, and says after which step which law was broken.
    pub(super) fn play(&mut self, steps: &[Step]) -> Result<(), String> {
        steps.iter().enumerate().try_for_each(|(index, step)| {
            self.step(step).map_err(|broken| format!("step {index}, {step:?}: {broken}"))
        })
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Wait(ms) | Step::Jump(ms) => self.scripts.step(ms),
            Step::Return(more) => self.scripts.step((self.retry + more).max(0)),
            Step::Check(cost) => return self.check(cost).map(drop),
            Step::Peek(cost) => return self.peek(cost).map(drop),
            Step::Settle(back, actual) => return self.settle(back, actual),
            Step::Tier(tier) => self.rules = self.tiers[tier].clone(),
            Step::Persist => self.scripts.persist(),
        }
        Ok(())
    }

    pub(super) fn check(&mut self, cost: i64) -> Result<Verdict, String> {
        let (now, before) = (self.scripts.now(), self.scripts.entry());
        let at = self.age(before.is_none())?;
        let went_back = self.model.clock.went_back(now);
        let verdict = self.scripts.ask(cost, true, &self.rules)?;
        self.keeps_to_the_definition(&verdict, at, cost)?;
        if verdict.admitted {
            self.model.clock.write(now);
            self.take(Taken { at, cost, most: cost, check: self.admitted.len() });
            let (hold, rules) = (verdict.hold.clone(), self.rules.clone());
            self.admitted.push(Held { cost, at, hold, rules, settled: false });
            self.keeps_the_bound(at)?;
        } else {
            self.consumed_nothing(&before, went_back)?;
            self.retry = verdict.retry;
            self.names_the_instant(verdict.retry, cost)?;
        }
        self.counts(&verdict, at)?;
        Ok(verdict)
    }

    /// A peek says what a check would, and takes nothing.
    pub(super) fn peek(&mut self, cost: i64) -> Result<Verdict, String> {
        let (now, before) = (self.scripts.now(), self.scripts.entry());
        let at = self.age(before.is_none())?;
        let went_back = self.model.clock.went_back(now);
        let verdict = self.scripts.ask(cost, false, &self.rules)?;
        self.keeps_to_the_definition(&verdict, at, cost)?;
        self.consumed_nothing(&before, went_back)?;
        self.counts(&verdict, at)?;
        Ok(verdict)
    }

    /// What is taken counts in the windows that were asked. In a log the others see it too while it is there.
    fn take(&mut self, taken: Taken) {
        self.model.take(&self.rules, taken);
        if self.mode == Mode::Log {
            let asked = |rule: &&Rule| self.rules.iter().any(|own| own.window == rule.window);
            let others: Vec<_> = self.tiers.iter().flatten().filter(|rule| !asked(rule)).copied().collect();
            self.model.take(&others, Taken { cost: 0, ..taken });
        }
    }
}
