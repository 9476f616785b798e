use forebay_rig::Redis;
use futures::{FutureExt, future::join_all};
use redis::{AsyncConnectionConfig, Client, cmd};
use tokio::runtime::Handle;

use super::*;

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

async fn courier(server: &Redis) -> Courier {
    let client = Client::open(server.url()).unwrap();
    // As long as a busy machine takes.
    let patient =
        AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(Some(PATIENCE));
    let connection = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
    Courier::start(connection, &Tasks::on(Handle::current()))
}

fn echo(text: &str) -> Cmd {
    cmd("ECHO").arg(text).take()
}

fn said(answers: Result<Vec<Value>, Trouble>) -> Vec<String> {
    let text = |answer| match answer {
        Value::BulkString(bytes) => String::from_utf8(bytes).unwrap(),
        other => format!("{other:?}"),
    };
    answers.unwrap().into_iter().map(text).collect()
}

#[tokio::test]
async fn everybody_gets_the_answers_to_what_he_asked() {
    let server = Redis::start();
    let courier = courier(&server).await;
    let asked = (0..500).map(|n| courier.ask(vec![echo(&n.to_string()), echo(&format!("{n} too"))]));
    for (n, answers) in join_all(asked).await.into_iter().enumerate() {
        assert_eq!(said(answers), [n.to_string(), format!("{n} too")]);
    }
}

#[tokio::test]
async fn callers_that_come_together_share_a_write() {
    let server = Redis::start();
    let courier = courier(&server).await;
    said(courier.ask(vec![echo("first")]).await);
    let before = server.reads();
    let asked = (0..100).map(|n| {
        let courier = courier.clone();
        tokio::spawn(async move { courier.ask(vec![echo(&n.to_string())]).await })
    });
    for (n, answers) in join_all(asked.collect::<Vec<_>>()).await.into_iter().enumerate() {
        assert_eq!(said(answers.unwrap()), [n.to_string()]);
    }
    let reads = server.reads() - before;
    assert!(reads < 20, "{reads} reads for 100 commands");
}

#[tokio::test]
async fn an_error_is_that_of_its_caller_alone() {
    let server = Redis::start();
    let courier = courier(&server).await;
    let (wrong, right) = futures::join!(courier.ask(vec![cmd("NONSENSE")]), courier.ask(vec![echo("well")]));
    assert!(matches!(wrong.unwrap().as_slice(), [Value::ServerError(_)]));
    assert_eq!(said(right), ["well"]);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_sent() {
    let server = Redis::start();
    let courier = courier(&server).await;
    let set = cmd("SET").arg("key").arg("value").take();
    assert!(courier.ask(vec![set]).now_or_never().is_none());
    said(courier.ask(vec![echo("later")]).await);
    assert_eq!(server.call(&["EXISTS", "key"]), "0");
}

#[tokio::test]
async fn a_connection_without_answers_ends_with_its_callers() {
    let server = Redis::start();
    let courier = courier(&server).await;
    server.pause();
    let weak = Arc::downgrade(&courier.traffic);
    let asked = tokio::spawn({
        let courier = courier.clone();
        async move { courier.ask(vec![echo("nobody")]).await }
    });
    until(|| courier.traffic.waiting.load(Relaxed) > 0).await;
    asked.abort();
    drop(courier);
    until(|| weak.strong_count() == 0).await;
    server.resume();
}

#[tokio::test]
async fn who_gives_up_while_the_server_hangs_is_forgotten() {
    let server = Redis::start();
    let courier = courier(&server).await;
    server.pause();
    for _ in 0..100 {
        let count = || courier.ask(vec![cmd("INCR").arg("count").take()]);
        let asked: Vec<_> = (0..100).map(|_| Box::pin(count())).collect();
        assert!(join_all(asked).now_or_never().is_none());
        yield_now().await;
    }
    assert_eq!(courier.traffic.waiting.load(Relaxed), 0);
    server.resume();
    said(courier.ask(vec![echo("later")]).await);
    let counted: usize = server.call(&["GET", "count"]).parse().unwrap_or(0);
    assert!(counted <= TOURS * MOST, "{counted} were still sent");
}

#[tokio::test]
async fn answers_come_while_others_keep_asking() {
    let server = Redis::start();
    let courier = courier(&server).await;
    let noise = (0..64).map(|_| {
        let courier = courier.clone();
        tokio::spawn(async move {
            loop {
                said(courier.ask(vec![echo("noise")]).await);
            }
        })
    });
    let noise: Vec<_> = noise.collect();
    for n in 0..100 {
        let answer = tokio::time::timeout(PATIENCE, courier.ask(vec![echo(&n.to_string())])).await;
        assert_eq!(said(answer.expect("nobody waits for ever")), [n.to_string()]);
    }
    noise.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn until(condition: impl Fn() -> bool) {
    let came = async {
        while !condition() {
            yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, came).await.expect("it comes");
}

#[tokio::test]
async fn nothing_goes_past_what_was_asked_before_although_its_caller_has_gone() {
    let server = Redis::start();
    let courier = courier(&server).await;
    let aboard = Aboard::enter(&courier.traffic);
    assert!(!courier.traffic.is_none());
    let asked = courier.ask(vec![echo("behind")]);
    assert_eq!(said(asked.await), ["behind"]);
    assert_eq!(courier.traffic.aboard.load(SeqCst), 1, "what is answered is aboard no more");
    drop(aboard);
    assert!(courier.traffic.is_none());
}
