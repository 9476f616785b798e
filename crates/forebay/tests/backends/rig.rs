//! What a case is written against: a store, time that passes on demand, and loaders that wait for a sign.

use std::{
    convert::Infallible,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Forebay,
    cache::{Builder, Cache, Entry, Load, LoadError, Read},
};
use tokio::{sync::Semaphore, task::JoinHandle};

/// The fresh life of what cases store, unless they say otherwise.
pub(crate) const LIFE: Duration = Duration::from_secs(60);

/// A while.
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// One store under test.
pub(crate) trait Rig {
    /// The process under test.
    fn forebay(&self) -> &Forebay;

    /// Lets `span` pass, and with it whatever was to happen in that time.
    async fn pass(&self, span: Duration);

    /// Lets everything happen that needs no time.
    async fn settle(&self);

    /// By how much what is stored may have aged more than time has passed.
    fn slack(&self) -> Duration;

    /// Begins a cache of strings without jitter.
    fn builder(&self, space: &str) -> Builder<String> {
        self.forebay().cache(space, LIFE).jitter(0.0)
    }

    /// A cache of strings under the default options.
    fn cache(&self) -> Cache<String> {
        self.builder("case").build().expect("the options fit")
    }
}

/// What a caller of a case's loaders gets.
pub(crate) type Answer = Result<Arc<String>, LoadError<String>>;

/// The origin of a case: counts its calls, and answers each one when it is let.
#[derive(Clone)]
pub(crate) struct Origin {
    calls: Arc<AtomicUsize>,
    let_go: Arc<Semaphore>,
}

impl Origin {
    /// An origin that answers at once.
    pub(crate) fn ready() -> Self {
        Self { calls: Arc::default(), let_go: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)) }
    }

    /// An origin whose calls wait until they are let go.
    pub(crate) fn paused() -> Self {
        Self { calls: Arc::default(), let_go: Arc::new(Semaphore::new(0)) }
    }

    /// Lets one call answer.
    pub(crate) fn let_go(&self) {
        self.let_go.add_permits(1);
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }

    /// A loader that brings `value`.
    pub(crate) fn gives(
        &self,
        value: &str,
    ) -> impl FnOnce(Load<String>) -> Call<Result<String, String>> + Send + 'static {
        self.answers(Ok(value.to_owned()))
    }

    /// A loader that fails with `error`.
    pub(crate) fn fails(
        &self,
        error: &str,
    ) -> impl FnOnce(Load<String>) -> Call<Result<String, String>> + Send + 'static {
        self.answers(Err(error.to_owned()))
    }

    /// A loader that brings `value`, or learns that there is none.
    pub(crate) fn finds(
        &self,
        value: Option<&str>,
    ) -> impl FnOnce(Load<String>) -> Call<Result<Option<String>, Infallible>> + Send + 'static {
        self.answers(Ok(value.map(str::to_owned)))
    }

    /// A loader that answers `answer`.
    pub(crate) fn answers<T: Send + 'static>(
        &self,
        answer: T,
    ) -> impl FnOnce(Load<String>) -> Call<T> + Send + 'static {
        let origin = self.clone();
        move |_| {
            Box::pin(async move {
                origin.calls.fetch_add(1, SeqCst);
                origin.let_go.acquire().await.expect("the origin is never closed").forget();
                answer
            })
        }
    }
}

/// A call of an origin.
pub(crate) type Call<T> = std::pin::Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a caller that loads `id` by `loader`.
pub(crate) fn call<Fut>(
    cache: &Cache<String>,
    id: &str,
    loader: impl FnOnce(Load<String>) -> Fut + Send + 'static,
) -> JoinHandle<Answer>
where
    Fut: Future<Output = Result<String, String>> + Send + 'static,
{
    let (cache, id) = (cache.clone(), id.to_owned());
    tokio::spawn(async move { cache.get_or_load(id, loader).await })
}

/// Whether two spans are the same, as far as the store keeps time.
pub(crate) fn same(rig: &impl Rig, one: Duration, other: Duration) -> bool {
    one.abs_diff(other) <= rig.slack()
}

/// The text of an answer, for comparison.
pub(crate) fn text(answer: &Answer) -> &str {
    answer.as_ref().expect("the load succeeds")
}

/// What a caller ends with although no time passes.
pub(crate) async fn at_once<T>(rig: &impl Rig, caller: JoinHandle<T>) -> T {
    for _ in 0..200 {
        if caller.is_finished() {
            return caller.await.expect("the caller neither panics nor is aborted");
        }
        rig.settle().await;
    }
    panic!("the caller waits for time to pass");
}

/// The value that some level of `cache` has for `id` and would hand out.
pub(crate) async fn held(cache: &Cache<String>, id: &str) -> Option<String> {
    cache.get(id).await.map(|value| (*value).clone())
}

/// Has `value` loaded for `id`.
pub(crate) async fn fill(cache: &Cache<String>, id: &str, value: &str) {
    let loaded = cache.get_or_load(id, Origin::ready().gives(value)).await;
    assert_eq!(text(&loaded), value);
}

/// What `cache` tells of `id`.
pub(crate) async fn entry(cache: &Cache<String>, id: &str) -> Entry<String> {
    match cache.read(id).await {
        Read::Hit(entry) => entry,
        other => panic!("{id} is no hit: {other:?}"),
    }
}

/// Stores `value` under `id` and waits until it is stale.
pub(crate) async fn put_stale(rig: &impl Rig, cache: &Cache<String>, id: &str, value: &str) {
    let put = cache.put(id, value.to_owned()).await.expect("the value fits");
    assert_eq!(put, forebay::cache::Put::Stored);
    rig.pass(LIFE + SECOND).await;
}
