//! What is in Redis by hand, written as Forebay writes it: MessagePack with named fields.

use contest::{Article, LIFE, Origin};
use redis::{AsyncCommands, RedisResult, aio::ConnectionLike};

pub(crate) fn decode(bytes: Option<Vec<u8>>) -> Option<Article> {
    rmp_serde::from_slice(&bytes?).ok()
}

/// Loads and stores, whoever else does so.
pub(crate) async fn fill(
    redis: &mut (impl ConnectionLike + Send + Sync),
    key: &str,
    origin: Origin,
) -> RedisResult<Article> {
    let article = origin.article().await;
    let bytes = rmp_serde::to_vec_named(&article).expect("an article has a form");
    let () = redis.pset_ex(key, bytes, LIFE.as_millis() as u64).await?;
    Ok(article)
}
