//! What is legal in the settings, and likely not what was meant.

use std::{fs, net::IpAddr, os::unix::fs::PermissionsExt};

use super::{Config, Flags, Scope, Store};

impl Config {
    /// Says what deserves a look, with the name of each setting.
    pub(crate) fn doubts(&self, flags: &Flags) -> Vec<String> {
        let mut doubts = Vec::new();
        doubts.extend(self.store_doubts(flags));
        doubts.extend(self.auth_doubts());
        doubts.extend(self.cache.doubts());
        doubts.extend(self.limits.doubts(self.store.is_shared()));
        doubts.extend(self.server.doubts());
        doubts.extend(self.unique.doubts());
        doubts
    }

    fn store_doubts(&self, flags: &Flags) -> Vec<String> {
        let mut doubts = Vec::new();
        let Store::Redis { url, .. } = &self.store else {
            if self.redis.url.is_some() || flags.redis.as_ref().is_some_and(|url| !url.is_empty()) {
                doubts.push(
                    "`redis.url` is not used, as FOREBAY_STORE (or --store) forces the memory store"
                        .to_owned(),
                );
            }
            return doubts;
        };
        if self.app == super::APP {
            let why =
                "servers of other applications on this Redis that leave it out too would share everything";
            doubts.push(format!("`app` is the default, `{}`: {why}", self.app));
        }
        if url.sends_a_password_in_the_clear() {
            doubts.push(
                "`redis.url` sends a password to another machine without TLS; use rediss://".to_owned(),
            );
        }
        if self.redis.url.as_ref().is_some_and(super::redis::Url::has_a_password)
            && self.is_readable_by_others()
        {
            let remedy = "chmod 600 it, or give the URL in FOREBAY_REDIS_URL";
            doubts.push(format!("`redis.url` has a password, in a file that other users can read: {remedy}"));
        }
        doubts
    }

    fn auth_doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let is_reachable = self.listen.iter().any(|address| !is_loopback(address.ip()));
        let tokens = &self.auth.tokens;
        if !tokens.is_empty() && !tokens.iter().any(|token| token.scopes.contains(&Scope::Ops)) {
            let what = "nobody can invalidate by a pattern, inspect an id, or take a lock away";
            doubts.push(format!("`auth.tokens` has none with the scope `ops`: {what}"));
        }
        if is_reachable && self.server.limit().is_none() {
            let why = "whoever reaches the server may guess tokens as fast as it answers";
            doubts.push(format!(
                "`server.limit` names no policy, and `listen` is open to other machines: {why}"
            ));
        }
        doubts
    }

    fn is_readable_by_others(&self) -> bool {
        let mode =
            self.file.as_ref().and_then(|path| fs::metadata(path).ok()).map(|file| file.permissions().mode());
        mode.is_some_and(|mode| mode & 0o044 != 0)
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}
