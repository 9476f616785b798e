//! Whoever takes locks in this process, and what is seen of it from the inside.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll::{Pending, Ready},
    time::Duration,
};

use forebay::{
    Forebay,
    lock::{self, Guard, Lock, LockError},
};
use forebay_trials::{
    hold::{Held, Hold, Lapped, Laps, Manner, Outcome, Stint},
    ledger::Ledger,
    moment::Moment,
};
use tokio::time::{sleep, timeout};

/// Between two writes, and between two attempts of whoever does not wait.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a holder takes to stop once it is told.
const STOPPING: Duration = Duration::from_millis(30);

/// Of so many times that a lock is taken, it is held once for so long that it is renewed.
const RENEWED: u64 = 500;

/// Has one caller do as it is told. What it leaves behind is what a caller leaves behind that goes away.
pub(crate) async fn hold(forebay: &Forebay, ledger: Ledger, order: Hold) -> Held {
    let ms = Duration::from_millis;
    let lock = forebay.lock(&order.name).time_to_live(ms(order.life_ms)).wait(ms(order.wait_ms));
    let asked = Moment::now();
    let note = Note(Arc::new(Mutex::new(Held { asked, told: asked, outcome: Outcome::Left })));
    let caller = Caller { lock, ledger, note: note.clone(), order };
    let polls = caller.order.polls.unwrap_or(usize::MAX);
    if within_polls(polls, caller.ask()).await.is_none() {
        note.tell(Outcome::Left);
    }
    note.lock().clone()
}

/// Takes a free lock and frees it.
pub(crate) async fn laps(forebay: &Forebay, Laps { name, life_ms, times }: Laps) -> Lapped {
    let life = Duration::from_millis(life_ms);
    let lock = forebay.lock(&name).time_to_live(life);
    let (mut lapped, mut last) = (Lapped::default(), 0);
    while lapped.had < times {
        let Ok(guard) = lock.acquire().await else {
            lapped.vain += 1;
            continue;
        };
        lapped.had += 1;
        lapped.disorder += u64::from(guard.fence() <= last);
        last = guard.fence();
        if lapped.had % RENEWED == 0 {
            sleep(life / 2).await;
        }
        if guard.release().await.is_err() {
            lapped.vain += 1;
        }
    }
    lapped
}

/// What is known of one caller, also once it has gone.
#[derive(Clone)]
struct Note(Arc<Mutex<Held>>);

impl Note {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what the caller is told, the first time.
    fn tell(&self, outcome: Outcome) {
        let mut held = self.lock();
        if held.told == held.asked {
            (held.told, held.outcome) = (Moment::now(), outcome);
        }
    }

    fn fails(&self, error: &LockError) {
        self.tell(match error {
            LockError::Busy { .. } => Outcome::Busy,
            LockError::Unavailable(_) => Outcome::Unavailable,
            other => unreachable!("the order is a good one: {other}"),
        });
    }

    fn begins(&self, fence: u64) -> Under {
        let began = Moment::now();
        let stint = Stint {
            fence,
            began,
            ended: began,
            lost: false,
            writes: 0,
            refused: 0,
            revived: false,
            late_polls: 0,
        };
        self.tell(Outcome::Had(stint));
        Under(self.clone())
    }

    fn stint(&self, change: impl FnOnce(&mut Stint)) {
        if let Outcome::Had(stint) = &mut self.lock().outcome {
            change(stint);
        }
    }
}

/// A holding, which ends when this is dropped.
struct Under(Note);

impl Drop for Under {
    fn drop(&mut self) {
        self.0.stint(|stint| stint.ended = Moment::now());
    }
}

struct Caller {
    lock: Lock,
    ledger: Ledger,
    note: Note,
    order: Hold,
}

impl Caller {
    async fn ask(&self) {
        match self.order.manner {
            Manner::Run => self.run().await,
            Manner::Guard => match self.lock.acquire().await {
                Ok(guard) => self.keep(guard).await,
                Err(error) => self.note.fails(&error),
            },
            Manner::Impatient => match self.again_and_again().await {
                Some(guard) => self.keep(guard).await,
                None => self.note.tell(Outcome::Busy),
            },
        }
    }

    async fn run(&self) {
        let done = self.lock.run(async |held| {
            let _under = self.note.begins(held.fence());
            self.watch(&held, self.work(&held)).await;
        });
        match done.await {
            Ok(()) => {}
            Err(LockError::Lost) => self.note.stint(|stint| stint.lost = true),
            Err(error) => self.note.fails(&error),
        }
    }

    async fn again_and_again(&self) -> Option<Guard> {
        let asking = async {
            loop {
                if let Ok(Some(guard)) = self.lock.try_acquire().await {
                    return guard;
                }
                sleep(PAUSE).await;
            }
        };
        timeout(Duration::from_millis(self.order.wait_ms), asking).await.ok()
    }

    async fn keep(&self, guard: Guard) {
        let (under, held) = (self.note.begins(guard.fence()), guard.held());
        tokio::select! {
            biased;
            () = guard.lost() => self.note.stint(|stint| stint.lost = true),
            () = self.watch(&held, self.work(&held)) => {}
        }
        drop(under);
        if guard.is_lost() {
            sleep(STOPPING).await;
            self.note.stint(|stint| stint.revived = !guard.is_lost());
        }
        guard.release().await.ok();
    }

    /// Does `work`, and takes note where it goes on too late.
    async fn watch(&self, held: &lock::Held, work: impl Future<Output = ()>) {
        let mut work = pin!(work);
        let watched = std::future::poll_fn(|context| {
            if held.is_lost() {
                self.note.stint(|stint| stint.late_polls += 1);
            }
            work.as_mut().poll(context)
        });
        watched.await;
    }

    /// Writes until it is done. A write that is refused to whoever may believe that it holds the lock is what must not
    /// be.
    async fn work(&self, held: &lock::Held) {
        let until = Moment::now().after(Duration::from_millis(self.order.work_ms));
        for step in 1.. {
            if self.ledger.write(held.fence(), step).await {
                self.note.stint(|stint| stint.writes += 1);
            } else if !held.is_lost() {
                self.note.stint(|stint| stint.refused += 1);
            }
            if Moment::now() >= until {
                return;
            }
            sleep(PAUSE).await;
        }
    }
}

/// What `work` ends with, unless it has not ended after so many polls: then it is dropped.
async fn within_polls<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    std::future::poll_fn(move |context| match (left, work.as_mut()) {
        (0, _) => Ready(None),
        (_, work) => {
            left -= 1;
            match work.poll(context) {
                Ready(done) => Ready(Some(done)),
                Pending if left == 0 => Ready(None),
                Pending => Pending,
            }
        }
    })
    .await
}
