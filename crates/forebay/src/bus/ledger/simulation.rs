//! A publisher, a channel that loses and reorders, and a ledger that must find out.

use std::{collections::BTreeMap, time::Duration};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::bus::{message::Kind, numbers::Numbers};

const OWN: u64 = 1;
const OTHER: u64 = 2;
/// The last moment of a change; beats are made until two seconds later.
const END: u64 = 6000;
const BOUND: u64 = 1500;
/// How long one who joins late may find gaps in what was in flight before.
const SETTLES: u64 = 4000;

/// What happens to one message on its way: `None` when it is lost.
type Fate = Option<u64>;

#[derive(Debug, Clone)]
struct Change {
    taken: u64,
    published: u64,
    outcome: Outcome,
    fate: Fate,
}

#[derive(Debug, Clone, Copy)]
enum Outcome {
    Answered(u64),
    Failed(u64),
    Forgotten,
}

#[derive(Debug, Clone)]
struct World {
    changes: Vec<Change>,
    /// The time to each beat from the one before.
    beats: Vec<(u64, Fate)>,
    bye: Option<Fate>,
    /// When the ledger begins to hear.
    joins: u64,
}

#[derive(Debug)]
enum Event {
    Take(usize),
    Publish(usize),
    End(usize),
    Beat(Fate),
    Bye(Fate),
    Arrive(Message<'static>),
}

fn fates(lossy: bool) -> BoxedStrategy<Fate> {
    let delay = prop_oneof![Just(0_u64), Just(400), 0..=400_u64];
    if lossy {
        prop_oneof![2 => delay.prop_map(Some), 1 => Just(None)].boxed()
    } else {
        delay.prop_map(Some).boxed()
    }
}

fn changes(lossy: bool) -> impl Strategy<Value = Change> {
    let span = || prop_oneof![0..5_u64, 0..1800_u64];
    let outcome = (span(), 0..10_u8);
    (500..END, span(), outcome, fates(lossy)).prop_map(|(taken, way, (rest, dice), fate)| {
        let published = taken + way;
        let outcome = match dice {
            0 => Outcome::Failed(published + rest),
            1 => Outcome::Forgotten,
            _ => Outcome::Answered(published + rest),
        };
        Change { taken, published, outcome, fate }
    })
}

fn worlds(lossy: bool) -> impl Strategy<Value = World> {
    let beat = (prop_oneof![Just(500_u64), Just(599), 500..600_u64], fates(lossy));
    let bye = proptest::option::of(fates(lossy));
    let joins = prop_oneof![Just(0_u64), 1..2000_u64];
    (vec(changes(lossy), 0..20), vec(beat, 17), bye, joins).prop_map(|(mut changes, beats, bye, joins)| {
        changes.sort_by_key(|change| change.taken);
        World { changes, beats, bye, joins }
    })
}

fn at(millis: u64) -> Moment {
    Moment::default().after(Duration::from_millis(millis))
}

struct Run<'a> {
    world: &'a World,
    numbers: Numbers,
    ledger: Ledger,
    agenda: BTreeMap<(u64, u32), Event>,
    planned: u32,
    taken: Vec<u64>,
    vouched: Vec<(u64, usize)>,
    gaps: Vec<u64>,
    /// When the first beat was heard.
    known: Option<u64>,
    gone: bool,
}

impl<'a> Run<'a> {
    fn new(world: &'a World) -> Self {
        let ledger = Ledger::new(OWN, at(world.joins));
        let mut run = Self {
            world,
            numbers: Numbers::default(),
            ledger,
            agenda: BTreeMap::new(),
            planned: 0,
            taken: Vec::new(),
            vouched: Vec::new(),
            gaps: Vec::new(),
            known: None,
            gone: false,
        };
        run.plan(0, Event::Beat(Some(0)));
        world
            .changes
            .iter()
            .enumerate()
            .for_each(|(which, change)| run.plan(change.taken, Event::Take(which)));
        let mut time = 0;
        for (pause, fate) in &world.beats {
            time += pause;
            run.plan(time, Event::Beat(*fate));
        }
        if let Some(fate) = world.bye {
            run.plan(time, Event::Bye(fate));
        }
        run
    }

    fn plan(&mut self, time: u64, event: Event) {
        self.planned += 1;
        self.agenda.insert((time, self.planned), event);
    }

    fn send(&mut self, now: u64, fate: Fate, message: Message<'static>) {
        if let Some(delay) = fate {
            self.plan(now + delay, Event::Arrive(message));
        }
    }

    /// Runs to the end of the agenda and on until `until`.
    fn to(mut self, until: u64) -> Self {
        for now in 0..=until {
            if now.is_multiple_of(500) {
                let own = Message::Beat { publisher: OWN, tally: Tally::default(), number: 0 };
                self.plan(now, Event::Arrive(own));
            }
            while let Some(next) = self.agenda.first_entry().filter(|next| next.key().0 <= now) {
                let event = next.remove();
                self.step(now, event);
            }
            if at(now) >= self.ledger.next_check() {
                let finding = self.ledger.check(at(now));
                assert_ne!(finding, Some(Finding::Deaf));
                self.gaps.extend(finding.map(|_| now));
            }
        }
        self
    }

    fn step(&mut self, now: u64, event: Event) {
        match event {
            Event::Take(which) if !self.gone => self.take(now, which),
            Event::Publish(which) => {
                let number = self.taken[which];
                let change = Message::Change {
                    publisher: OTHER,
                    number,
                    kind: Kind::Gone,
                    space: "s",
                    id: "i",
                    raised: None,
                };
                self.send(now, self.world.changes[which].fate, change);
            }
            Event::End(which) => self.end(now, which),
            Event::Beat(fate) => {
                let tally = self.numbers.beat(at(now));
                self.send(now, fate, Message::Beat { publisher: OTHER, tally, number: 0 });
            }
            Event::Bye(fate) => {
                self.gone = true;
                let tally = self.numbers.farewell();
                self.send(now, fate, Message::Bye { publisher: OTHER, tally });
            }
            Event::Arrive(message) if now >= self.world.joins => {
                if matches!(message, Message::Beat { publisher: OTHER, .. }) {
                    self.known.get_or_insert(now);
                }
                let heard = self.ledger.heard(at(now), &message);
                self.gaps.extend((heard == Heard::Gap).then_some(now));
            }
            Event::Take(_) | Event::Arrive(_) => {}
        }
    }

    fn take(&mut self, now: u64, which: usize) {
        let change = &self.world.changes[which];
        self.taken.push(self.numbers.take(at(now)));
        self.plan(change.published, Event::Publish(which));
        if let Outcome::Answered(end) | Outcome::Failed(end) = change.outcome {
            self.plan(end, Event::End(which));
        }
    }

    fn end(&mut self, now: u64, which: usize) {
        let number = self.taken[which];
        match self.world.changes[which].outcome {
            Outcome::Answered(_) if self.numbers.answered(number) => self.vouched.push((now, which)),
            Outcome::Failed(_) => self.numbers.failed(number),
            Outcome::Answered(_) | Outcome::Forgotten => {}
        }
    }

    fn finds_out(&self, answered: u64, which: usize) -> bool {
        let change = &self.world.changes[which];
        let span = change.published..=answered + BOUND;
        let known = self.known.is_some_and(|known| known <= answered);
        let lost = change.fate.is_none();
        !known || !lost || self.gaps.iter().any(|gap| span.contains(gap))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_lost_change_is_a_gap_within_the_bound(world in worlds(true)) {
        let run = Run::new(&world).to(END + 6000);
        for (answered, which) in &run.vouched {
            prop_assert!(run.finds_out(*answered, *which), "{answered} {which}: {:?}", run.gaps);
        }
    }

    #[test]
    fn without_a_loss_there_is_no_gap_but_for_who_joins_late(world in worlds(false)) {
        let until = world.beats.iter().map(|(pause, _)| pause).sum::<u64>();
        let run = Run::new(&world).to(until + if world.bye.is_some() { 5000 } else { 0 });
        let settled = if world.joins == 0 { 0 } else { world.joins + SETTLES };
        prop_assert!(run.gaps.iter().all(|gap| *gap < settled), "{:?}", run.gaps);
    }
}
