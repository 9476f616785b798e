use std::collections::{BTreeMap, HashMap, HashSet};

use super::{canonical::Canonical, *};

#[derive(Serialize)]
enum Scope {
    All,
    Only(u8),
    Range(u8, u8),
    Like { text: Option<&'static str> },
}

fn json<T: Serialize>(value: T) -> String {
    value.serialize(Canonical).unwrap()
}

fn refusal<T: Serialize>(value: T) -> String {
    let error = Fingerprint::new().with("input", &value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
    error.to_string()
}

#[test]
fn every_fingerprint_is_like_this_for_ever() {
    let answer = Fingerprint::new()
        .with("user", &u64::MAX)
        .and_then(|it| it.with("question", "Où est la gare ?\n"))
        .and_then(|it| it.with("numbers", &(1_u64 << 53, (1_u64 << 53) + 1, i64::MIN, 1e21, -0.0)))
        .and_then(|it| it.with("profile", &BTreeMap::from([("b", None), ("a", Some(true))])))
        .unwrap();

    assert_eq!(Fingerprint::new().finish(), "6e46dd10defc9b56c29a6ec56b508c21");
    assert_eq!(answer.finish(), "e071e651ec82c1760eb17b77b87b1e8d");
}

#[test]
fn integers_are_exact() {
    assert_eq!(json(1_u64 << 53), "9007199254740992");
    assert_eq!(json((1_u64 << 53) + 1), "9007199254740993");
    assert_eq!(json(u64::MAX), "18446744073709551615");
    assert_eq!(json(i64::MIN), "-9223372036854775808");
    assert_eq!(json(u128::MAX), "340282366920938463463374607431768211455");
    assert_eq!(json(i128::MIN), "-170141183460469231731687303715884105728");
}

#[test]
fn floats_are_spelled_as_the_standard_says() {
    let spelled = [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (333_333_333.333_333_3, "333333333.3333333"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::from(0.1_f32), "0.10000000149011612"),
    ];

    for (float, text) in spelled {
        assert_eq!(json(float), text);
    }
    assert_eq!(json(0.1_f32), json(f64::from(0.1_f32)));
}

#[test]
fn strings_are_escaped_as_the_standard_says() {
    assert_eq!(json("\u{20AC}$\u{F}\nA'B\"\\\"/\u{7F}"), "\"\u{20AC}$\\u000f\\nA'B\\\"\\\\\\\"/\u{7F}\"");
}

#[test]
fn members_are_sorted_by_their_utf_16_form() {
    let names = ["\u{20AC}", "\r", "\u{FB33}", "1", "\u{1F600}", "\u{80}", "\u{F6}"];
    let map: HashMap<_, _> = names.into_iter().map(|name| (name, 0)).collect();

    assert_eq!(
        json(map),
        "{\"\\r\":0,\"1\":0,\"\u{80}\":0,\"\u{F6}\":0,\"\u{20AC}\":0,\"\u{1F600}\":0,\"\u{FB33}\":0}"
    );
}

#[test]
fn nested_values_have_the_shape_of_json() {
    assert_eq!(json((Scope::All, Scope::Only(1), ())), r#"["All",{"Only":1},null]"#);
    assert_eq!(json([Scope::Range(1, 2)]), r#"[{"Range":[1,2]}]"#);
    assert_eq!(json(Scope::Like { text: None }), r#"{"Like":{"text":null}}"#);
    assert_eq!(json(HashMap::from([(7, [Some('x')])])), r#"{"7":["x"]}"#);
    assert_eq!(json(serde_json::json!({ "b": [1.5, -1], "a": {} })), r#"{"a":{},"b":[1.5,-1]}"#);
}

#[test]
fn the_order_of_inputs_and_of_entries_does_not_matter() {
    let forwards: HashMap<_, _> = (0..100).map(|n| (n, n)).collect();
    let backwards: HashMap<_, _> = (0..100).rev().map(|n| (n, n)).collect();
    let a = Fingerprint::new().with("map", &forwards).and_then(|it| it.with("n", &1));
    let b = Fingerprint::new().with("n", &1.0).and_then(|it| it.with("map", &backwards));

    assert_eq!(a.unwrap().finish(), b.unwrap().finish());
}

#[test]
fn inputs_that_read_alike_are_different() {
    fn id<T: Serialize>(name: &str, value: T) -> String {
        Fingerprint::new().with(name, &value).unwrap().finish()
    }
    let ids = [id("a", 1), id("a", "1"), id("a", [1]), id("a", None::<u8>), id("a", "null"), id("b", 1)];

    assert_eq!(HashSet::from(ids).len(), 6);
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    assert_eq!(
        refusal([Some(f64::NAN)]),
        "the input \"input\" cannot be part of a fingerprint: NaN and infinity have no JSON form"
    );
    assert!(refusal(f32::NEG_INFINITY).contains("infinity"));
    assert!(refusal(HashMap::from([((1, 2), 3)])).contains("key of a map"));
    assert!(refusal(BTreeMap::from([(Some(1), 2), (None, 3)])).contains("key of a map"));
}

#[test]
fn an_object_with_two_members_of_one_name_is_refused() {
    #[derive(Serialize)]
    struct Twins {
        name: u8,
        #[serde(flatten)]
        rest: HashMap<&'static str, u8>,
    }

    let twins = Twins { name: 1, rest: HashMap::from([("name", 2)]) };
    assert!(refusal(twins).contains("two members \"name\""));
}

#[test]
fn an_input_has_one_value() {
    let twice = Fingerprint::new().with("user", &1).and_then(|it| it.with("user", &1));

    assert_eq!(twice.unwrap_err().kind(), ErrorKind::Config);
}
