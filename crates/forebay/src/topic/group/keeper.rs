//! The end of a consumer: what it has is settled or handed over before it leaves its group.

use std::{sync::Arc, time::Duration};

use super::desk::Desk;
use crate::topic::tail::PAUSE;

/// For how long it is tried to say so to a store that cannot be asked.
const PARTING: Duration = Duration::from_secs(10);

/// Waits until the consumer goes, or the `Forebay` shuts down, and leaves.
pub(super) async fn keep(desk: Arc<Desk>) {
    tokio::select! {
        () = desk.parted.cancelled() => {}
        () = desk.tasks().stopping() => {}
    }
    let patience = *desk.patience.lock();
    let mut open = desk.open.subscribe();
    tokio::select! {
        _ = desk.clock().timeout(patience, open.wait_for(|open| *open == 0)) => {}
        () = desk.tasks().waning() => {}
    }
    leave(&desk).await;
    desk.left.cancel();
}

async fn leave(desk: &Desk) {
    let until = desk.clock().now().after(PARTING);
    loop {
        match desk.leave().await {
            Ok(left) if left.more => {}
            Ok(_) => return,
            // What it has is delivered to others once the visibility is over.
            Err(_) if desk.clock().now() >= until => return,
            Err(_) => desk.clock().sleep(PAUSE).await,
        }
    }
}
