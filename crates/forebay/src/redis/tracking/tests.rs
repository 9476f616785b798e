//! When all writes are told of, whatever happens to connections in whatever order.

use super::*;

/// What the ear was told, in words.
type Words = Arc<Mutex<Vec<String>>>;

fn tracking() -> (Arc<Tracking>, Words) {
    let (tracking, words) = (Arc::<Tracking>::default(), Words::default());
    let heard = words.clone();
    let ear = move |written: Written<'_>| {
        heard.lock().push(match written {
            Written::Key(key) => String::from_utf8_lossy(key).into_owned(),
            other => format!("{other:?}"),
        });
    };
    tracking.attach("a:".to_owned(), Box::new(ear));
    (tracking, words)
}

fn said(words: &Words) -> Vec<String> {
    std::mem::take(&mut *words.lock())
}

/// A connection by which a node of its own is read.
fn open(tracking: &Arc<Tracking>) -> Wire {
    let wire = tracking.wire(tracking.number());
    wire.open();
    wire
}

#[test]
fn nothing_is_told_before_it_is_wanted() {
    let (tracking, words) = tracking();
    let wire = open(&tracking);
    wire.lose();
    assert_eq!((said(&words), tracking.is_complete()), (vec![], None));
    tracking.begin();
    assert_eq!((said(&words), tracking.is_complete()), (vec!["Told(false)".to_owned()], Some(false)));
}

#[test]
fn a_node_that_can_be_read_is_waited_for_and_one_that_cannot_is_not() {
    let (tracking, words) = tracking();
    tracking.begin();
    assert_eq!(said(&words), ["Told(true)"]);
    let (one, other) = (open(&tracking), open(&tracking));
    one.answered(Standing::Telling);
    assert_eq!(said(&words), ["Told(false)"]);
    other.answered(Standing::Telling);
    assert_eq!((said(&words), tracking.is_complete()), (vec!["Told(true)".to_owned()], Some(true)));
    one.lose();
    assert_eq!(said(&words), ["Told(false)"]);
    tracking.is_down(one.node);
    assert_eq!(said(&words), ["Told(true)"]);
}

#[test]
fn an_answer_on_a_lost_connection_is_none() {
    let (tracking, words) = tracking();
    tracking.begin();
    let lost = open(&tracking);
    lost.lose();
    lost.answered(Standing::Telling);
    let next = tracking.wire(lost.node);
    next.open();
    lost.answered(Standing::Telling);
    assert_eq!(said(&words), ["Told(true)", "Told(false)"]);
    next.answered(Standing::Telling);
    assert_eq!(said(&words), ["Told(true)"]);
}

#[test]
fn a_loss_that_is_noticed_late_is_none_of_the_next_connection() {
    let (tracking, words) = tracking();
    tracking.begin();
    let first = open(&tracking);
    let next = tracking.wire(first.node);
    next.open();
    next.answered(Standing::Telling);
    first.lose();
    tracking.is_down(next.node);
    first.lose();
    assert_eq!(said(&words), ["Told(true)", "Told(false)", "Told(true)"]);
}

#[test]
fn nobody_waits_for_a_node_that_refuses_and_it_is_known() {
    let (tracking, words) = tracking();
    tracking.begin();
    open(&tracking).answered(Standing::Refusing);
    assert_eq!(said(&words), ["Told(true)", "Told(false)", "Told(true)"]);
    assert_eq!(tracking.is_complete(), Some(false));
}

#[test]
fn keys_are_told_one_by_one_and_a_flush_as_all() {
    let (tracking, words) = tracking();
    let wire = tracking.wire(1);
    let keys = ["a:b", "a:c"].map(|key| Value::BulkString(key.into()));
    let push = |data| PushInfo { kind: PushKind::Invalidate, data };
    wire.hear(&push(vec![Value::Array(keys.to_vec())]));
    wire.hear(&push(vec![Value::Nil]));
    assert_eq!(said(&words), ["a:b", "a:c", "All"]);
}
