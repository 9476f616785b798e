//! The program that measures the story.

use std::process::Command;

use forebay_rig::Redis;

use crate::process;

#[test]
fn the_story_is_told_as_a_table_and_nothing_is_lost_by_a_restart() {
    let redis = Redis::start();
    let mut story = Command::new(env!("CARGO_BIN_EXE_coach-story"));
    story.args(["--questions", "300", "--per-second", "300", "--model-takes", "50", "--redis", &redis.url()]);
    let output = process::output(&mut story);
    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(told.contains("| calls of the model | 300 | "), "{told}");
    assert!(told.contains(" questions that had been asked before cost 0 calls"), "{told}");
    assert!(
        told.contains("Of 60 answers right after a change of a profile, on every instance, 60 were"),
        "{told}"
    );
}
