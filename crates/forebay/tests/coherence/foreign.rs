//! What somebody else has left under our keys: a miss that is loaded and overwritten once, and no error.

use std::time::Duration;

use forebay::cache::Source;

use crate::rig::{
    Origin, Process, Rig, done, eventually, fill, held, invalidate, lease_key, source, value_key,
};

/// A server on which somebody has been before.
struct Found {
    rig: Rig,
    here: Process,
    there: Process,
}

impl Found {
    async fn new() -> Self {
        let rig = Rig::new();
        let [here, there] = rig.open().await;
        Self { rig, here, there }
    }

    fn does(&self, command: &[&[u8]]) {
        let reply = self.rig.redis.raw(command).to_string();
        assert!(!reply.starts_with('-'), "{reply}");
    }

    /// Leaves `bytes` under the key of the value.
    fn leaves(&self, bytes: &[u8]) {
        self.does(&[b"SET", value_key("a").as_bytes(), bytes, b"PX", b"60000"]);
    }

    /// A good entry, as it is stored.
    async fn entry(&self) -> Vec<u8> {
        let writer = self.rig.open_with(|builder| builder).await;
        fill(&writer.cache(), "a", "written before").await;
        match self.rig.redis.raw(&[b"GET", value_key("a").as_bytes()]) {
            forebay_rig::Reply::Bytes(bytes) => bytes,
            other => panic!("{other}"),
        }
    }

    /// The first read misses without an error, the first load overwrites, and all after it are hits.
    async fn is_overwritten_once(&self, unreadable: u64) {
        let (first, second, origin) = (self.here.cache(), self.there.cache(), Origin::ready());
        assert_eq!(held(&first, "a").await, None);
        assert_eq!(first.stats().unreadable, unreadable);
        assert_eq!(*done(origin.call(&first, "a", Ok("new"))).await.unwrap().unwrap(), "new");
        eventually(|| first.stats().fills == 1).await;
        assert_eq!(source(&second, "a").await, Some(Source::Store));
        assert_eq!(*done(origin.call(&second, "a", Ok("newer"))).await.unwrap().unwrap(), "new");
        assert_eq!(origin.calls(), 1);
        assert_eq!((first.stats().unreadable, second.stats().unreadable), (unreadable * 2, 0));
        for process in [&self.here, &self.there] {
            assert!(process.status().usable, "{:?}", process.status());
        }
        assert_eq!(self.rig.redis.keys_without_expiry(), Vec::<String>::new());
    }
}

// What cannot be read is a miss and no error, once.
#[tokio::test]
async fn a_text_is_overwritten_once() {
    let found = Found::new().await;
    found.leaves(b"written by hand");
    found.is_overwritten_once(1).await;
}

#[tokio::test]
async fn nothing_at_all_is_overwritten_once() {
    let found = Found::new().await;
    found.leaves(b"");
    found.is_overwritten_once(1).await;
}

// C51: FusionCache throws at every read of a value of another shape.
#[tokio::test]
async fn an_old_struct_is_overwritten_once() {
    let found = Found::new().await;
    let before = found.rig.open_with(|builder| builder).await;
    let old = before.forebay.cache::<(u32, bool)>("case", Duration::from_secs(60)).build().unwrap();
    old.put("a", (7, true)).await.unwrap();
    found.is_overwritten_once(1).await;
}

#[tokio::test]
async fn an_entry_cut_off_in_its_payload_is_overwritten_once() {
    let found = Found::new().await;
    let entry = found.entry().await;
    found.leaves(&entry[..entry.len() - 1]);
    found.is_overwritten_once(1).await;
}

// Scripts take for readable what has 30 bytes, the others want 42.
#[tokio::test]
async fn an_entry_cut_off_in_its_header_is_overwritten_once() {
    let found = Found::new().await;
    let entry = found.entry().await;
    found.leaves(&entry[..35]);
    found.is_overwritten_once(1).await;
}

#[tokio::test]
async fn an_entry_of_a_later_envelope_is_overwritten_once() {
    let found = Found::new().await;
    let mut entry = found.entry().await;
    entry[3] = 9;
    found.leaves(&entry);
    found.is_overwritten_once(1).await;
}

// As the next version of the envelope may write it.
#[tokio::test]
async fn an_entry_with_an_unknown_flag_is_overwritten_once() {
    let found = Found::new().await;
    let mut entry = found.entry().await;
    entry[4] |= 128;
    found.leaves(&entry);
    found.is_overwritten_once(1).await;
}

// C51: mixed versions during a deployment.
#[tokio::test]
async fn an_entry_of_the_next_envelope_is_read() {
    let found = Found::new().await;
    let mut entry = found.entry().await;
    entry[3] = 2;
    found.leaves(&entry);
    assert_eq!(held(&found.here.cache(), "a").await.as_deref(), Some("written before"));
}

// Stale for ever by its own account, fresh by that of the server.
#[tokio::test]
async fn an_entry_without_a_fresh_life_is_overwritten_once() {
    let found = Found::new().await;
    let mut entry = found.entry().await;
    entry[14..22].fill(0);
    found.leaves(&entry);
    let (cache, origin) = (found.here.cache(), Origin::ready());
    assert_eq!(*done(origin.call(&cache, "a", Ok("new"))).await.unwrap().unwrap(), "new");
    eventually(|| cache.stats().fills == 1).await;
    assert_eq!(held(&found.there.cache(), "a").await.as_deref(), Some("new"));
}

#[tokio::test]
async fn keys_of_other_types_are_overwritten_once() {
    for command in ["HSET {} f v", "RPUSH {} v", "SADD {} v"] {
        let found = Found::new().await;
        let command = command.replace("{}", &value_key("a"));
        found.does(&command.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        found.is_overwritten_once(1).await;
    }
}

#[tokio::test]
async fn a_good_entry_that_would_stay_for_ever_is_overwritten_once() {
    let found = Found::new().await;
    let entry = found.entry().await;
    found.leaves(&entry);
    found.does(&[b"PERSIST", value_key("a").as_bytes()]);
    found.is_overwritten_once(1).await;
}

#[tokio::test]
async fn what_is_foreign_is_invalidated_expired_and_put_like_anything_else() {
    let found = Found::new().await;
    let cache = found.here.cache();
    for id in ["invalidated", "expired", "put"] {
        found.does(&[b"HSET", value_key(id).as_bytes(), b"f", b"v"]);
        found.does(&[b"SET", lease_key(id).as_bytes(), b"v"]);
    }
    invalidate(&cache, "invalidated").await;
    assert_eq!(cache.expire("expired").await, forebay::cache::Invalidated::Everywhere);
    cache.put("put", "new".to_owned()).await.unwrap();
    assert_eq!(held(&found.there.cache(), "put").await.as_deref(), Some("new"));
    assert_eq!(found.rig.redis.call(&["KEYS", "cache:*"]), value_key("put"));
}

#[tokio::test]
async fn what_is_no_lease_hinders_no_load() {
    for command in ["SET {} v", "RPUSH {} v", "SET {} v PX 60000", "HSET {} token t", "HSET {} note failed"] {
        let found = Found::new().await;
        let command = command.replace("{}", &lease_key("a"));
        found.does(&command.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        found.is_overwritten_once(0).await;
    }
}
