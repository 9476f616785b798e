//! `forebay top`, over figures that grow by the same each time they are asked for.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::Duration,
};

use axum::{Router, routing::get};
use nix::sys::signal::Signal;
use tokio::{net::TcpListener, task::JoinHandle};

use super::{Said, ask, blocking, terminal::Terminal};
use crate::support::{Answered, Server, command, run};

/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is written of a server that has been asked so often before.
fn metrics(turn: u64) -> String {
    let (memory, loaded, denied) = (900 * turn, 100 * turn, 50 * turn);
    format!(
        "# TYPE forebay_cache_requests_total counter\n\
         forebay_cache_requests_total{{space=\"catalog\",outcome=\"memory\"}} {memory}\n\
         forebay_cache_requests_total{{space=\"other\",outcome=\"loaded\"}} {loaded}\n\
         forebay_cache_loads_total{{space=\"other\",outcome=\"value\"}} {loaded}\n\
         forebay_cache_load_duration_seconds_bucket{{space=\"other\",le=\"0.25\"}} 0\n\
         forebay_cache_load_duration_seconds_bucket{{space=\"other\",le=\"0.5\"}} {loaded}\n\
         forebay_cache_load_duration_seconds_bucket{{space=\"other\",le=\"+Inf\"}} {loaded}\n\
         forebay_limiter_decisions_total{{policy=\"api\",tier=\"free\",outcome=\"denied\"}} {denied}\n\
         forebay_redis_command_duration_seconds_bucket{{command=\"get\",le=\"0.001\"}} {memory}\n\
         forebay_redis_command_duration_seconds_bucket{{command=\"get\",le=\"+Inf\"}} {memory}\n\
         forebay_redis_command_duration_seconds_count{{command=\"get\"}} {memory}\n\
         forebay_redis_usable 0\nforebay_bus_hears 1\nforebay_bus_processes 3\n\
         forebay_locks_held 7\nforebay_locks_waiting 2\n\
         forebay_cache_memory_bytes 1048576\nforebay_cache_memory_limit_bytes 67108864\n"
    )
}

/// A server that has nothing but figures, until it is aborted.
async fn figures() -> (String, JoinHandle<()>) {
    figures_at("127.0.0.1:0").await
}

async fn figures_at(address: &str) -> (String, JoinHandle<()>) {
    static TURNS: AtomicU64 = AtomicU64::new(1);
    let listener = TcpListener::bind(address).await.unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let text = async || metrics(TURNS.fetch_add(1, SeqCst));
    let router = Router::new().route("/metrics", get(text));
    (place, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

fn is_given_back(top: &Terminal) {
    assert!(!top.is_on_another_screen() && !top.is_cursor_hidden(), "{}", top.shown());
}

#[tokio::test]
async fn a_terminal_shows_all_of_it_and_is_given_back() {
    let (place, _server) = figures().await;
    blocking(move || {
        let mut top = Terminal::open(&["top", "--server", &place], &[]);
        let shown = top.until(
            PATIENCE,
            &[&place, "90.0 % without the origin", "api free", "cannot be used", "of 64.0 MiB"],
        );
        assert!(top.is_on_another_screen());
        for about in ["reads", "memory", "loads", "times", "http", "refused", "redis", "bus", "locks"] {
            assert!(shown.contains(about), "{about}: {shown}");
        }
        top.type_in("xq");
        assert_eq!(top.ended(PATIENCE), Some(0));
        is_given_back(&top);
    })
    .await;
}

#[tokio::test]
async fn ctrl_c_gives_the_terminal_back_and_so_does_a_signal() {
    let (place, _server) = figures().await;
    blocking(move || {
        for by_signal in [false, true] {
            let mut top = Terminal::open(&["top", "--server", &place], &[]);
            top.until(PATIENCE, &["reads"]);
            if by_signal {
                top.signal(Signal::SIGTERM);
            } else {
                top.type_in("\u{3}");
            }
            assert_eq!(top.ended(PATIENCE), Some(0));
            is_given_back(&top);
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_goes_away_is_told_over_what_was_seen_last() {
    let (place, server) = figures().await;
    let opened = place.clone();
    let top = blocking(move || {
        let top = Terminal::open(&["top", "--server", &opened], &[]);
        top.until(PATIENCE, &["90.0 %"]);
        top
    })
    .await;
    server.abort();
    blocking(move || {
        let mut top = top;
        top.until(PATIENCE, &["nothing answers at", "90.0 %"]);
        top.type_in("q");
        assert_eq!(top.ended(PATIENCE), Some(0));
        is_given_back(&top);
    })
    .await;
}

#[tokio::test]
async fn documents_go_on_over_a_server_that_begins_anew() {
    let (place, server) = figures().await;
    let port = place.rsplit_once(':').unwrap().1.to_owned();
    let mut child = command()
        .args(["top", "--json", "--server", &place])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let mut lines = blocking(move || {
        assert!(lines.next().unwrap()["hit_ratio"].is_number());
        lines
    })
    .await;
    // All connections end with it.
    server.abort();
    let lines = blocking(move || {
        let lost = lines.find(|line| line.get("trouble").is_some()).unwrap();
        assert!(lost["trouble"].as_str().unwrap().contains("answer"), "{lost}");
        lines
    })
    .await;
    let (_place, _server) = figures_at(&format!("127.0.0.1:{port}")).await;
    blocking(move || {
        let mut lines = lines;
        assert!(lines.find(|line| line.get("trouble").is_none()).unwrap()["hit_ratio"].is_number());
        child.kill().unwrap();
        child.wait().unwrap();
    })
    .await;
}

#[tokio::test]
async fn no_color_leaves_the_colours_out() {
    let (place, _server) = figures().await;
    blocking(move || {
        for (no_color, is_coloured) in [("", true), ("1", false)] {
            let mut top = Terminal::open(&["top", "--server", &place], &[("NO_COLOR", no_color)]);
            top.until(PATIENCE, &["cannot be used"]);
            top.type_in("q");
            assert_eq!(top.ended(PATIENCE), Some(0));
            let raw = top.raw();
            assert_eq!(
                raw.contains("38;5;") || raw.contains("\u{1b}[31m"),
                is_coloured,
                "{no_color:?}: {raw:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn one_second_is_told_as_text_or_as_a_document() {
    let (place, _server) = figures().await;
    blocking(move || {
        let said = Said::of(&run(&["top", "--once", "--server", &place], &[], None));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
        assert!(
            said.out.contains("90.0 % without the origin") && !said.out.contains('\u{1b}'),
            "{}",
            said.out
        );
        assert!(
            said.out.lines().count() <= 22 && said.out.lines().all(|line| line.chars().count() <= 80),
            "{}",
            said.out
        );

        let told = Said::of(&run(&["top", "--once", "--json", "--server", &place], &[], None)).json();
        let ratio = told["hit_ratio"].as_f64().unwrap();
        assert!((0.899..0.901).contains(&ratio) && told["redis"]["usable"] == false, "{told}");
        assert_eq!(
            (&told["bus"]["processes"], &told["locks"]["waiting"]),
            (&3.0.into(), &2.0.into()),
            "{told}"
        );
        // Whatever it counts, it is no lock of a client.
        assert!(!said.out.contains("held") && told["locks"].get("held").is_none(), "{told}");
        let p50 = told["load_times"]["p50_ms"].as_f64().unwrap();
        assert!((250.0..=500.0).contains(&p50), "{told}");
    })
    .await;
}

#[tokio::test]
async fn what_a_real_server_says_of_itself_is_read() {
    let server = Server::with("[cache.spaces.catalog]\ntime_to_live = \"1h\"\n");
    assert_eq!(Answered::to(server.put("/v1/cache/catalog/a", "value")).await.status, 204);
    for _ in 0..5 {
        assert_eq!(Answered::to(server.get("/v1/cache/catalog/a")).await.status, 200);
    }
    let said = ask(&server, &["top", "--once", "--json"]);
    let told = said.json();
    assert_eq!((said.code, &told["loads_saved"]), (Some(0), &5.0.into()), "{told}");
    assert_eq!(told["memory"]["limit_bytes"], f64::from(64 << 20), "{told}");
    // At least the first of the two looks.
    assert!(told["http_per_s"].as_f64().unwrap() > 0.0, "{told}");
}
