//! `/metrics`: what it has, and what it counts.

mod scrape;

use std::collections::{BTreeMap, BTreeSet};

use forebay::metrics::table::{FILTER_CHECKS, Metric, TABLE};
use serde_json::json;

use self::scrape::Scrape;
use crate::support::{Answered, Server, Stage};

const SETTINGS: &str = "[cache.spaces.prices]\nabsent_for = \"1m\"\n[limits.api.tiers]\nfree = [\"2/hour\"]\n\
    [topics.told]\n[unique.counters.visits]\n";

const PRICES: [(&str, &str); 1] = [("space", "prices")];

async fn done(request: reqwest::RequestBuilder, status: u16) -> Answered {
    let answer = Answered::to(request).await;
    assert_eq!(answer.status, status, "{answer:?}");
    answer
}

/// Every call once at least, with `secret` wherever a client can write what it likes.
async fn all_calls(server: &Server, secret: &str) {
    let entry = format!("/v1/cache/prices/{secret}");
    done(server.put(&format!("{entry}?ttl_ms=60000&tag={secret}"), secret.to_owned()), 204).await;
    done(server.get(&entry), 200).await;
    done(server.delete(&entry), 204).await;
    let token = done(server.post(&format!("{entry}/lease"), "{}"), 201).await.lease();
    let fill = server.put(&format!("{entry}/lease?ttl_ms=60000"), "a").header("forebay-lease", token);
    done(fill, 204).await;
    done(server.post("/v1/invalidate/prices", json!({ "tags": [secret] }).to_string()), 204).await;
    let elsewhere = format!("/v1/cache/{secret}/{secret}");
    done(server.put(&format!("{elsewhere}?ttl_ms=60000"), secret.to_owned()), 204).await;
    done(server.get(&elsewhere), 200).await;
    done(server.post(&format!("/v1/clear/{secret}"), ""), 204).await;
    let check = json!({ "subject": secret, "tier": secret }).to_string();
    for status in [200, 200, 429] {
        done(server.post("/v1/limits/api", check.clone()), status).await;
    }
    done(server.post(&format!("/v1/locks/{secret}"), ""), 201).await;
    done(server.post(&format!("/v1/claims/{secret}"), r#"{"ttl_ms":60000}"#), 201).await;
    let begin = json!({ "fingerprint": secret }).to_string();
    done(server.post(&format!("/v1/idempotency/{secret}"), begin), 201).await;
    for topic in ["told", secret] {
        Answered::to(server.post(&format!("/v1/events/{topic}"), secret.to_owned())).await;
    }
    for counter in ["visits", secret] {
        done(server.post(&format!("/v1/unique/{counter}"), json!({ "ids": [secret] }).to_string()), 204)
            .await;
    }
    done(server.get(&format!("/{secret}?{secret}={secret}")), 404).await;
    done(server.request(&secret.to_uppercase(), &entry), 405).await;
}

#[tokio::test]
async fn it_has_all_of_the_table_and_nothing_else() {
    let stage = Stage::redis(SETTINGS).await;
    all_calls(&stage.here, "secret").await;

    let scrape = Scrape::of(&stage.here).await;

    let told = |metric: &Metric| (metric.help.to_owned(), metric.kind.word().to_owned());
    // The server builds no filter.
    let table = TABLE.iter().filter(|metric| **metric != FILTER_CHECKS);
    let table: BTreeMap<_, _> = table.map(|metric| (metric.name.to_owned(), told(metric))).collect();
    assert_eq!(scrape.metrics, table);
    for (series, labels) in scrape.series() {
        let ends = ["", "_bucket", "_sum", "_count"].into_iter();
        let metric = ends.filter_map(|end| series.strip_suffix(end));
        let metric = metric.flat_map(|name| TABLE.iter().find(|metric| metric.name == name)).next();
        let metric = metric.unwrap_or_else(|| panic!("{series} is not in the table"));
        let labels: BTreeMap<_, _> = labels.into_iter().filter(|(name, _)| name != "le").collect();
        assert_eq!(labels.len(), metric.labels.len(), "{series} {labels:?}");
        for label in metric.labels {
            let value = labels[label.name].as_str();
            assert!(label.values.is_empty() || label.values.contains(&value), "{series} {labels:?}");
        }
    }
}

#[tokio::test]
async fn no_text_of_a_client_is_in_it() {
    for stage in [Stage::memory(SETTINGS), Stage::redis(SETTINGS).await] {
        all_calls(&stage.here, "straw-berry").await;
        let text = Scrape::of(&stage.here).await.text;
        assert!(!text.to_lowercase().contains("straw"), "{text}");
        assert!(text.contains(r#"space="other""#) && text.contains(r#"topic="other""#), "{text}");
    }
}

#[tokio::test]
async fn ten_thousand_ids_make_no_series() {
    let server = Server::with(SETTINGS);
    all_calls(&server, "some").await;
    let batch = |n: usize| {
        let ids = (n * 1_000..(n + 1) * 1_000).map(|id| id.to_string());
        let puts: Vec<_> = ids.map(|id| json!({ "id": id, "value": "YQ==", "ttl_ms": 60_000 })).collect();
        server.post("/v1/batch/cache/prices", json!({ "put": puts }).to_string())
    };
    done(batch(0), 200).await;
    done(server.post("/v1/batch/limits", "[]"), 200).await;
    Scrape::of(&server).await;
    let before = Scrape::of(&server).await;

    for n in 0..10 {
        done(batch(n), 200).await;
        let checks: Vec<_> =
            (0..100).map(|id| json!({ "policy": "api", "subject": format!("{n}-{id}") })).collect();
        done(server.post("/v1/batch/limits", json!(checks).to_string()), 200).await;
    }

    let after = Scrape::of(&server).await;
    assert_eq!(after.series(), before.series());
    let puts = [("space", "prices"), ("source", "put")];
    let name = "forebay_cache_changes_total";
    assert_eq!(after.value(name, &puts) - before.value(name, &puts), 10_000.0);
}

#[tokio::test]
async fn what_was_done_is_what_it_counts() {
    for stage in [Stage::memory(SETTINGS), Stage::redis(SETTINGS).await] {
        counts(&stage.here).await;
    }
}

async fn counts(server: &Server) {
    let lease = |id: &str| server.post(&format!("/v1/cache/prices/{id}/lease"), r#"{"wait_ms":0}"#);
    let under = |method: &str, id: &str, query: &str, token: &str| {
        server.request(method, &format!("/v1/cache/prices/{id}/lease{query}")).header("forebay-lease", token)
    };
    let token = done(lease("a"), 201).await.lease();
    done(lease("a"), 409).await;
    done(under("PUT", "a", "?ttl_ms=60000", &token).body("a"), 204).await;
    for _ in 0..3 {
        done(server.get("/v1/cache/prices/a"), 200).await;
    }
    let token = done(lease("b"), 201).await.lease();
    done(under("PUT", "b", "?absent=1", &token), 204).await;
    let token = done(lease("c"), 201).await.lease();
    done(under("DELETE", "c", "?failed=1", &token), 204).await;
    done(server.get("/v1/cache/prices/nothing"), 404).await;
    done(server.put("/v1/cache/prices/d?ttl_ms=60000", "d"), 204).await;
    done(server.delete("/v1/cache/prices/d"), 204).await;
    for status in [200, 200, 429, 429] {
        done(server.post("/v1/limits/api", r#"{"subject":"ada"}"#), status).await;
    }
    done(server.post("/v1/locks/a", ""), 201).await;
    done(server.post("/v1/locks/a", r#"{"wait_ms":0}"#), 409).await;
    for status in [201, 409, 409] {
        done(server.post("/v1/claims/a", r#"{"ttl_ms":60000}"#), status).await;
    }
    done(server.post("/v1/idempotency/a", r#"{"fingerprint":"a"}"#), 201).await;
    done(server.post("/v1/idempotency/a", r#"{"fingerprint":"b"}"#), 422).await;

    let scrape = Scrape::of(server).await;
    let cache = |name: &str| scrape.by_outcome(&format!("forebay_cache_{name}"), &PRICES);
    assert_eq!(cache("requests_total"), BTreeMap::from([("memory", 3.0), ("miss", 5.0)]));
    assert_eq!(cache("loads_total"), BTreeMap::from([("absent", 1.0), ("failed", 1.0), ("value", 1.0)]));
    assert_eq!(cache("fills_total"), BTreeMap::from([("stored", 2.0)]));
    assert_eq!(cache("changes_total"), BTreeMap::from([("invalidate", 1.0), ("put", 1.0)]));
    assert_eq!(scrape.value("forebay_cache_load_duration_seconds_count", &PRICES), 3.0);
    let limits = scrape.by_outcome("forebay_limiter_decisions_total", &[("policy", "api"), ("tier", "free")]);
    let refused = limits.get("denied").unwrap_or(&0.0) + limits.get("remembered").unwrap_or(&0.0);
    assert_eq!((limits["allowed"], refused), (2.0, 2.0), "{limits:?}");
    let locks = scrape.by_outcome("forebay_lock_requests_total", &[]);
    assert_eq!(locks, BTreeMap::from([("acquired", 1.0), ("busy", 1.0)]));
    let claims = scrape.by_outcome("forebay_claims_total", &[]);
    assert_eq!(claims, BTreeMap::from([("claimed", 1.0), ("taken", 2.0)]));
    let begins = scrape.by_outcome("forebay_idempotency_begins_total", &[]);
    assert_eq!(begins, BTreeMap::from([("mismatch", 1.0), ("run", 1.0)]));
    let http = |status| [("route", "/v1/claims/{name}"), ("method", "POST"), ("status", status)];
    assert_eq!(scrape.value("forebay_http_requests_total", &http("201")), 1.0);
    assert_eq!(scrape.value("forebay_http_requests_total", &http("409")), 2.0);
}

#[tokio::test]
async fn nothing_that_is_declared_begins_with_its_first_event() {
    let server = Server::with(SETTINGS);
    let scrape = Scrape::of(&server).await;
    for outcome in ["memory", "store", "loaded", "coalesced", "miss"] {
        assert_eq!(scrape.value("forebay_cache_requests_total", &[PRICES[0], ("outcome", outcome)]), 0.0);
    }
    let denied = [("policy", "api"), ("tier", "free"), ("outcome", "denied")];
    assert_eq!(scrape.value("forebay_limiter_decisions_total", &denied), 0.0);
    assert_eq!(scrape.value("forebay_topic_messages_total", &[("topic", "told"), ("outcome", "lost")]), 0.0);
    assert_eq!(scrape.value("forebay_visitors_total", &[("counter", "visits"), ("outcome", "dropped")]), 0.0);
}

#[tokio::test]
async fn counters_never_fall_over_a_reload_nor_over_an_outage() {
    let stage = Stage::redis(SETTINGS).await;
    let server = &stage.here;
    all_calls(server, "before").await;
    let before = Scrape::of(server).await;

    let said = server.reload(&format!(
        "[redis]\nbudget = \"1s\"\n{}",
        SETTINGS.replace("free =", "other = [\"1/s\"]\nfree =")
    ));
    assert!(said.contains("limits.api.tiers"), "{said}");
    let reloaded = Scrape::of(server).await;
    assert_eq!(reloaded.fallen(&before), []);
    let new = [("policy", "api"), ("tier", "other"), ("outcome", "denied")];
    assert_eq!(reloaded.value("forebay_limiter_decisions_total", &new), 0.0);

    stage.redis.as_ref().unwrap().kill();
    while Scrape::of(server).await.value("forebay_redis_usable", &[]) != 0.0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    done(server.get("/v1/cache/prices/a"), 404).await;
    done(server.delete("/v1/cache/prices/a"), 202).await;
    let gone = Scrape::of(server).await;
    assert_eq!(gone.fallen(&reloaded), []);
    assert_eq!(gone.value("forebay_redis_breakers_open", &[]), 1.0);
    assert_eq!(gone.value("forebay_cache_deferred_changes", &[]), 1.0);
    assert_eq!(gone.value("forebay_bus_hears", &[]), 0.0);
}

#[tokio::test]
async fn what_other_servers_change_is_told_apart() {
    let stage = Stage::redis(SETTINGS).await;
    done(stage.there.put("/v1/cache/prices/a?ttl_ms=60000&tag=t", "a"), 204).await;
    done(stage.there.post("/v1/invalidate/prices", r#"{"tags":["t"]}"#), 204).await;
    let heard = BTreeMap::from([("heard", 2.0)]);
    for _ in 0..100 {
        let scrape = Scrape::of(&stage.here).await;
        if scrape.by_outcome("forebay_cache_changes_total", &PRICES) == heard {
            let own = Scrape::of(&stage.there).await;
            let own = own.by_outcome("forebay_cache_changes_total", &PRICES);
            assert_eq!(own, BTreeMap::from([("put", 1.0), ("tag", 1.0)]));
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the changes of another server were not heard");
}

#[tokio::test]
async fn it_takes_no_query_and_no_other_method() {
    let server = Server::start();
    done(server.get("/metrics?name=a"), 400).await;
    done(server.post("/metrics", ""), 405).await;
    let routes: BTreeSet<_> = Scrape::of(&server)
        .await
        .series()
        .into_iter()
        .filter_map(|(name, labels)| (name == "forebay_http_requests_total").then(|| format!("{labels:?}")))
        .collect();
    assert_eq!(routes.len(), 2, "{routes:?}");
}
