//! Starts a server, says its process id and holds it, for the test that kills the holder.

use std::thread;

use forebay_rig::Redis;

fn main() {
    let server = Redis::start();
    println!("{}", server.pid());
    loop {
        thread::park();
    }
}
