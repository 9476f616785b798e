//! What happens to the networks: delays, lost messages, holes, and connections that end with what they carried.

use std::time::Duration;

use forebay::testing::{Flow, Proxy};
use forebay_trials::{history::Outage, moment::Moment};
use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::World;

const LONGEST_DELAY_MS: u64 = 20;

/// Plays until the clients have done their steps. Returns when which process could not ask Redis.
pub(crate) async fn play(world: &World, seed: u64) -> Vec<Outage> {
    let networks = (0..world.workers.len()).map(|process| {
        let dice = StdRng::seed_from_u64(seed.wrapping_sub(1 + process as u64));
        network(world, process, dice)
    });
    join_all(networks).await.concat()
}

async fn network(world: &World, process: usize, mut dice: StdRng) -> Vec<Outage> {
    let proxy = &world.proxies[process];
    let mut outages = Vec::new();
    while !world.is_over() {
        delay(proxy, &mut dice);
        pause(dice.random_range(300..1_500)).await;
        match dice.random_range(0..10) {
            0..5 => proxy.drop_replies(dice.random_range(1..3), " gone "),
            5 => proxy.drop_replies(1, " beat "),
            6 => proxy.drop_replies(1, " aged "),
            7 => {
                proxy.replies(Flow::Hold);
                pause(dice.random_range(20..120)).await;
            }
            8 => {
                proxy.requests(Flow::Hold);
                pause(dice.random_range(20..120)).await;
            }
            _ => outages.push(lose_replies(world, process, &mut dice).await),
        }
    }
    outages
}

/// Loses the replies of some moments, then the connections: half an answer is no answer, but its script has run.
async fn lose_replies(world: &World, process: usize, dice: &mut StdRng) -> Outage {
    let (proxy, began) = (&world.proxies[process], Moment::now());
    proxy.refuse();
    proxy.replies(Flow::Discard);
    pause(dice.random_range(20..200)).await;
    proxy.cut();
    pause(100).await;
    delay(proxy, dice);
    proxy.accept();
    world.workers[process].is_well().await;
    Outage { process, began, ended: Moment::now() }
}

fn delay(proxy: &Proxy, dice: &mut StdRng) {
    let mut some = || Flow::Delay(Duration::from_millis(dice.random_range(0..=LONGEST_DELAY_MS)));
    proxy.requests(some());
    proxy.replies(some());
}

async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
