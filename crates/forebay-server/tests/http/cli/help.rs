//! What the program says of itself.

use super::Said;
use crate::support::run;

/// Every verb that needs no other.
const VERBS: [&[&str]; 11] = [
    &["serve"],
    &["demo"],
    &["doctor"],
    &["config", "check"],
    &["inspect"],
    &["invalidate"],
    &["unlock"],
    &["warm"],
    &["bench", "stampede"],
    &["top"],
    &["completions"],
];

/// The flags of the server.
const OF_SERVE: [&str; 5] = ["--config", "--listen", "--app", "--redis", "--store"];

fn help(verb: &[&str]) -> String {
    let arguments: Vec<_> = verb.iter().copied().chain(["--help"]).collect();
    let said = Said::of(&run(&arguments, &[], None));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    said.out
}

#[test]
fn every_verb_is_listed_and_explains_itself() {
    let program = help(&[]);
    for verb in VERBS {
        assert!(program.contains(&format!("\n  {} ", verb[0])), "{verb:?}: {program}");
        let text = help(verb);
        assert!(text.contains(&format!("Usage: forebay {}", verb.join(" "))), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    assert!(program.contains("Exit codes: 0 all is well; 1 "), "{program}");
}

#[test]
fn the_flags_of_the_server_are_shown_by_the_verbs_that_take_them() {
    for verb in VERBS {
        let text = help(verb);
        let shown: Vec<_> = OF_SERVE.into_iter().filter(|flag| text.contains(&format!("{flag} <"))).collect();
        match verb {
            ["serve" | "doctor"] | ["config", "check"] => assert_eq!(shown, OF_SERVE, "{text}"),
            _ => assert_eq!(shown, Vec::<&str>::new(), "{text}"),
        }
    }
}

#[test]
fn a_secret_in_a_variable_is_in_no_help() {
    let variables = [("FOREBAY_REDIS_URL", "redis://:secret@a"), ("FOREBAY_TOKEN", "secret")];
    for verb in VERBS {
        let arguments: Vec<_> = verb.iter().copied().chain(["--help"]).collect();
        assert!(!Said::of(&run(&arguments, &variables, None)).out.contains("secret"), "{verb:?}");
    }
}

#[test]
fn completions_know_verbs_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = Said::of(&run(&["completions", shell], &[], None));
        assert_eq!(said.code, Some(0), "{said:?}");
        for known in ["invalidate", "listen", "matching"] {
            assert!(said.out.contains(known), "{shell}: {known}");
        }
    }
    let said = Said::of(&run(&["completions", "cmd"], &[], None));
    assert!(said.code == Some(2) && said.err.contains("fish"), "{said:?}");
}
