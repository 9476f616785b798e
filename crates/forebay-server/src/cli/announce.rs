//! What the server says when it is up.

use std::{
    io::{self, Write},
    net::SocketAddr,
};

use crate::config::{Config, Store};

/// Prints where the server listens, on which store, and what to try.
pub(super) fn announce(address: &SocketAddr, config: &Config) {
    let base = format!("http://{address}");
    let (who, token) = if config.auth.tokens.is_empty() {
        ("this machine, without a token", "")
    } else {
        ("whoever has a token; put yours into $TOKEN", r#" -H "Authorization: Bearer $TOKEN""#)
    };
    let text = format!(
        r#"forebay listens on {base}
Application `{app}`, {store}. Open to {who}.
The dashboard is at {base}/

Keep a value for a minute, and read it:
  curl{token} -X PUT --data hello '{base}/v1/cache/demo/greeting?ttl_ms=60000'
  curl{token} -i {base}/v1/cache/demo/greeting
Take the lease of a missing value, and fill it; whoever asks for the lease meanwhile waits for the value:
  curl{token} -X PUT --data loaded -H "Forebay-Lease: $(curl{token} -s -X POST {base}/v1/cache/demo/slow/lease | cut -d'"' -f4)" '{base}/v1/cache/demo/slow/lease?ttl_ms=60000'
"#,
        app = config.app,
        store = kept(&config.store),
    );
    // Whoever closed the output does not want to read it; that is no reason not to run.
    if let Err(error) = io::stdout().write_all(text.as_bytes()) {
        tracing::debug!(%error, "nobody reads the announcement");
    }
}

/// Where everything is kept, without the credentials.
fn kept(store: &Store) -> String {
    let Store::Redis { url, .. } = store else {
        return "memory store: nothing outlives this process".to_owned();
    };
    let place = url.place().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("Redis{place}: shared with every server of this application there")
}
