//! What goes wrong in a cluster besides: who is the primary, and where slots are.

use std::time::Duration;

use forebay_rig::Replicated;

use super::{
    arena::IDS,
    clients::id,
    fault::Fault,
    plan::Strike,
    strikes::{freeze, tell},
};

/// Well below what makes a silent primary a dead one.
const FREEZE: Duration = Duration::from_secs(1);

/// The ids whose slots are moved: those asked for most.
const MOVED: u64 = 4;

/// Does it, and names the only ids that it hides, if not all.
pub(super) fn strike(cluster: &Replicated, strike: &Strike) -> Option<Vec<String>> {
    let place = usize::try_from(strike.roll % Replicated::PLACES as u64).expect("it is small");
    match strike.fault {
        Fault::Freeze => freeze(cluster.primary(place), strike.length.min(FREEZE)),
        Fault::FailOver => cluster.fail_over(place),
        Fault::KillPrimary => cluster.kill_primary(place),
        Fault::MoveSlot => return Some(move_slot(cluster, strike)),
        Fault::Flush => tell((0..Replicated::PLACES).map(|place| cluster.primary(place)), Fault::Flush),
        fault => tell(cluster.nodes(), fault),
    }
    None
}

fn move_slot(cluster: &Replicated, strike: &Strike) -> Vec<String> {
    let moved = usize::try_from(strike.roll % MOVED).expect("it is small");
    let slot_of = |at: usize| cluster.slot(&format!("{{{}}}", id(at)));
    let slot = slot_of(moved);
    cluster.move_slot(slot);
    (0..IDS).filter(|&at| slot_of(at) == slot).map(id).collect()
}
