//! hitbox over moka: everything in this process, as it comes.

use std::{convert::Infallible, fmt, hint::black_box};

use contest::{Hit, LIFE, Payload, at_once, payload};
use hitbox::policy::PolicyConfig;
use hitbox_backend::format::BincodeFormat;
use hitbox_fn::{Cache, CacheableResponse, cached};
use hitbox_moka::MokaBackend;
use serde::{Deserialize, Serialize};

/// What it keeps has to be a type of the crate that caches.
#[derive(Debug, Clone, Serialize, Deserialize, CacheableResponse)]
struct Kept {
    payload: Payload,
}

#[cached(prefix = "payloads", skip(number))]
async fn load(id: String, number: Option<usize>) -> Result<Kept, Infallible> {
    let number = number.unwrap_or_else(|| panic!("{id} is not in memory"));
    Ok(Kept { payload: payload(number) })
}

/// One process without Redis.
///
/// Entries are kept encoded, and decoded at each hit: in the more compact form, as the usual one is JSON.
pub(crate) struct OverMoka(Cache<MokaBackend<BincodeFormat>>);

impl OverMoka {
    /// A cache with an entry for each of `keys`, and room for as many more.
    ///
    /// # Panics
    ///
    /// Panics if an entry is not kept at once.
    pub(crate) fn filled(keys: &[String]) -> Self {
        let backend =
            MokaBackend::builder().max_entries(2 * keys.len() as u64).value_format(BincodeFormat).build();
        let policy = PolicyConfig::builder().ttl(LIFE).build();
        let filled = Self(Cache::builder().backend(backend).policy(policy).build());
        at_once(async {
            for (number, key) in keys.iter().enumerate() {
                let Ok(_) = load(key.clone(), Some(number)).cache(&filled.0).await;
            }
        });
        filled
    }
}

impl Hit for OverMoka {
    fn name(&self) -> &'static str {
        "`hitbox` over moka"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let Ok(kept) = load(keys[number as usize].clone(), None).cache(&self.0).await;
                black_box(kept.payload);
            }
        });
    }
}

impl fmt::Debug for OverMoka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverMoka").finish_non_exhaustive()
    }
}
