//! Many callers on one key that nobody has.

use std::{sync::Arc, time::Duration};

use contest::{Origin, Shared};

use crate::{Rush, Stampede, call_all};

/// Lets the callers of all `processes` ask at once.
///
/// # Panics
///
/// Panics if a caller does.
pub async fn stampede(processes: &[Arc<dyn Shared>], order: Stampede) -> Rush {
    let Stampede { key, callers, milliseconds } = order;
    let origin = Origin::slow(Duration::from_millis(milliseconds));
    let calls = call_all(callers, |number| {
        let read = processes[number % processes.len()].read(key.clone(), origin.clone());
        Box::pin(async move { read.await.is_some() })
    });
    let calls = calls.await;
    let answered = calls.iter().filter(|(_, answered)| *answered);
    let waits: Vec<f64> = answered.map(|(wait, _)| wait.as_secs_f64() * 1_000.0).collect();
    Rush { loads: origin.loads(), errors: (callers - waits.len()) as u64, waits }
}

#[cfg(test)]
mod tests {
    use futures::future::{BoxFuture, ready};

    use super::*;

    /// Answers every read at once, or none.
    struct Quick(Option<u64>);

    impl Shared for Quick {
        fn name(&self) -> &'static str {
            "quick"
        }

        fn read(&self, _key: String, _origin: Origin) -> BoxFuture<'static, Option<u64>> {
            Box::pin(ready(self.0))
        }

        fn forget(&self, _key: String) -> BoxFuture<'static, bool> {
            Box::pin(ready(true))
        }
    }

    #[test]
    fn a_caller_who_is_refused_at_once_has_not_waited_little() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let processes: [Arc<dyn Shared>; 2] = [Arc::new(Quick(Some(1))), Arc::new(Quick(None))];
        let order = Stampede { key: "missing".into(), callers: 10, milliseconds: 1 };
        let rush = runtime.expect("it starts").block_on(stampede(&processes, order));
        assert_eq!((rush.errors, rush.waits.len()), (5, 5));
    }
}
