//! One code a minute for each mailbox, and few for each address.

use crate::{
    program::{Model, Start},
    records::Records,
};

#[tokio::test]
async fn a_mailbox_gets_one_code_a_minute_however_it_is_spelt() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let sent = coach.code("ada@example.org").await;
    assert_eq!((sent.status, sent.text("sent_to")), (202, "ada@example.org"));
    let refused = coach.code(" Ada@Example.org").await;
    assert!(refused.status == 429 && (50..=60).contains(&refused.retry_after()), "{refused:?}");
    assert_eq!(records.count("SELECT count(*) FROM mail").await, 1);
}

#[tokio::test]
async fn an_address_may_not_fill_many_mailboxes() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for n in 0..5 {
        assert_eq!(coach.code(&format!("ada+{n}@example.org")).await.status, 202);
    }
    assert_eq!(coach.code("bob@example.org").await.status, 429);
    assert_eq!(records.count("SELECT count(*) FROM mail").await, 5);
}

#[tokio::test]
async fn a_code_that_was_not_sent_keeps_nobody_waiting() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    records.change("ALTER TABLE mail RENAME TO away").await;
    assert_eq!(coach.code("ada@example.org").await.status, 500);
    records.change("ALTER TABLE away RENAME TO mail").await;
    assert_eq!(coach.code("ada@example.org").await.status, 202);
}

#[tokio::test]
async fn what_is_no_mailbox_is_refused() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for email in ["", "ada", "@example.org", "ada@", "a b@example.org"] {
        assert_eq!(coach.code(email).await.status, 400, "{email:?}");
    }
    assert_eq!(records.count("SELECT count(*) FROM mail").await, 0);
}
