//! `forebay bench stampede`.

use super::ask;
use crate::support::{Server, Stage};

/// Whoever loads keeps its lease, however late a busy machine lets it come to run.
const ROOMY: &str = "[cache.spaces.\"bench:stampede\"]\nlease = \"30s\"\n";

#[tokio::test]
async fn a_crowd_makes_one_load_through_a_server_and_many_without() {
    for stage in [Stage::memory(ROOMY), Stage::redis(ROOMY).await] {
        let arguments = ["bench", "stampede", "--callers", "200", "--load-ms", "300"];
        let said = ask(&stage.here, &[&arguments[..], &["--json"]].concat());
        let told = said.json();
        assert_eq!(said.code, Some(0), "{said:?}");
        let of = |column: &str, figure: &str| told[column][figure].as_f64().unwrap();
        assert_eq!(
            [of("with", "loads"), of("with", "waited"), of("with", "failed")],
            [1.0, 199.0, 0.0],
            "{told}"
        );
        assert_eq!([of("without", "loads"), of("without", "waited")], [200.0, 0.0], "{told}");
        // Whoever comes late finds the value, and has waited for its turn all the same.
        assert!(of("with", "p50_ms") >= 300.0 && of("without", "p50_ms") >= 300.0, "{told}");
    }
}

#[test]
fn a_load_that_takes_longer_than_a_lease_is_one_load() {
    // Renewed at a quarter of it, so that a busy machine may be late by seconds.
    let server = Server::with("[cache.spaces.\"bench:stampede\"]\nlease = \"6s\"\n");
    let said = ask(&server, &["bench", "stampede", "--callers", "5", "--load-ms", "8000", "--json"]);
    let with = &said.json()["with"];
    assert_eq!((said.code, &with["loads"], &with["failed"]), (Some(0), &1.into(), &0.into()), "{said:?}");
}

#[test]
fn of_callers_that_failed_it_is_said_why() {
    let server = Server::with("[cache.spaces.\"bench:stampede\"]\nmax_bytes = 10\n");
    let said = ask(&server, &["bench", "stampede", "--callers", "2", "--load-ms", "50"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("The first that failed: "), "{said:?}");
}

#[test]
fn people_are_shown_a_table_and_nobody_more_callers_than_it_can_make() {
    let server = Server::with(ROOMY);
    let said = ask(&server, &["bench", "stampede", "--callers", "20", "--load-ms", "50"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for row in
        ["without Forebay", "loads                               20                 1", "waited for another"]
    {
        assert!(said.out.contains(row), "{row}: {}", said.out);
    }
    assert_eq!(ask(&server, &["bench", "stampede", "--callers", "0"]).code, Some(2));
}
