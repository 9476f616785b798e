//! How often the database is asked.

use futures::future::join_all;
use reqwest::StatusCode;

use crate::program::Program;

#[tokio::test]
async fn a_hundred_parallel_reads_of_a_cold_product_make_one_query() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    let read = join_all((0..100).map(|_| program.product(17))).await;
    assert!(read.iter().all(|product| product == &read[0]));
    assert_eq!(program.queries().await, 1);
}

#[tokio::test]
async fn the_second_read_of_a_product_runs_no_query() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    let timings = [program.timing(17).await, program.timing(17).await];
    assert!(timings[0].starts_with("db;dur="), "{timings:?}");
    assert!(timings[1].starts_with("memory, total;dur="), "{timings:?}");
    assert_eq!(program.queries().await, 1);
}

#[tokio::test]
async fn a_read_that_waits_for_the_query_of_another_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    let second = async {
        program.is_querying(1).await;
        program.timing(17).await
    };
    let (first, second) = tokio::join!(program.timing(17), second);
    assert!(first.starts_with("db;dur="), "{first}");
    assert!(second.starts_with("coalesced, total;dur="), "{second}");
}

#[tokio::test]
async fn the_database_is_asked_once_for_an_unknown_product() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    for _ in 0..3 {
        assert_eq!(program.get("/products/999999").await.status(), StatusCode::NOT_FOUND);
    }
    assert_eq!(program.queries().await, 1);
}

#[tokio::test]
async fn a_read_that_runs_is_answered_before_the_program_ends() {
    let directory = tempfile::tempdir().unwrap();
    let mut program = Program::start(&directory);
    let end = async {
        program.is_querying(1).await;
        program.terminate();
    };
    let (product, ()) = tokio::join!(program.product(17), end);
    assert_eq!(product["id"], 17);
    assert!(program.ended().await.success());
}
