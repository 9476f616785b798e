//! Settings: who beats whom, and what is refused at the start.

use std::{net::TcpListener, process::Output};

use crate::support::{Server, exchange, run};

fn refused(output: &Output, code: i32, named: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    for name in named {
        assert!(message.contains(name), "{name}: {message}");
    }
}

/// Settings, and what their refusal names.
type Refused = (&'static str, &'static [&'static str]);

/// Those of `[cache]`.
const OF_THE_CACHE: [Refused; 26] = [
    (
        "[cache.spaces.\"a:b\"]\ntime_to_lve = \"1h\"",
        &["`cache.spaces.\"a:b\".time_to_lve`", "`time_to_live`"],
    ),
    ("[cache]\nlocal_byte = 1", &["`cache.local_byte`", "`local_bytes`"]),
    ("[cache.spaces.a]\nwait = 5", &["`cache.spaces.a.wait`", "30s"]),
    ("[cache.spaces.a]\nwait = \"5 apples\"", &["`cache.spaces.a.wait`", "5 apples"]),
    ("[cache.spaces.a]\nrefresh = \"soon\"", &["`cache.spaces.a.refresh`", "soon", "early"]),
    (
        "[cache.spaces.a]\ncoherence = \"ttl\"",
        &["`cache.spaces.a.coherence`", "`ttl`", "`bus`, `tracking`, `ttl_only`"],
    ),
    ("[cache.spaces.a]\nbeta = 2.0", &["`cache.spaces.\"a\".beta`", "refresh = \"early\""]),
    (
        "[cache.spaces.a]\nrefresh = \"early\"\nahead = 0.2",
        &["`cache.spaces.\"a\".ahead`", "refresh = \"ahead\""],
    ),
    ("[cache.spaces.a]\nrefresh = \"early\"\nbeta = 0.0", &["cache.spaces.\"a\"", "beta", "above 0"]),
    ("[cache.spaces.a]\nrefresh = \"ahead\"\nahead = 1.0", &["cache.spaces.\"a\"", "ahead", "below 1"]),
    ("[cache.spaces.a]\nadaptive = { min = \"1m\" }", &["`cache.spaces.a.adaptive", "`max` is missing"]),
    (
        "[cache.spaces.a]\nadaptive = { min = \"1m\", max = \"1h\" }",
        &["`cache.spaces.\"a\".adaptive`", "`time_to_live`"],
    ),
    (
        "[cache.spaces.a]\ntime_to_live = \"2h\"\nadaptive = { min = \"1m\", max = \"1h\" }",
        &["cache.spaces.\"a\"", "adaptive", "between"],
    ),
    ("[cache.spaces.a]\ntime_to_live = \"0s\"", &["cache.spaces.\"a\"", "time_to_live"]),
    ("[cache.spaces.A]", &["cache.spaces.\"A\""]),
    ("[cache.spaces.a]\nmax_bytes = -1", &["`cache.spaces.a.max_bytes`"]),
    ("[cache.spaces.a]\nmax_bytes = \"1\"", &["`cache.spaces.a.max_bytes`", "a whole number of bytes"]),
    ("[cache.spaces.a]\njitter = \"1\"", &["`cache.spaces.a.jitter`", "a fraction"]),
    ("[cache.spaces.a]\nload_concurrency = 1.5", &["`cache.spaces.a.load_concurrency`", "a whole number"]),
    ("[cache]\nlocal_bytes = \"64MiB\"", &["`cache.local_bytes`", "a whole number of bytes"]),
    ("[cache]\nlocal_bytes = 1000", &["`cache.local_bytes`", "65536"]),
    ("[cache]\noutage_concurrency = 0", &["`cache.outage_concurrency`", "64"]),
    (
        "[cache.spaces.a]\ninvalidate_again_after = \"0s\"",
        &["cache.spaces.\"a\"", "invalidate_again_after", "longest lag"],
    ),
    ("[cache.spaces.a]\nrefresh = 5", &["`cache.spaces.a.refresh`", "a word in quotes"]),
    (
        "[cache.spaces.a.origin_breaker]\nfailures = 3",
        &["cache.spaces.a.origin_breaker", "`window` is missing"],
    ),
    ("[cache.spaces.a]\norigin_breaker = 5", &["`cache.spaces.a.origin_breaker`", "{ failures = 5, window"]),
];

/// Those of `[limits]`.
const OF_LIMITS: [Refused; 17] = [
    ("[limits.api]\nmdoe = \"log\"", &["unknown setting `limits.api.mdoe`", "`mode`"]),
    ("[limits.api]\nmode = \"fair\"", &["`limits.api.mode`", "fair", "sliding"]),
    ("[limits.api]\non_outage = \"shut\"", &["`limits.api.on_outage`", "closed"]),
    ("[limits.api]\nexpected_processes = 0", &["`limits.api.expected_processes`"]),
    ("[limits.api]\nlowest = \"gold\"", &["`limits.api.lowest`", "`gold`", "`basic`"]),
    ("[limits.api.tiers]\npro = [\"1/second\"]", &["`limits.api.lowest`", "`free`", "`pro`"]),
    ("[limits.api.tiers]\nfree = [\"1/second\", \"5/fortnight\"]", &["`limits.api.tiers.free[1]`", "5/30s"]),
    ("[limits.api.tiers]\nfree = \"1/second\"", &["`limits.api.tiers.free`", "unlimited"]),
    ("[limits.api.tiers]\nfree = [5]", &["`limits.api.tiers.free[0]`", "10/minute"]),
    ("[limits.api.tiers]\nfree = [\"1/s\", \"2/s\"]", &["`limits.api.tiers.free`", "two windows"]),
    ("[limits.api.tiers]\nfree = [\"1/s\"]\n\"My tier\" = \"unlimited\"", &["limits.api.tiers", "My tier"]),
    ("[limits.api.tiers]\nfree = []", &["`limits.api.tiers.free`", "unlimited"]),
    ("[limits.api.tiers]\nfree = [{ window = \"9/s\", burts = 2 }]", &["free[0].burts`", "`burst`"]),
    ("[limits.api.tiers]\nfree = [{ window = \"9/s\", burst = 2 }]", &["`limits.api`", "burst"]),
    ("[limits.api]\nmode = \"log\"\ntiers = { free = [\"10001/hour\"] }", &["`limits.api`", "10,000"]),
    ("[limits.A]", &["`limits.A`"]),
    ("limits = 5", &["`limits`", "a table"]),
];

/// Those of `[unique]`.
const OF_COUNTERS: [Refused; 8] = [
    ("[unique]\ntime_zon = \"UTC\"", &["unknown setting `unique.time_zon`", "`time_zone`"]),
    ("[unique]\ntime_zone = \"Europe/Atlantis\"", &["`unique.time_zone`", "Atlantis", "Europe/Berlin"]),
    ("[unique]\nkeep_days = 0", &["`unique.keep_days`", "1 to 400"]),
    ("[unique]\nkeep_days = \"8\"", &["`unique.keep_days`", "a whole number"]),
    ("[unique.counters.a]\nkeep_days = 401", &["`unique.counters.\"a\".keep_days`", "1 to 400"]),
    ("[unique.counters.a]\ntime_zone = \"Here\"", &["`unique.counters.\"a\".time_zone`", "Here"]),
    ("[unique.counters.a]\nbuffer = 1", &["`unique.counters.a.buffer`"]),
    ("[unique.counters.A]", &["`unique.counters.\"A\"`"]),
];

/// All others but tokens.
const OTHERS: [Refused; 19] = [
    ("[topics.orders]\ndurabel = true", &["unknown setting `topics.orders.durabel`", "`durable`"]),
    ("[topics.orders]\nmax_len = 5", &["`topics.\"orders\".max_len`", "`durable = true`"]),
    ("[topics.orders]\ndurable = true\nkeep_for = \"1s\"", &["`topics.\"orders\"`", "keep_for"]),
    ("[topics.Orders]", &["`topics.\"Orders\"`", "a-z"]),
    ("listn = \"a\"", &["unknown setting `listn`", "did you mean `listen`"]),
    ("server = 5", &["`server`", "[server]"]),
    ("[auth]\ntokens = [\"a\"]", &["`auth.tokens[0]`", "{ name = "]),
    (
        "[server]\nrequest_deadline = \"10s\"\n[cache.spaces.a]\nwait = \"20s\"",
        &["`server.request_deadline`", "cache.spaces.\"a\""],
    ),
    ("[redis]\nurl = 5", &["`redis.url`", "a string"]),
    ("[redis]\nbudget = \"0s\"", &["`redis.budget`", "50ms"]),
    ("[redis]\nbudget = \"61s\"", &["`redis.budget`", "50ms"]),
    ("[redis]\nurls = \"redis://a\"", &["unknown setting `redis.urls`", "`url`"]),
    ("redis = \"redis://a\"", &["`redis`", "[redis]"]),
    ("[server]\nlimit = \"none\"", &["`server.limit`", "[limits.none]", "`api`"]),
    ("[server]\nlimit_headers = \"draft\"", &["`server.limit_headers`", "draft-11"]),
    ("[server]\ntrusted_proxies = [\"a\"]", &["`server.trusted_proxies`"]),
    ("app = \"Not a name\"", &["`app`"]),
    ("app = ", &["line 1"]),
    ("[auth]\ntokens = [{ name = \"a\", sha256 = \"\", scopes = [\"admin\"] }]", &["`auth.tokens[0]"]),
];

fn refused_at_the_start(settings: &str, named: &[&str]) {
    let output = run(&["--listen", "127.0.0.1:0"], &[], Some(settings));
    refused(&output, 2, named);
    refused(&output, 2, &[".toml"]);
    let message = String::from_utf8(output.stderr).unwrap();
    let words: Vec<_> = message.split(|c: char| !c.is_alphanumeric()).collect();
    for rust in ["struct", "usize", "u64", "f64"] {
        assert!(!words.contains(&rust), "{rust}: {message}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_their_full_names() {
    for (settings, named) in OF_THE_CACHE.into_iter().chain(OF_LIMITS).chain(OF_COUNTERS).chain(OTHERS) {
        refused_at_the_start(settings, named);
    }
}

#[test]
fn the_file_of_the_docs_is_taken() {
    let (_, rest) = include_str!("../../../../docs/server.md").split_once("```toml\n").unwrap();
    let (settings, _) = rest.split_once("```").unwrap();
    let server = Server::given(&[], &[("FOREBAY_STORE", "memory")], settings);
    assert_eq!(exchange(&server.address, "GET /analytics/uv/today", &[], "").status, 401);
}

#[test]
fn tokens_that_cannot_be_used_are_refused_by_their_place() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let (one, two) = (&*"1".repeat(64), &*"2".repeat(64));
    let token =
        |name: &str, hash: &str| format!("{{ name = \"{name}\", sha256 = \"{hash}\", scopes = [\"data\"] }}");
    let refused = |tokens: &[String], before: &str, named: &[&str]| {
        refused_at_the_start(&format!("{before}[auth]\ntokens = [{}]", tokens.join(", ")), named);
    };
    refused(&[token("a", "12")], "", &["`auth.tokens[0].sha256`", "sha256sum"]);
    refused(&[token("a", empty)], "", &["`auth.tokens[0].sha256`", "empty"]);
    refused(&[token("a", one), token("a", two)], "", &["`auth.tokens[1]`", "name"]);
    refused(&[token("a", one), token("b", one)], "", &["`auth.tokens[1]`", "hash"]);
    let limit = "[server]\nlimit = \"api\"\n[limits.api.tiers]\nfree = [\"1/s\"]\n";
    let of_a_tier = token("a", one).replace(" }", ", tier = \"gold\" }");
    refused(&[of_a_tier], limit, &["`auth.tokens[0].tier`", "`gold`", "`limits.api.tiers`"]);
}

#[test]
fn flags_and_variables_that_cannot_be_used_are_refused() {
    refused(&run(&["--lisen", "a"], &[], None), 2, &["--lisen", "--listen"]);
    refused(&run(&["--listen", "a"], &[], None), 2, &["`a`", "127.0.0.1:7340", "--listen"]);
    refused(&run(&["--config", "/none.toml"], &[], None), 2, &["/none.toml", "--config"]);
    refused(&run(&[], &[("FOREBAY_CONFIG", "/none.toml")], None), 2, &["/none.toml"]);
    refused(&run(&[], &[("FOREBAY_STORE", "disk")], None), 2, &["FOREBAY_STORE", "`disk`", "`redis`"]);
    refused(&run(&["--store", "redis"], &[], None), 2, &["--store", "FOREBAY_REDIS_URL", "[redis]"]);
    refused(&run(&[], &[("RUST_LOG", "a=b=c")], None), 2, &["RUST_LOG", "a=b=c"]);
}

#[test]
fn a_url_of_redis_that_cannot_be_used_is_blamed_on_its_setting_without_the_password() {
    for url in
        ["http://web:secret@host:6379", "web:secret@host:6379", "redis://web:secret@", "redis://:secret@/0"]
    {
        let flag = run(&["--redis", url], &[], None);
        let variable = run(&[], &[("FOREBAY_REDIS_URL", url)], None);
        let file = run(&[], &[], Some(&format!("[redis]\nurl = \"{url}\"")));

        for output in [&flag, &variable, &file] {
            assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"), "{url}: {output:?}");
        }
        refused(&flag, 2, &["--redis"]);
        refused(&variable, 2, &["FOREBAY_REDIS_URL"]);
        refused(&file, 2, &[".toml", "`redis.url`"]);
    }
    refused(&run(&[], &[], Some("[redis]\nurl = \"\"")), 2, &["`redis.url`"]);
}

#[test]
fn a_flag_beats_a_variable_and_a_variable_beats_the_file() {
    let file = "listen = \"file:x\"\napp = \"a\"";
    let variable = ("FOREBAY_LISTEN", "variable:x");

    refused(&run(&[], &[], Some(file)), 2, &["`file:x`"]);
    refused(&run(&[], &[variable], Some(file)), 2, &["`variable:x`"]);
    refused(&run(&["serve", "--listen", "flag:x"], &[variable], Some(file)), 2, &["`flag:x`"]);
    refused(&run(&["--listen", "flag:x", "serve"], &[variable], Some(file)), 2, &["`flag:x`"]);
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let empty =
        ["FOREBAY_LISTEN", "FOREBAY_APP", "FOREBAY_REDIS_URL", "FOREBAY_STORE"].map(|name| (name, ""));

    refused(&run(&[], &empty, Some("listen = \"file:x\"")), 2, &["`file:x`"]);
    refused(&run(&[], &empty, Some("app = \"A\"")), 2, &["`app`", "\"A\""]);
    refused(&run(&["--listen", "flag:x"], &[("FOREBAY_CONFIG", "")], None), 2, &["`flag:x`"]);
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    refused(&run(&["--listen", &address], &[], None), 1, &[&address, "in use", "--listen"]);
}
