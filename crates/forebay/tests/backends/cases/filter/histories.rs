//! Random histories, against a plain set.

use std::{cell::RefCell, collections::BTreeSet};

use forebay::{
    dice::Dice,
    filter::{Answer, Filter, Rebuilt},
};
use tokio::sync::Notify;

use super::filter;
use crate::rig::Rig;

/// A filter in the hands of two, and what it should know.
struct World {
    dice: Dice,
    /// What a rebuild is brought: as here nothing is hidden by a transaction, every id from the call on.
    origin: RefCell<BTreeSet<String>>,
    /// What was added, and confirmed.
    added: RefCell<BTreeSet<String>>,
    handles: [Filter; 2],
}

impl World {
    fn roll(&self, sides: u64) -> u64 {
        self.dice.bits() % sides
    }

    fn handle(&self) -> &Filter {
        &self.handles[usize::try_from(self.roll(2)).unwrap()]
    }

    async fn step(&self) {
        // What needs no answer of a server would leave the rebuild no turn.
        tokio::task::yield_now().await;
        if self.roll(2) == 0 { self.add().await } else { self.check().await }
    }

    async fn add(&self) {
        let id = self.roll(100_000).to_string();
        self.origin.borrow_mut().insert(id.clone());
        self.handle().add(&id).await.unwrap();
        self.added.borrow_mut().insert(id);
    }

    async fn check(&self) {
        let added = self.added.borrow().clone();
        let answers = self.handle().check_all(&added).await;
        let denied: Vec<_> = added.iter().zip(answers).filter(|(_, answer)| answer.is_no()).collect();
        assert!(denied.is_empty(), "{denied:?}");
    }

    /// Rebuilds in pieces between which the others go on.
    async fn rebuild(&self, ended: &Notify) {
        let (piece, fails) = (1 + usize::try_from(self.roll(5)).unwrap(), self.roll(4) == 0);
        let source = async |fresh: &forebay::filter::Rebuild| {
            let origin: Vec<_> = self.origin.borrow().iter().cloned().collect();
            for ids in origin.chunks(piece) {
                fresh.add_all(ids).await?;
                tokio::task::yield_now().await;
            }
            match fails {
                true => Err("nothing comes of it".into()),
                false => Ok::<_, Box<dyn std::error::Error>>(()),
            }
        };
        match self.handle().rebuild(source).await {
            Ok(rebuilt) => assert_eq!((rebuilt, fails), (Rebuilt::Complete, false)),
            Err(error) => assert!(fails, "{error}"),
        }
        ended.notify_one();
    }

    async fn go_on(&self, ended: &Notify) {
        loop {
            tokio::select! {
                biased;
                () = ended.notified() => return,
                () = self.step() => {}
            }
        }
    }
}

async fn history(rig: &impl Rig, seed: u64) {
    let handles = [filter(rig), filter(rig)];
    let (dice, origin, added) = (Dice::seeded(seed), RefCell::default(), RefCell::default());
    let world = World { dice, origin, added, handles };
    for _ in 0..6 {
        for _ in 0..world.roll(8) {
            world.step().await;
        }
        let ended = Notify::new();
        tokio::join!(world.rebuild(&ended), world.go_on(&ended));
        rig.settle().await;
    }
    for _ in 0..10 {
        world.step().await;
    }
    assert_eq!(world.handle().check("nobody").await, Answer::No, "it was never complete");
}

pub(crate) async fn nothing_that_was_added_is_ever_denied(rig: impl Rig) {
    for seed in 0..40 {
        println!("seed {seed}");
        history(&rig, seed).await;
    }
}
