//! The one handle to Redis of a `Forebay`: every call has a budget, nobody waits for a connection longer than
//! that, and one task per node keeps it connected.
//!
//! | to see | read |
//! |---|---|
//! | what is asked and answered | `request`, `script`, `reply` |
//! | why a call never outlasts its budget | `node`, `breaker` |
//! | how a node stays connected | `supervisor`, `lane`, `link` |
//! | which node is asked | `topology`, `cluster`, `home`, `sentinels` |
//! | how channels are heard | `subscription` |
//! | how writes of others are heard | `tracking` |
//! | what only one node knows, how long it takes, what is asked aside | `primary`, `trips`, `probe` |
//! | what follows a request that was not answered | `takeback` |

mod address;
mod breaker;
mod cluster;
mod courier;
mod foreign;
mod home;
mod journal;
mod lane;
mod link;
mod node;
mod primary;
mod probe;
mod reply;
mod request;
mod script;
mod sentinels;
mod subscription;
mod supervisor;
mod takeback;
mod topology;
mod tracking;
mod trips;

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::watch;

pub(crate) use self::{
    address::Address,
    primary::{ANSWERS, Primary},
    probe::Probe,
    reply::{Reply, UNKNOWN},
    request::{Confirm, Request, Words, words},
    script::{Script, script},
    subscription::{Signal, Tuned},
    takeback::{Takeback, Watch},
    tracking::Written,
};
use self::{
    address::Kind,
    cluster::Cluster,
    foreign::Foreign,
    home::Home,
    journal::Journal,
    node::Node,
    reply::Trouble,
    request::Role,
    subscription::{Channels, Subscription},
    topology::Topology,
    tracking::Tracking,
};
use crate::{
    clock::{Clock, Moment},
    dice::Dice,
    observe::{CommandOutcome, Event, Observe},
    tasks::Tasks,
};

/// How long all calls of one read may take together: less than anybody notices.
pub(crate) const BUDGET: Duration = Duration::from_millis(50);

/// The same for large values.
const LARGE_BUDGET: Duration = Duration::from_millis(500);

/// What an answer leaves of a budget: whoever waited for it in a crowd is to come to the next question.
pub(crate) const LEAST: Duration = Duration::from_millis(10);

/// Redis could not be asked. What to do then is the caller's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The request was not sent, or refused.
    NotDone,
    /// Nobody knows whether the request was carried out, or will be.
    Unanswered,
}

/// Which connection a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Road {
    Usual,
    /// The one for large values, whose transfer would hold up everybody else.
    Large,
    /// The one for what waits at the server, where it would hold up everybody else.
    Apart,
}

/// Who is to know how Redis is.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// A node is another server than before, which may lack what was changed on that one: told before anybody
    /// can ask it.
    fn server_changed(&self);

    /// A node cannot be used any more.
    fn unusable(&self);
}

/// What every part of the handle works with.
#[derive(Debug, Clone)]
struct Tools {
    clock: Clock,
    dice: Dice,
    tasks: Tasks,
    journal: Arc<Journal>,
    hooks: Arc<dyn Hooks>,
    tracking: Arc<Tracking>,
    observe: Arc<dyn Observe>,
    budget: Duration,
}

impl Tools {
    fn told(&self, request: &Request<'_>, outcome: CommandOutcome, took: Duration) {
        self.observe.record(Event::Command { command: request.word(), outcome, took });
    }
}

/// The handle; cheap to clone. The connections are closed with the last clone, or by [`Redis::close`].
#[derive(Debug, Clone)]
pub(crate) struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    homes: Vec<Home>,
    topology: watch::Sender<Arc<Topology>>,
    cluster: Option<Arc<Cluster>>,
    channels: Arc<Channels>,
    foreign: Foreign,
    tools: Tools,
}

impl Redis {
    /// Begins to connect. Nothing is waited for.
    pub(crate) fn open(
        address: Address,
        (budget, clock): (Duration, Clock),
        dice: Dice,
        tasks: Tasks,
        hooks: Arc<dyn Hooks>,
        observe: Arc<dyn Observe>,
    ) -> Self {
        address.prepare();
        let journal = Arc::new(Journal::new(clock.clone()));
        let tracking = Arc::<Tracking>::default();
        let tools = Tools { clock, dice, tasks, journal, hooks, tracking, observe, budget };
        let homes = address.homes(&tools.clock);
        let is_cluster = matches!(address.kind, Kind::Cluster);
        let first = match is_cluster {
            true => Topology::unknown(),
            false => Topology::of_one(Node::start("redis".into(), homes[0].clone(), tools.clone())),
        };
        let topology = watch::Sender::new(Arc::new(first));
        let cluster = is_cluster.then(|| Cluster::start(address, topology.clone(), tools.clone()));
        let channels = Arc::<Channels>::default();
        let foreign = Foreign::default();
        Self(Arc::new(Inner { homes, topology, cluster, channels, foreign, tools }))
    }

    /// How long the calls of one read may take together.
    pub(crate) fn span(&self, road: Road) -> Duration {
        match road {
            Road::Usual | Road::Apart => self.0.tools.budget,
            Road::Large => self.0.tools.budget.max(LARGE_BUDGET),
        }
    }

    /// The end of a budget that begins now.
    pub(crate) fn budget(&self, road: Road) -> Moment {
        self.0.tools.clock.now().after(self.span(road))
    }

    /// Asks the node that has the key of `request`, until `until` at the latest.
    ///
    /// # Errors
    ///
    /// There was no answer, or a refusal; whether the request was carried out is not known.
    pub(crate) async fn call(
        &self,
        request: Request<'_>,
        road: Road,
        until: Moment,
    ) -> Result<Reply, Unusable> {
        let Some(node) = self.node(&request, until).await else {
            self.0.tools.told(&request, CommandOutcome::NotSent, Duration::ZERO);
            return Err(Unusable::NotDone);
        };
        let answer = match node.call(&request, road, until, Role::Owner).await {
            // Seldom: apart, it makes no other call larger.
            Err(Trouble::Moved(name)) => {
                Box::pin(self.redirected(&name, &request, road, until, Role::Owner)).await
            }
            Err(Trouble::Ask(name)) => {
                Box::pin(self.redirected(&name, &request, road, until, Role::Heir)).await
            }
            answer => answer,
        };
        Ok(answer?)
    }

    /// What `script` answers, within a budget of its own.
    ///
    /// # Errors
    ///
    /// As for [`Redis::call`].
    pub(crate) async fn run(
        &self,
        road: Road,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Reply, Unusable> {
        self.call(Request::Run { script, keys, arguments }, road, self.budget(road)).await
    }

    /// Whether the node that has `key` may answer.
    pub(crate) fn may_answer(&self, key: &str) -> bool {
        self.0.topology.borrow().node(Some(key)).is_some_and(|node| !node.is_down())
    }

    /// Has `hear` told of everything on `channel`, once [`Redis::subscribe`] is called. It must be quick.
    pub(crate) fn listen(&self, channel: String, hear: impl Fn(Signal<'_>) + Send + Sync + 'static) {
        self.0.channels.add(channel, Arc::new(hear));
    }

    /// As [`Redis::listen`], at any time, and until what this answers is dropped.
    pub(crate) fn tune(&self, channel: String, hear: impl Fn(Signal<'_>) + Send + Sync + 'static) -> Tuned {
        Tuned::to(self.0.channels.clone(), channel, Arc::new(hear))
    }

    /// Begins to hear what [`Redis::listen`] has named.
    pub(crate) fn subscribe(&self) {
        let Inner { homes, topology, channels, tools, .. } = &*self.0;
        Subscription::start(homes.clone(), channels.clone(), topology.subscribe(), tools.clone());
    }

    /// Begins the subscription anew: it is silent though it should not be.
    pub(crate) fn resubscribe(&self) {
        self.0.channels.begin_anew();
    }

    /// Has `hear` told of every write of a key that begins with `prefix`, once [`Redis::track`] is called. It must be
    /// quick, and is called once.
    pub(crate) fn hear_writes(&self, prefix: String, hear: impl Fn(Written<'_>) + Send + Sync + 'static) {
        self.0.tools.tracking.attach(prefix, Box::new(hear));
    }

    /// Has every node tell of writes from now on.
    pub(crate) fn track(&self) {
        self.0.tools.tracking.begin();
    }

    /// Whether all that can be read tell of writes, if they were asked to.
    pub(crate) fn tracks(&self) -> Option<bool> {
        self.0.tools.tracking.is_complete()
    }

    /// Runs `work` until its end, or that of the handle.
    pub(crate) fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let tasks = self.0.tools.tasks.clone();
        self.0.tools.tasks.spawn(async move {
            tokio::select! {
                // What has just begun is sent at least.
                biased;
                () = work => {}
                () = tasks.stopping() => {}
            }
        });
    }

    /// Why Redis cannot be used, if it cannot.
    pub(crate) fn trouble(&self) -> Option<String> {
        let nodes = self.0.topology.borrow().nodes();
        if nodes.is_empty() {
            return Some("no node of the cluster has answered yet".to_owned());
        }
        nodes.iter().find_map(|node| node.reason())
    }

    /// What a node has refused to do lately, though it can be asked.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.0.topology.borrow().nodes().iter().find_map(|node| node.refusal())
    }

    /// Says in the log that a `part` works again, where it was said that it does not.
    pub(crate) fn report_recovered(&self, part: &str) {
        self.0.tools.journal.recovered(part);
    }

    /// Says in the log that a `part` does not work, seldom enough.
    pub(crate) fn report(&self, part: &str, reason: &str) {
        self.0.tools.journal.warn(part, reason);
    }

    /// Says in the log, once, that something under `key` keeps everybody out and has no end.
    pub(crate) fn report_foreign(&self, key: &str) {
        self.0.foreign.warn(key);
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.0.topology.borrow().nodes().iter().map(|node| node.in_flight()).sum()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.tools.clock
    }

    /// Ends the tasks and closes the connections.
    pub(crate) async fn close(&self, budget: Duration) -> bool {
        self.0.tools.tasks.shut_down(&self.0.tools.clock, budget).await
    }

    async fn node(&self, request: &Request<'_>, until: Moment) -> Option<Arc<Node>> {
        let at = |topology: &Topology| topology.node(request.key());
        let node = at(&self.0.topology.borrow());
        // Nobody waits for a cluster that has been looked for in vain.
        let hopeless =
            self.0.cluster.as_ref().is_none_or(|cluster| cluster.has_answered() || cluster.has_failed());
        if node.is_some() || hopeless { node } else { Box::pin(self.when(until, at)).await }
    }

    /// What `at` finds in the topology, as soon as it does.
    async fn when(&self, until: Moment, at: impl Fn(&Topology) -> Option<Arc<Node>>) -> Option<Arc<Node>> {
        let clock = &self.0.tools.clock;
        let mut topology = self.0.topology.subscribe();
        let known = topology.wait_for(|topology| at(topology).is_some());
        let known = clock.timeout(until.since(clock.now()), known).await?.ok()?;
        at(&known)
    }

    async fn redirected(
        &self,
        name: &str,
        request: &Request<'_>,
        road: Road,
        until: Moment,
        role: Role,
    ) -> Result<Reply, Trouble> {
        let cluster = self.0.cluster.as_ref().ok_or(Trouble::NotSent)?;
        let node = match role {
            Role::Heir => cluster.node(name),
            Role::Owner => {
                // Not before the hooks know that the slot has another node.
                cluster.look_again();
                self.when(until, |topology| topology.node(request.key()).filter(|node| node.name == name))
                    .await
            }
        };
        node.ok_or(Trouble::NotSent)?.call(request, road, until, role).await
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.tools.tasks.stop();
    }
}
