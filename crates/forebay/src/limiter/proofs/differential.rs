//! The memory store says what the scripts say, call by call, over the same history.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use proptest::prelude::*;

use super::{
    changes::related,
    histories::{mean, settling, suited, tiers, wandering},
    laws::{MODES, law},
    model::{Rule, rule},
    scripts::{KEY, Scripts, Verdict, longest, natural, tier},
    trial::Step,
};
use crate::{
    clock::{Clock, Manual},
    key::{App, Keys, Name},
    limiter::{
        Mode,
        backend::{Ask, Backend, Hold, Settlement},
        memory::{Counts, MemoryBackend},
    },
};

/// Both stores with one subject, their clocks at one time.
struct Twins {
    scripts: Scripts,
    memory: MemoryBackend,
    clock: Manual,
    tiers: Vec<Vec<Rule>>,
    rules: Vec<Rule>,
    retry: i64,
    held: Vec<Option<Held>>,
}

struct Held {
    cost: i64,
    rules: Vec<Rule>,
    there: Hold,
    here: Hold,
}

impl Twins {
    fn new(mode: Mode, tiers: &[Vec<Rule>]) -> Self {
        let (clock, manual) = Clock::manual();
        let memory = MemoryBackend {
            policy: Name::new("p").unwrap(),
            mode,
            keys: Keys::new(App::new("a").unwrap()),
            counts: Arc::new(Counts::new(clock)),
        };
        let (rules, tiers) = (tiers[0].clone(), tiers.to_vec());
        Self {
            scripts: Scripts::shipped(mode).of(&tiers),
            memory,
            clock: manual,
            tiers,
            rules,
            retry: 0,
            held: Vec::new(),
        }
    }

    fn play(mut self, steps: &[Step]) -> Result<(), String> {
        steps.iter().enumerate().try_for_each(|(index, step)| {
            self.step(step).map_err(|differs| format!("step {index}, {step:?}: {differs}"))
        })
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Wait(ms) => self.pass(ms),
            Step::Return(more) => self.pass((self.retry + more).max(0)),
            Step::Check(cost) => return self.ask(cost, true),
            Step::Peek(cost) => return self.ask(cost, false),
            Step::Settle(back, actual) => return self.settle(back, actual),
            Step::Tier(tier) => self.rules = self.tiers[tier].clone(),
            Step::Jump(_) | Step::Persist => {
                unreachable!("the memory store has no such clock and no such keys")
            }
        }
        Ok(())
    }

    fn pass(&self, ms: i64) {
        self.scripts.step(ms);
        self.clock.advance(Duration::from_millis(natural(ms)));
    }

    /// What counts no more goes at another time in Redis than in memory, and with it the key's own time. Here it goes
    /// at once, so that sub-buckets and fixed windows lie alike.
    fn go_when_empty(&self) -> Result<(), String> {
        for rules in &self.tiers {
            let asked = Ask { tier: &tier(rules, longest(&self.tiers)), cost: 1, take: false, until: None };
            let both = [self.scripts.ask(1, false, rules)?, self.memory.decide("s", asked).into()];
            if both.iter().flat_map(|verdict| &verdict.windows).any(|(used, _)| *used > 0) {
                return Ok(());
            }
        }
        self.scripts.server.command(&["DEL", KEY]);
        self.memory.forget("s");
        Ok(())
    }

    fn ask(&mut self, cost: i64, take: bool) -> Result<(), String> {
        self.go_when_empty()?;
        let script = self.scripts.ask(cost, take, &self.rules)?;
        let memory = self.memory.decide(
            "s",
            Ask { tier: &tier(&self.rules, longest(&self.tiers)), cost: natural(cost), take, until: None },
        );
        let memory = Verdict::from(memory);
        let said = |verdict: &Verdict| (verdict.admitted, verdict.retry, verdict.windows.clone());
        law(said(&script) == said(&memory), || format!("{:?} and {:?}", said(&script), said(&memory)))?;
        self.retry = script.retry;
        if take && script.admitted {
            let (rules, there, here) = (self.rules.clone(), script.hold, memory.hold);
            self.held.push(Some(Held { cost, rules, there, here }));
        }
        Ok(())
    }

    fn settle(&mut self, back: usize, actual: i64) -> Result<(), String> {
        let held = self.held.iter_mut().rev().nth(back).and_then(Option::take);
        let Some(Held { cost, rules, there, here }) = held else { return Ok(()) };
        self.scripts.settle(&there, [cost, actual], &rules)?;
        let [reserved, actual] = [cost, actual].map(natural);
        let settlement =
            Settlement { tier: &tier(&rules, longest(&self.tiers)), hold: &here, reserved, actual };
        self.memory.settle("s", settlement).now_or_never().and_then(Result::ok).ok_or("it never waits")?;
        self.ask(1, false)
    }
}

#[test]
fn both_stores_agree_over_mean_arrivals() {
    for mode in MODES {
        for rules in
            [vec![rule(10, 60)], vec![rule(1, 7), rule(3, 40)], vec![rule(5, 10), rule(8, 37), rule(13, 100)]]
        {
            for history in mean(&rules) {
                Twins::new(mode, std::slice::from_ref(&rules)).play(&history).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn both_stores_agree_with_settlements((rules, steps) in tiers().prop_flat_map(|rules| (Just(rules.clone()), settling(&rules)))) {
        for mode in MODES {
            let agreed = Twins::new(mode, &[suited(mode, &rules)]).play(&steps);
            prop_assert!(agreed.is_ok(), "{mode:?}: {agreed:?}");
        }
    }

    #[test]
    fn both_stores_agree_when_tiers_change(steps in wandering(&related(Mode::Strict))) {
        for mode in MODES {
            let agreed = Twins::new(mode, &related(mode)).play(&steps);
            prop_assert!(agreed.is_ok(), "{mode:?}: {agreed:?}");
        }
    }
}
