//! What goes wrong under sentinels besides: who is the primary, and who says so.

use std::{thread, time::Duration};

use forebay_rig::Sentinels;

use super::{
    fault::Fault,
    plan::Strike,
    strikes::{freeze, tell},
};

/// Below what makes a silent primary a dead one.
const FREEZE: Duration = Duration::from_millis(300);

/// Where another server becomes the primary, that is all that is waited for: the old one may still take itself for it.
pub(super) fn strike(servers: &Sentinels, strike: &Strike) {
    let before = servers.primary();
    match strike.fault {
        Fault::Freeze => freeze(before, strike.length.min(FREEZE)),
        Fault::Switch => {
            servers.switch();
        }
        Fault::KillPrimary => {
            servers.lose_primary();
            before.restart();
        }
        Fault::StopPrimary => {
            before.pause();
            servers.replaced(before);
            thread::sleep(strike.length);
            before.resume();
        }
        Fault::StopSentinel => {
            let at = usize::try_from(strike.roll).unwrap_or(usize::MAX) % servers.sentinels().len();
            freeze(&servers.sentinels()[at], strike.length);
        }
        Fault::Flush => tell([before], Fault::Flush),
        fault => tell(servers.servers(), fault),
    }
}
