//! The program that measures the story.

use std::process::Command;

use forebay_rig::Redis;

use crate::process;

#[test]
fn a_story_that_cannot_be_told_is_refused_by_the_name_of_its_flag() {
    for (flag, value) in [
        ("--questions", "0"),
        ("--questions", "1000000000"),
        ("--per-second", "0"),
        ("--per-second", "1000000"),
        ("--price-in", "-1"),
        ("--price-out", "NaN"),
        ("--model-takes", "86400000"),
    ] {
        let output = process::output(
            Command::new(env!("CARGO_BIN_EXE_coach-story")).args([&format!("{flag}={value}")]),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(flag), "{flag} {value}: {said}");
    }
}

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
