//! Everything that may go wrong: its name, where it can happen, and what it takes from the promises.

/// One kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A process does nothing for a while.
    Stop,
    /// A process is killed, and another takes its place.
    Kill,
    /// What a process asks does not arrive for a while.
    HoldRequests,
    /// What a process is answered does not arrive for a while.
    HoldReplies,
    /// Both.
    Hole,
    /// Some messages to a process are lost that tell of changes.
    LoseMessages,
    /// Some messages to a process are lost that tell that others live.
    LoseBeats,
    /// What a process asks is done, but it is not told; then its connections end.
    LoseReplies,
    /// Everything arrives a bit late.
    Delay,
    /// All connections of a process end.
    Cut,
    /// The calendar of a process is wrong by a quarter of an hour.
    Skew,
    /// All connections end on which messages are heard.
    Deafen,
    /// All other connections end.
    Disconnect,
    /// Everything that is stored is gone.
    Flush,
    /// The server forgets its scripts.
    ForgetScripts,
    /// The server does nothing for a while.
    Freeze,
    /// The server dies, and comes back empty.
    Restart,
    /// The clock of the server is set a quarter of an hour ahead.
    Ahead,
    /// The clock of the server is set back by as much.
    Back,
    /// A replica takes over from a primary that knows, and waits for it.
    FailOver,
    /// The same by order of a sentinel: nobody waits for what the replica lacks.
    Switch,
    /// A primary is killed, and its replica takes over.
    KillPrimary,
    /// A primary does nothing for so long that its replica takes over; then it goes on.
    StopPrimary,
    /// A sentinel does nothing for a while.
    StopSentinel,
    /// A slot is moved to another node while it is in use.
    MoveSlot,
}

/// When a fault is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Among others, of which most take something.
    Storm,
    /// While nothing else goes wrong: nobody is to feel anything of it.
    Calm,
}

/// Whom a fault befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// One process.
    Process,
    /// The servers, and so all processes.
    Servers,
}

/// What the servers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// One server does all.
    One,
    /// A cluster.
    Cluster,
    /// A primary with its replicas, under sentinels.
    Sentinels,
}

/// What a fault takes from the promises while it lasts. Where nothing is set they hold as if there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Takes {
    /// Redis cannot be asked, of the ids that are named.
    pub hides: bool,
    /// Leases may be gone, or overtaken by changes that are done again at another server.
    pub forgets: bool,
    /// A process does not run.
    pub stops: bool,
    /// What was changed a moment before may be missing at the server that takes over.
    pub deposes: bool,
}

/// What is known of a kind of fault.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The kind.
    pub fault: Fault,
    /// Its name in the table.
    pub name: &'static str,
    /// Whom it befalls.
    pub reach: Reach,
    /// Where it can happen.
    pub sites: &'static [Site],
    /// What it takes.
    pub takes: Takes,
}

const NOTHING: Takes = Takes { hides: false, forgets: false, stops: false, deposes: false };
const STOPS: Takes = Takes { stops: true, ..NOTHING };
const HIDES: Takes = Takes { hides: true, ..NOTHING };
const FORGETS: Takes = Takes { forgets: true, ..NOTHING };
const BOTH: Takes = Takes { hides: true, forgets: true, ..NOTHING };
const DEPOSES: Takes = Takes { deposes: true, ..BOTH };

const ANYWHERE: &[Site] = &[Site::One, Site::Cluster, Site::Sentinels];
const ONE: &[Site] = &[Site::One];
const CLUSTER: &[Site] = &[Site::Cluster];
const SENTINELS: &[Site] = &[Site::Sentinels];
/// Where each process has a network of its own.
const NETWORKS: &[Site] = &[Site::One, Site::Sentinels];
/// Where primaries have replicas.
const REPLICAS: &[Site] = &[Site::Cluster, Site::Sentinels];

/// Every kind.
pub const TABLE: &[Facts] = &[
    row(Fault::Stop, "stop", Reach::Process, ANYWHERE, STOPS),
    row(Fault::Kill, "kill", Reach::Process, ANYWHERE, STOPS),
    row(Fault::Skew, "skew", Reach::Process, ANYWHERE, NOTHING),
    row(Fault::HoldRequests, "hold requests", Reach::Process, NETWORKS, HIDES),
    row(Fault::HoldReplies, "hold replies", Reach::Process, NETWORKS, HIDES),
    row(Fault::Hole, "hole", Reach::Process, NETWORKS, HIDES),
    row(Fault::LoseMessages, "lose messages", Reach::Process, NETWORKS, NOTHING),
    row(Fault::LoseBeats, "lose beats", Reach::Process, NETWORKS, NOTHING),
    row(Fault::LoseReplies, "lose replies", Reach::Process, NETWORKS, HIDES),
    row(Fault::Delay, "delay", Reach::Process, NETWORKS, NOTHING),
    row(Fault::Cut, "cut", Reach::Process, NETWORKS, HIDES),
    row(Fault::Deafen, "deafen", Reach::Servers, ANYWHERE, NOTHING),
    row(Fault::Disconnect, "disconnect", Reach::Servers, ANYWHERE, HIDES),
    row(Fault::Flush, "flush", Reach::Servers, ANYWHERE, FORGETS),
    row(Fault::ForgetScripts, "forget scripts", Reach::Servers, ANYWHERE, NOTHING),
    row(Fault::Freeze, "freeze", Reach::Servers, ANYWHERE, HIDES),
    row(Fault::Restart, "restart", Reach::Servers, ONE, BOTH),
    row(Fault::Ahead, "clock ahead", Reach::Servers, ONE, FORGETS),
    row(Fault::Back, "clock back", Reach::Servers, ONE, NOTHING),
    row(Fault::FailOver, "fail over", Reach::Servers, CLUSTER, BOTH),
    row(Fault::Switch, "switch primary", Reach::Servers, SENTINELS, DEPOSES),
    row(Fault::KillPrimary, "kill primary", Reach::Servers, REPLICAS, DEPOSES),
    row(Fault::StopPrimary, "stop primary", Reach::Servers, SENTINELS, DEPOSES),
    row(Fault::StopSentinel, "stop sentinel", Reach::Servers, SENTINELS, NOTHING),
    row(Fault::MoveSlot, "move slot", Reach::Servers, CLUSTER, BOTH),
];

const fn row(fault: Fault, name: &'static str, reach: Reach, sites: &'static [Site], takes: Takes) -> Facts {
    Facts { fault, name, reach, sites, takes }
}

impl Facts {
    /// When it is due.
    pub fn weather(&self) -> Weather {
        let harmless = self.reach == Reach::Process && self.takes == NOTHING;
        if harmless { Weather::Calm } else { Weather::Storm }
    }
}

impl Fault {
    /// All kinds that can happen at `site`.
    pub fn at(site: Site) -> Vec<Self> {
        let of =
            |reach| [Weather::Storm, Weather::Calm].map(|weather| Self::all(reach, site, weather)).concat();
        [of(Reach::Process), of(Reach::Servers)].concat()
    }

    /// What is known of this kind.
    ///
    /// # Panics
    ///
    /// If it is missing in the table.
    pub fn facts(self) -> &'static Facts {
        TABLE.iter().find(|facts| facts.fault == self).expect("every kind is in the table")
    }

    /// The kinds of this reach that can happen at `site` in such a weather.
    pub fn all(reach: Reach, site: Site, weather: Weather) -> Vec<Self> {
        let fits = |facts: &&Facts| {
            facts.reach == reach && facts.sites.contains(&site) && facts.weather() == weather
        };
        TABLE.iter().filter(fits).map(|facts| facts.fault).collect()
    }
}
