use proptest::prelude::*;

use super::*;

fn keys(app: &str) -> Keys {
    Keys::new(App::new(app).unwrap())
}

fn space(name: &str) -> Name {
    Name::new(name).unwrap()
}

#[test]
fn every_kind_of_key_is_spelled_like_this_for_ever() {
    let (keys, space, id) = (keys("shop"), space("catalog:product"), encode("p-001"));

    assert_eq!(keys.value(&space, 2, &id), "cache:shop:catalog:product:v2:{p-001}");
    assert_eq!(keys.lease(&space, 2, &id), "lease:shop:catalog:product:v2:{p-001}");
    assert_eq!(keys.numbers(&space), "tags:shop:{catalog:product}");
    assert_eq!(keys.tag(&space, "brand:7"), "tag:shop:{catalog:product}:brand:7");
    assert_eq!(keys.lock("plan:42"), "lock:shop:{plan:42}");
    assert_eq!(keys.fence("plan:42"), "fence:shop:{plan:42}");
    assert_eq!(keys.claim("code:42"), "claim:shop:{code:42}");
    assert_eq!(keys.idempotency("pay:42"), "idem:shop:{pay:42}");
    assert_eq!(keys.unique(&space, "2026-05-13"), "uv:shop:{catalog:product}:2026-05-13");
    assert_eq!(keys.filter(&space), "filter:shop:{catalog:product}");
    assert_eq!(keys.filter_bits(&space, 3), "filter:shop:{catalog:product}:g3");
    let topic = Name::new("orders").unwrap();
    assert_eq!(keys.stream(&topic), "stream:shop:{orders}");
    assert_eq!(keys.dead_letters(&topic, &space), "stream:shop:{orders}:dead:catalog:product");
    assert_eq!(keys.topic_channel(&topic), "forebay:shop:topic:orders");
    assert_eq!(keys.invalidate_channel(), "forebay:shop:invalidate");
    assert_eq!(keys.wake_channel(), "forebay:shop:wake");
}

#[test]
fn every_id_is_encoded_like_this_for_ever() {
    let spelled = [
        ("", "%"),
        ("p-001", "p-001"),
        ("user:42*?[a]^\\", "user:42*?[a]^\\"),
        ("{a}%7B", "%7Ba%7D%257B"),
        ("a b\tc\r\n", "a%20b%09c%0D%0A"),
        ("\0\u{1F}\u{7F}\u{80}\u{9F}", "%00%1F%7F%C2%80%C2%9F"),
        ("\u{A0}\u{1680}\u{2028}\u{3000}", "%C2%A0%E1%9A%80%E2%80%A8%E3%80%80"),
        ("größe-日本-😀", "größe-日本-😀"),
    ];

    for (id, encoded) in spelled {
        assert_eq!(encode(id), encoded);
    }
}

#[test]
fn a_character_is_encoded_alike_wherever_it_stands() {
    for character in (0..=0x100).filter_map(char::from_u32) {
        let alone = encode(character.encode_utf8(&mut [0; 2])).into_owned();
        assert_eq!(alone.starts_with('%'), is_special(character), "{character:?}");
        for (before, after) in (0..=17).flat_map(|before| (0..=17).map(move |after| (before, after))) {
            let [before, after] = [before, after].map(|length| "~z|".repeat(6)[..length].to_owned());
            let id = format!("{before}{character}{after}");
            assert_eq!(encode(&id), format!("{before}{alone}{after}"), "{id:?}");
        }
    }
}

#[test]
fn a_long_id_is_hashed_as_it_was_before_encoding() {
    let longest = "p".repeat(200);
    let mebibyte = "p".repeat(1 << 20);

    assert_eq!(encode(&longest), longest);
    assert_eq!(encode(&"p".repeat(201)), "%~e0eb04c572dea84d4acef0bfec5394ae");
    assert_eq!(encode(&" ".repeat(67)), "%~0fd1ca11c2cffd4ff2ed9b8e9bfe7e3b");
    assert_eq!(encode(&mebibyte), "%~a468ce97524e0dc561b53c6000fce0f9");
    assert_eq!(encode(&" ".repeat(66)).len(), 198);
}

#[test]
fn an_id_that_needs_no_encoding_is_borrowed() {
    for id in ["", "p-001", "größe-日本-😀", &"p".repeat(200)] {
        assert!(matches!(encode(id), Cow::Borrowed(_)), "{id}");
    }
}

#[test]
fn names_are_refused_with_what_is_allowed() {
    for name in ["", "Shop", "a b", "a/b", "a{b", "ä", &"a".repeat(65)] {
        assert!(App::new(name).is_err() && Name::new(name).is_err(), "{name}");
    }
    assert!(App::new("a:b").is_err());
    assert!(Name::new("a:b._-9").is_ok());
    assert_eq!(App::new("a".repeat(64)).unwrap().as_str().len(), 64);

    let error = Name::new("Catalog/Product").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(
        error.to_string(),
        "name \"Catalog/Product\" cannot be part of a key: use 1 to 64 characters out of a-z, 0-9 and ._:-"
    );
}

#[test]
fn what_is_no_key_of_a_value_is_not_read_as_one() {
    let strange =
        ["", ":", "product:{a}", "product:v1:a", "product:v1:{a", "product:v:{a}", "product:v-1:{a}"];
    for rest in strange.map(|rest| format!("cache:shop:{rest}")) {
        assert_eq!(keys("shop").read_value(&rest), None, "{rest}");
    }
}

#[test]
fn neighbouring_versions_share_their_changes() {
    assert_eq!(generations(1), 1..=2);
    assert_eq!(generations(2), 1..=3);
    assert_eq!(generations(u32::MAX), u32::MAX - 1..=u32::MAX);
}

/// Strings of few different characters, most of which matter to the encoding, so that near twins are common.
fn near_twins() -> impl Strategy<Value = String> {
    prop_oneof![
        "[{}%~ 27BD]{0,4}",
        "[ p]{196,204}",
        "%~[0-9a-f]{32}",
        "[\u{80}\u{A0}\u{2028}ä😀\n*:]{0,70}",
        any::<String>(),
    ]
}

/// The parts of one key, and the key.
fn any_key() -> impl Strategy<Value = ([String; 5], String)> {
    ("[ab]", "[a:v1]{1,4}", 1..12_u32, near_twins(), any::<bool>()).prop_map(
        |(app, name, version, id, lease)| {
            let (keys, space, encoded) = (keys(&app), space(&name), encode(&id));
            let key = if lease { Keys::lease } else { Keys::value }(&keys, &space, version, &encoded);
            ([app, name, version.to_string(), id, lease.to_string()], key)
        },
    )
}

proptest! {
    #[test]
    fn different_ids_have_different_encodings(a in near_twins(), b in near_twins()) {
        prop_assert_eq!(a == b, encode(&a) == encode(&b));
    }

    #[test]
    fn an_encoding_never_leaves_its_place(id in near_twins()) {
        let encoded = encode(&id);

        prop_assert!((1..=200).contains(&encoded.len()));
        prop_assert_eq!(encoded.find(['{', '}']), None);
        prop_assert_eq!(encoded.find(char::is_whitespace), None);
        prop_assert_eq!(encoded.find(char::is_control), None);
        prop_assert!(!encoded.starts_with("%~") || encoded.len() == 34 && id.len() > 66);
    }

    #[test]
    fn different_parts_make_different_keys((a, a_key) in any_key(), (b, b_key) in any_key()) {
        prop_assert_eq!(a == b, a_key == b_key);
    }

    #[test]
    fn the_key_of_a_value_is_read_as_it_was_spelled((parts, key) in any_key()) {
        let [app, name, version, id, lease] = parts;
        let (encoded, version) = (encode(&id), version.parse().unwrap());
        let read = (lease == "false").then_some((&*name, version, &*encoded));

        prop_assert_eq!(keys(&app).read_value(&key), read);
        prop_assert_eq!(keys(&app).read_value(&key).is_some(), key.starts_with(&keys(&app).values()));
        prop_assert_eq!(keys("other").read_value(&key), None);
    }

    #[test]
    fn a_user_never_chooses_the_slot((parts, key) in any_key()) {
        let slot = key.split_once('{').unwrap().1.split_once('}').unwrap();

        prop_assert_eq!(slot.0, encode(&parts[3]));
        prop_assert_eq!(slot.1, "");
    }
}
