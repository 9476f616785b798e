//! What is said when something is wrong.

use std::{net::TcpListener, process::Command};

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

use crate::program::{FREE, Program, command, database};

#[tokio::test]
async fn a_failing_database_is_a_503_and_what_is_cached_is_served_on() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    let cached = program.product(17).await;
    run(&directory, "ALTER TABLE product RENAME TO away").await;
    let refused = program.get("/products/18").await;
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(program.product(17).await, cached);
}

#[tokio::test]
async fn without_the_redis_that_it_was_given_it_caches_in_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let nobody_listens = "redis://127.0.0.1:1";
    let program = Program::over_redis(&directory, nobody_listens);
    let timings = [program.timing(17).await, program.timing(17).await];
    assert!(timings[0].starts_with("db;dur=") && timings[1].starts_with("memory"), "{timings:?}");
}

#[tokio::test]
async fn an_id_that_is_no_number_is_refused_with_what_to_send() {
    let directory = tempfile::tempdir().unwrap();
    let answer = Program::start(&directory).get("/products/lamp").await;
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert!(detail(answer).await.contains("/products/17"));
}

#[tokio::test]
async fn a_price_that_is_none_is_refused_with_what_to_send() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::start(&directory);
    for body in [json!({}), json!({ "price_cents": 0 }), json!({ "price_cents": -1 }), json!("19.99")] {
        let answer = program.put_price(17, &body).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{body}");
        assert!(detail(answer).await.contains(r#"{"price_cents": 1999}"#), "{body}");
    }
}

#[tokio::test]
async fn a_price_for_an_unknown_product_is_a_404() {
    let directory = tempfile::tempdir().unwrap();
    let answer = Program::start(&directory).put_price(999_999, &json!({ "price_cents": 1999 })).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[test]
fn a_taken_port_is_refused_with_the_flag_that_helps() {
    let directory = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = refusal(&mut command(&address, &database(&directory)));
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let made = SqliteConnection::connect(&format!("sqlite:{}?mode=rwc", database(&directory).display()));
    made.await.unwrap().close().await.unwrap();
    run(&directory, "CREATE TABLE theirs (id)").await;
    let before = std::fs::read(database(&directory)).unwrap();
    assert!(
        refusal(&mut command(FREE, &database(&directory))).contains("choose another file with --database")
    );
    assert_eq!(std::fs::read(database(&directory)).unwrap(), before);
}

async fn run(directory: &TempDir, sql: &'static str) {
    let address = format!("sqlite:{}", database(directory).display());
    let mut connection = SqliteConnection::connect(&address).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn detail(answer: Response) -> String {
    answer.json::<Value>().await.unwrap()["detail"].as_str().unwrap().to_owned()
}

/// What a program says that does not start.
fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}
