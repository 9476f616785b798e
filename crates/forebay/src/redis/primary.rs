//! The nodes of Redis as an operator looks at them.

use std::{sync::Arc, time::Duration};

use super::{
    Redis, Road, Unusable,
    home::Home,
    node::Node,
    probe::Probe,
    reply::Reply,
    request::{Request, Role, Words},
    trips::Counts,
};
use crate::status::RoundTrips;

/// How long an operator waits for a node, however patient callers are: one that has not answered by then is held to be
/// gone.
pub(crate) const ANSWERS: Duration = Duration::from_secs(2);

impl Redis {
    /// The primaries, to ask each for what only it knows.
    ///
    /// # Errors
    ///
    /// Some slot has none, as far as is known.
    pub(crate) fn primaries(&self) -> Result<Vec<Primary>, Unusable> {
        let topology = self.0.topology.borrow().clone();
        if !topology.is_whole() {
            return Err(Unusable::NotDone);
        }
        Ok(self.nodes())
    }

    /// The primaries that are known, whether or not they can be asked, and whether or not others are missing.
    pub(crate) fn nodes(&self) -> Vec<Primary> {
        let nodes = self.0.topology.borrow().nodes();
        nodes.into_iter().map(|node| Primary { node, redis: self.clone() }).collect()
    }

    /// The slots of a cluster that no node has, from the first to the last of each run; all of them while no node has
    /// answered.
    pub(crate) fn uncovered(&self) -> Vec<(u16, u16)> {
        self.0.topology.borrow().uncovered()
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.0.cluster.is_some()
    }

    /// How long the nodes have taken to answer, in the last half to whole minute.
    pub(crate) fn trips(&self) -> RoundTrips {
        let (mut counts, now) = (Counts::default(), self.0.tools.clock.reading());
        self.0.topology.borrow().nodes().iter().for_each(|node| node.trips.add_to(&mut counts, now));
        counts.summary()
    }

    /// What each of the sentinels says, by its address: where the primary is, or why it does not say. Nothing where there
    /// are none.
    pub(crate) async fn sentinels(&self) -> Vec<(String, Result<String, String>)> {
        match self.0.homes.first() {
            Some(Home::Named(sentinels)) => sentinels.survey().await,
            _ => Vec::new(),
        }
    }

    /// A connection of its own to whichever node is found first, be it fit for use or not.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn probe(&self) -> Result<Probe, String> {
        let known = self.0.topology.borrow().nodes();
        let homes = known.iter().map(|node| &node.home).chain(&self.0.homes);
        let mut trouble = "it has no address".to_owned();
        for home in homes {
            match Probe::open(home, &self.0.tools.clock).await {
                Ok(probe) => return Ok(probe),
                Err(reason) => trouble = reason,
            }
        }
        Err(trouble)
    }
}

/// One primary, to be asked by itself.
#[derive(Debug)]
pub(crate) struct Primary {
    node: Arc<Node>,
    redis: Redis,
}

impl Primary {
    /// Which one it is, without credentials.
    pub(crate) fn name(&self) -> &str {
        &self.node.name
    }

    /// Why it cannot be asked, if it cannot.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.node.reason()
    }

    /// A connection of its own to this one.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn probe(&self) -> Result<Probe, String> {
        Probe::open(&self.node.home, &self.redis.0.tools.clock).await
    }

    /// What each of the commands answers, be it an error.
    ///
    /// # Errors
    ///
    /// There was no answer.
    pub(crate) async fn look(&self, commands: &[Words]) -> Result<Vec<Reply>, Unusable> {
        Ok(self.call(Request::Look { commands }).await?.into_list())
    }

    pub(crate) async fn call(&self, request: Request<'_>) -> Result<Reply, Unusable> {
        let until = self.redis.budget(Road::Large);
        Ok(self.node.call(&request, Road::Usual, until, Role::Owner).await?)
    }

    /// Some of its keys that match `pattern`, and the cursor of the next ones: zero where there are none.
    pub(crate) async fn scan(&self, cursor: u64, pattern: &str) -> Result<(u64, Vec<Reply>), Unusable> {
        let page = self.call(Request::Scan { cursor, pattern }).await?;
        let [next, keys] = page.into_list().try_into().map_err(|_| Unusable::NotDone)?;
        let next = next.text().and_then(|next| next.parse().ok()).ok_or(Unusable::NotDone)?;
        Ok((next, keys.into_list()))
    }
}
