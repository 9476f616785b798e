//! What is read once a price has changed.

use serde_json::Value;
use tokio::join;

use crate::program::Program;

#[tokio::test]
async fn the_next_read_after_a_change_shows_the_new_price() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    program.product(17).await;
    program.set_price(17, 1999).await;
    assert_eq!(program.product(17).await["price_cents"], 1999);
}

#[tokio::test]
async fn a_price_that_changes_while_its_product_is_loaded_is_served_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    let mut overtaken = 0;
    for id in 1..=5 {
        let queries = program.queries().await;
        let change = async {
            program.is_querying(queries + 1).await;
            program.set_price(id, 1999).await;
        };
        let (begun_before, ()) = join!(program.product(id), change);
        overtaken += u32::from(begun_before["price_cents"] != 1999);
        for _ in 0..2 {
            assert_eq!(program.product(id).await["price_cents"], 1999);
        }
    }
    assert!(overtaken > 0, "no change came while a query ran");
}

#[tokio::test]
async fn a_changed_price_outlives_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let mut program = Program::start(&directory);
    program.set_price(17, 1999).await;
    program.terminate();
    program.ended().await;
    assert_eq!(Program::start(&directory).product(17).await["price_cents"], Value::from(1999));
}
