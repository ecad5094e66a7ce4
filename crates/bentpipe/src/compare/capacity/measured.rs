//! What a run measured of what a [`Target`](super::Target) limits.

use super::super::answer::Answer;
use super::super::crowd;
use super::super::path::GIVEN_UP;
use super::super::result::RunResult;
use super::super::traffic::{OBJECTS, PAGES};
use super::Measure;
use bentpipe_outcome::Outcome;

/// What a run measured: one value for each download, page, object or video of its users, or for
/// each user. What did not end took as long as downloads are waited for.
pub(super) fn values(answer: &Answer, outcome: &Outcome, measure: Measure) -> Vec<f64> {
    let never = GIVEN_UP.as_secs();
    let work = answer.work(0);
    let run = RunResult::of(outcome, &work, answer.users, |_| false);
    let pages = |suffix: &str, count: u32| {
        let of_user = |user: u32| {
            let name = crowd::name(user, suffix);
            let flow = outcome.flows.iter().find(|flow| flow.name == name);
            let mut times: Vec<f64> = flow.map_or_else(Vec::new, |flow| {
                flow.page_times.iter().map(|time| time.as_secs()).collect()
            });
            times.resize(times.len().max(count as usize), never);
            times
        };
        let readers = run
            .own
            .iter()
            .filter(|user| Some(user.activity) == measure.activity());
        readers
            .flat_map(|user| of_user(user.user))
            .collect::<Vec<f64>>()
    };
    let users = || {
        let users = run.own.iter();
        users.filter(|user| {
            measure
                .activity()
                .is_none_or(|activity| user.activity == activity)
        })
    };
    match measure {
        Measure::Download | Measure::Video => {
            users().map(|user| user.time_s.unwrap_or(never)).collect()
        }
        Measure::Page => pages("", PAGES),
        Measure::Object => pages("-objects", OBJECTS),
        Measure::Startup => users()
            .map(|user| user.startup_s.unwrap_or(never))
            .collect(),
        Measure::Stall => users()
            .map(|user| user.video_stall_s().unwrap_or(never))
            .collect(),
        Measure::Wait => vec![run.p95_queueing_delay_s],
        Measure::Rate => users().map(|user| user.rate_bps).collect(),
    }
}
