//! The small Redis does what a script would see of the real one.

use super::{Reply, Server, Sorted, Value};

fn eval(server: &Server, text: &str) -> Result<Reply, String> {
    server.run(&server.load(text), &["k"], &[b"7".to_vec(), b"\xff\0".to_vec()])
}

fn integers(numbers: &[i64]) -> Reply {
    Reply::Many(numbers.iter().copied().map(Reply::Integer).collect())
}

#[test]
fn packs_and_unpacks_integers_up_to_two_to_the_fifty_third() {
    let text = "
        local wide = 9007199254740992
        local packed = struct.pack('>BHI1I4I7I8', 255, 65535, 7, 4294967295, wide, wide)
        local b, h, i1, i4, i7, i8, next = struct.unpack('>BHI1I4I7I8', packed)
        return {#packed, b, h, i1, i4, i7, i8, next, packed}";
    let Ok(Reply::Many(mut replies)) = eval(&Server::new(), text) else { panic!("it runs") };
    let bytes =
        [0xff, 0xff, 0xff, 7, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0];
    assert_eq!(replies.pop(), Some(Reply::Bulk(bytes.to_vec())));
    let wide = 1 << 53;
    assert_eq!(Reply::Many(replies), integers(&[23, 255, 65535, 7, 4_294_967_295, wide, wide, 24]));
}

#[test]
fn unpacks_from_a_position_and_keeps_characters() {
    let text = "local a, c, next = struct.unpack('>I2c2', 'xxabcde', 3) return {a, next, struct.pack('>c2B', c, 65)}";
    let expected = [Reply::Integer(0x6162), Reply::Integer(7), Reply::Bulk(b"cdA".to_vec())];
    assert_eq!(eval(&Server::new(), text), Ok(Reply::Many(expected.to_vec())));
}

#[test]
fn refuses_what_would_lose_digits_or_is_too_short() {
    for text in [
        "return struct.pack('>B', 256)",
        "return struct.pack('>I4', -1)",
        "return struct.pack('>I4', 1.5)",
        "return struct.unpack('>I4', 'abc')",
        "return struct.pack('<B', 1)",
        "return 0.5",
        "return redis.call('PEXPIRE', KEYS[1], 1.5)",
    ] {
        assert!(eval(&Server::new(), text).is_err(), "{text}");
    }
}

#[test]
fn cuts_off_what_does_not_fit_where_it_is_lenient() {
    let server = Server::new();
    server.be_lenient();
    let packed = eval(&server, "return struct.pack('>BI2I2', 257, -1, 65537)");
    assert_eq!(packed, Ok(Reply::Bulk(vec![1, 0xff, 0xff, 0, 1])));
}

#[test]
fn a_key_lives_through_its_last_millisecond() {
    let server = Server::new();
    let alive = || eval(&server, "return redis.call('GET', KEYS[1])");
    eval(&server, "return redis.call('SET', KEYS[1], ARGV[2], 'PX', 10)").unwrap();
    server.step(9);
    assert_eq!(alive(), Ok(Reply::Bulk(b"\xff\0".to_vec())));
    server.step(2);
    assert_eq!(alive(), Ok(Reply::Nil));
}

#[test]
fn the_clock_tells_seconds_and_microseconds_and_goes_both_ways() {
    let server = Server::new();
    server.step(-100);
    let time = eval(&server, "local t = redis.call('TIME') return {t[1] * 1, t[2] * 1}");
    assert_eq!(time, Ok(integers(&[1_700_000_000, 23_487])));
}

#[test]
fn a_script_that_leaves_a_key_for_ever_or_for_too_long_is_caught() {
    let server = Server::new();
    server.set_horizon(100);
    assert!(eval(&server, "return redis.call('ZADD', KEYS[1], 1, 'a')").unwrap_err().contains("without TTL"));
    assert!(eval(&server, "return redis.call('PEXPIRE', KEYS[1], 101)").unwrap_err().contains("horizon"));
    assert_eq!(eval(&server, "return redis.call('PEXPIRE', KEYS[1], 100)"), Ok(Reply::Integer(1)));
}

#[test]
fn a_script_that_leaves_the_rules_is_caught_even_where_it_catches_the_error() {
    for text in [
        "return redis.pcall('KEYS', '*').err",
        "return redis.pcall('SET', KEYS[1], 1).err",
        "return redis.pcall('SET', KEYS[1], 1, 'PX', 0).err",
        "return redis.pcall('GET', 'another')",
        "x = 1",
        "return y",
    ] {
        assert!(eval(&Server::new(), text).is_err(), "{text}");
    }
}

#[test]
fn the_wrong_type_is_an_error_to_call_and_a_table_to_pcall() {
    let server = Server::new();
    server.put("k", Value::Other, Some(10));
    assert!(eval(&server, "return redis.call('GET', KEYS[1])").is_err());
    for text in ["redis.pcall('GET', KEYS[1])", "redis.pcall('ZCARD', KEYS[1])"] {
        let Ok(Reply::Bulk(text)) = eval(&server, &format!("return {text}.err")) else { panic!("{text}") };
        assert!(text.starts_with(b"WRONGTYPE"));
    }
    eval(&server, "return redis.call('SET', KEYS[1], 'a', 'PX', 5)").unwrap();
    assert_eq!(server.entry("k").unwrap().value, Value::Text(b"a".to_vec()));
}

#[test]
fn sorted_sets_are_ordered_counted_and_cut_by_score() {
    let server = Server::new();
    let text = "
        local key = KEYS[1]
        local added = redis.call('ZADD', key, 3, 'c', 1, 'a', 2, 'b', 2, 'bb', 1, 'a')
        redis.call('PEXPIRE', key, 10)
        local last = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')
        local second = redis.call('ZRANGEBYSCORE', key, '(1', '+inf', 'LIMIT', 1, 1, 'WITHSCORES')
        local open = redis.call('ZCOUNT', key, '(1', '(3')
        local cut = redis.call('ZREMRANGEBYSCORE', key, '-inf', 1)
        local gone = redis.call('ZREM', key, 'b', 'x')
        return {added, last[1], last[2], second[1], second[2], open, cut, gone, redis.call('ZCARD', key)}";
    let bulk = |text: &str| Reply::Bulk(text.into());
    let int = Reply::Integer;
    let expected = [int(4), bulk("c"), bulk("3"), bulk("bb"), bulk("2"), int(2), int(1), int(1), int(2)];
    assert_eq!(eval(&server, text), Ok(Reply::Many(expected.to_vec())));
}

#[test]
fn an_emptied_sorted_set_is_gone() {
    let server = Server::new();
    let mut sorted = Sorted::default();
    sorted.add(1, b"a");
    server.put("k", Value::Sorted(sorted), None);
    assert_eq!(
        eval(&server, "return redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '+inf')"),
        Ok(Reply::Integer(1))
    );
    assert_eq!(server.entry("k"), None);
}

#[test]
fn what_is_published_is_kept_for_the_test() {
    let server = Server::new();
    eval(&server, "return redis.call('PUBLISH', 'channel', ARGV[1])").unwrap();
    assert_eq!(*server.published(), [(b"channel".to_vec(), b"7".to_vec())]);
}
