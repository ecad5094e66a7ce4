use super::*;
use axum::body::to_bytes;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

/// The lines of an answer.
async fn lines(response: Response) -> Vec<Value> {
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// A job that goes on until it is stopped.
fn endless(results: &Results) -> Result<(), Problem> {
    while !results.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

async fn eventually(what: impl Fn() -> bool) {
    for _ in 0..2000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came to pass");
}

fn going(jobs: &Jobs) -> usize {
    jobs.going.lock().unwrap().jobs.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_the_lines_of_its_job_and_an_error_is_the_last() {
    let jobs = Jobs::default();
    let answer = stream(&jobs, |results| {
        assert!(results.send(&json!({ "n": 1 })));
        Err(Problem::wrong("no"))
    });
    let sent = lines(answer.unwrap()).await;
    assert_eq!(
        sent,
        [json!({ "n": 1 }), json!({ "error": { "message": "no" } })]
    );
    eventually(|| going(&jobs) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_stops_its_job() {
    let jobs = Jobs::default();
    let answer = stream(&jobs, endless).unwrap();
    assert_eq!(going(&jobs), 1);
    drop(answer);
    eventually(|| going(&jobs) == 0).await;
    assert_eq!(jobs.slots.available_permits(), MOST_JOBS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_has_so_many_jobs_and_another_tab_its_own() {
    let jobs = Jobs::default();
    let ask = || stream(&jobs, endless);
    let first: Vec<_> = (0..MOST_OF_TAB).map(|_| ask().unwrap()).collect();
    assert!(ask().is_err());
    let other = TAB.scope("other".into(), async { ask() }).await;
    assert!(other.is_ok());
    drop(first);
    // Those that are stopped count no more, even if they have not ended.
    assert!(ask().is_ok());
    drop(other);
    eventually(|| going(&jobs) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_takes_too_long_is_stopped_and_says_so() {
    let jobs = Jobs::default();
    let answer = stream_within(&jobs, Duration::from_millis(20), endless);
    let sent = lines(answer.unwrap()).await;
    let message = sent.last().unwrap()["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("stopped after"), "{message}");
    eventually(|| going(&jobs) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_with_a_fault_ends_with_words_and_leaves_its_place() {
    let jobs = Jobs::default();
    let answer = stream(&jobs, |_| panic!("a fault that the test makes"));
    let sent = lines(answer.unwrap()).await;
    assert!(sent[0]["error"]["message"].is_string(), "{sent:?}");
    eventually(|| going(&jobs) == 0).await;
    assert_eq!(jobs.slots.available_permits(), MOST_JOBS);
    let failed = once(&jobs, || panic!("another")).await;
    assert!(failed.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_holds_few_lines() {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    let jobs = Jobs::default();
    let answer = stream(&jobs, |results| {
        for n in 0..10 * MOST_LINES {
            if !results.send(&json!({ "n": n })) {
                STOPPED.store(n <= MOST_LINES, Ordering::SeqCst);
                break;
            }
        }
        Ok(())
    });
    let answer = answer.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(going(&jobs), 1);
    drop(answer);
    eventually(|| going(&jobs) == 0).await;
    assert!(STOPPED.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_once_is_stopped_when_its_client_goes_away() {
    let jobs = Jobs::default();
    let asked = once_until(&jobs, |stop| {
        while !stop.is_stopped() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Value::Null)
    });
    let asked = tokio::time::timeout(Duration::from_millis(20), asked).await;
    assert!(asked.is_err());
    eventually(|| going(&jobs) == 0).await;
}
