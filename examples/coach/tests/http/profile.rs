//! A new profile is what the next answer is about.

use crate::{
    program::{Model, Start},
    records::Records,
};

#[tokio::test]
async fn the_next_answer_is_about_the_new_profile() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let before = coach.ask("runner-7", "How fast?").await;
    assert!(before.text("answer").contains("VO2max of 42 "), "{before:?}");
    let changed = coach.profile("runner-7", 61.5).await;
    assert_eq!((changed.status, changed.body["everywhere"].as_bool()), (200, Some(true)));
    let after = coach.ask("runner-7", "How fast?").await;
    assert!(after.text("answer").contains("VO2max of 61.5 "), "{after:?}");
    assert_eq!(after.text("source"), "model");
}

#[tokio::test]
async fn when_the_model_fails_nothing_old_is_said_about_a_new_profile() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    assert_eq!(coach.ask("runner-7", "How fast?").await.status, 200);
    model.fail(600).await;
    assert_eq!(coach.profile("runner-7", 61.5).await.status, 200);
    assert_eq!(coach.ask("runner-7", "How fast?").await.status, 503);
}

#[tokio::test]
async fn a_change_of_one_runner_forgets_no_answer_of_another() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    coach.ask("runner-8", "How fast?").await;
    coach.profile("runner-7", 61.5).await;
    assert_eq!(coach.ask("runner-8", "How fast?").await.text("source"), "memory");
}

#[tokio::test]
async fn a_profile_that_no_human_has_is_refused_and_not_written() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let refused = coach.profile("runner-7", 520.0).await;
    assert!(refused.status == 400 && refused.text("detail").contains("10 to 100"), "{refused:?}");
    assert_eq!(records.count("SELECT count(*) FROM runner WHERE vo2max > 100").await, 0);
}
