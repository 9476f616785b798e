//! `forebay config check`.

use std::fs;

use serde_json::Value;
use tempfile::NamedTempFile;

use super::Said;
use crate::support::run;

fn check(variables: &[(&str, &str)], settings: &str) -> Said {
    Said::of(&run(&["config", "check", "--json"], variables, Some(settings)))
}

/// The value of a setting, and what has set it.
fn setting(told: &Value, name: &str) -> (String, String) {
    let all = told["settings"].as_array().unwrap();
    let found =
        all.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("{name}: {told}"));
    let text = |member: &str| found[member].as_str().unwrap().to_owned();
    (text("value"), text("from"))
}

#[test]
fn every_value_is_told_with_what_has_set_it() {
    let settings = "app = \"file\"\nlisten = \"127.0.0.1:1\"\n[redis]\nurl = \"redis://:secret@127.0.0.1:2\"\n\
                    [cache.spaces.\"a:b\"]\ntime_to_live = \"1h\"\n[[auth.tokens]]\nname = \"web\"\n\
                    sha256 = \"1111111111111111111111111111111111111111111111111111111111111111\"\nscopes = [\"ops\"]\n";
    let output = run(
        &["--app", "typed", "config", "check", "--json"],
        &[("FOREBAY_LISTEN", "127.0.0.1:3")],
        Some(settings),
    );
    let said = Said::of(&output);
    assert_eq!(said.code, Some(0), "{said:?}");
    let told = said.json();
    assert_eq!(setting(&told, "app"), ("typed".into(), "--app".into()));
    assert_eq!(setting(&told, "listen"), ("127.0.0.1:3".into(), "FOREBAY_LISTEN".into()));
    assert_eq!(setting(&told, "server.request_deadline"), ("35s".into(), "default".into()));
    for (name, value) in [
        ("store", "redis"),
        ("redis.url", "127.0.0.1:2"),
        (r#"cache.spaces."a:b".time_to_live"#, "1h"),
        ("auth.tokens[0].name", "web"),
        ("auth.tokens[0].sha256", "…"),
    ] {
        let (told, from) = setting(&told, name);
        assert_eq!(told, value, "{name}");
        assert!(from.ends_with(".toml"), "{name} {from}");
    }
    assert!(!said.out.contains("secret"), "{}", said.out);
}

#[test]
fn what_serve_refuses_is_refused_by_its_name() {
    for (settings, named) in [
        ("[server]\nlimit = \"none\"", "`server.limit`"),
        // What only the library knows.
        ("[cache.spaces.a]\ntime_to_live = \"0s\"", "`cache.spaces.\"a\"`"),
        ("[redis]\nurl = \"http://127.0.0.1\"", "`redis.url`"),
        ("[topics.\"Not a name\"]\ndurable = true", "`topics.\"Not a name\"`"),
    ] {
        let said = check(&[], settings);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
        assert!(said.err.contains(named) && said.err.contains(".toml"), "{named}: {}", said.err);
    }
    let said = check(&[("RUST_LOG", "a=b=c")], "");
    assert!(said.code == Some(2) && said.err.contains("RUST_LOG"), "{said:?}");
}

#[test]
fn what_is_likely_not_meant_is_told_and_changes_no_exit_code() {
    let token = "[[auth.tokens]]\nname = \"web\"\nscopes = [\"data\"]\n\
                 sha256 = \"1111111111111111111111111111111111111111111111111111111111111111\"\n";
    for (settings, named) in [
        ("[redis]\nurl = \"redis://127.0.0.1:1\"", "`app` is the default"),
        ("app = \"a\"\n[redis]\nurl = \"redis://:secret@192.0.2.1:1\"", "without TLS"),
        ("[cache.spaces.a]\nstale_for = \"1h\"", "`cache.spaces.\"a\".time_to_live`"),
        ("[cache.spaces.a]\nstale_for = \"1h\"", "`cache.spaces.\"a\".stale_for`"),
        ("[cache.spaces.a]\ntime_to_live = \"1s\"\nabsent_for = \"2s\"", "`cache.spaces.\"a\".absent_for`"),
        ("[limits.api.tiers]\nfree = \"unlimited\"", "`limits.api.lowest`"),
        ("[server]\ntrusted_proxies = [\"0.0.0.0/0\"]", "`server.trusted_proxies`"),
        ("[unique.counters.a]\nkeep_days = 3", "`unique.counters.\"a\".keep_days`"),
        (token, "`ops`"),
        (&format!("listen = \"0.0.0.0:1\"\n{token}"), "`server.limit`"),
    ] {
        let said = check(&[], settings);
        assert_eq!(said.code, Some(0), "{said:?}");
        let doubts = said.json()["doubts"].to_string().replace("\\\"", "\"");
        assert!(doubts.contains(named), "{named}: {doubts}");
        let text = Said::of(&run(&["config", "check"], &[], Some(settings))).out;
        assert!(text.contains("Worth a look:") && text.contains(named), "{text}");
    }
    let said = check(&[("FOREBAY_STORE", "memory")], "[redis]\nurl = \"redis://127.0.0.1:1\"");
    assert!(said.out.contains("`redis.url` is not used"), "{said:?}");
}

#[test]
fn what_needs_no_second_look_gets_none() {
    let said = check(
        &[],
        "app = \"shop\"\n[cache.spaces.a]\ntime_to_live = \"1h\"\nstale_for = \"6h\"\nrefresh = \"stale\"",
    );
    assert_eq!(said.json()["doubts"], serde_json::json!([]), "{said:?}");
}

#[test]
fn a_password_in_a_file_that_others_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), "app = \"a\"\n[redis]\nurl = \"redis://:secret@127.0.0.1:1\"\n").unwrap();
    for (mode, is_told) in [(0o644, true), (0o600, false)] {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        let said = Said::of(&run(&["config", "check", "--config", file.path().to_str().unwrap()], &[], None));
        assert_eq!(said.out.contains("chmod 600"), is_told, "{mode:o}: {}", said.out);
    }
}

#[test]
fn no_password_of_the_file_is_told_whatever_the_store_is() {
    for store in ["memory", "redis"] {
        let said = check(&[("FOREBAY_STORE", store)], "[redis]\nurl = \"redis://:hush@127.0.0.1:1\"");
        assert!(said.code == Some(0) && said.out.contains("redis.url"), "{said:?}");
        assert!(!said.out.contains("hush") && !said.err.contains("hush"), "{said:?}");
    }
}
