//! What users experience in one run, and what the run did to the link.

use super::crowd::{self, BACKGROUND};
use super::traffic::{Activity, Work};
use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_study::stats::mean;
use bentpipe_units::Duration;

/// What one user experienced in one run. Units stand in the names.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct UserResult {
    /// The number of the user, from zero on.
    pub user: u32,
    /// What the user did.
    pub activity: Activity,
    /// What the user waited for: the download, a page on average, or the
    /// video (its start and all of its stalls together). `None` if it did not
    /// end.
    pub time_s: Option<f64>,
    /// Payload over the time that the user waited for it; of a video its
    /// bitrate, less the part of the time that it stood still.
    pub rate_bps: f64,
    /// Time that 95% of the pages did not exceed.
    pub p95_page_s: Option<f64>,
    /// Mean time until all of a page had arrived that a browser waits for to draw it, where pages
    /// have several objects.
    pub render_s: Option<f64>,
    /// Mean time of the small objects beside the pages.
    pub object_s: Option<f64>,
    /// Time before the video began.
    pub startup_s: Option<f64>,
    /// Times that the video stopped.
    pub stalls: u64,
    /// How long it stood still after it had begun.
    pub stall_s: f64,
    /// Part of the packets of a call that were lost or late, of both ways; `None` for other
    /// activities.
    pub call_missed_share: Option<f64>,
}

impl UserResult {
    /// Times that the video stopped; `None` if there was none or it did not begin.
    #[must_use]
    pub fn video_stalls(&self) -> Option<f64> {
        self.startup_s.map(|_| self.stalls as f64)
    }

    /// How long the video stood still, seconds; `None` if there was none or it did not
    /// begin.
    #[must_use]
    pub fn video_stall_s(&self) -> Option<f64> {
        self.startup_s.map(|_| self.stall_s)
    }
}

/// One run. Units stand in the names.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct RunResult {
    /// Seed of the run.
    pub seed: u64,
    /// The users with the compared setting.
    pub own: Vec<UserResult>,
    /// The users with what others run, where there are any.
    pub others: Vec<UserResult>,
    /// Payload that all users received, from the first start to the last end,
    /// per second.
    pub goodput_bps: f64,
    /// Packets sent again / packets sent, by the servers or proxies of the own
    /// users.
    pub resent_share: f64,
    /// Retransmission timeouts per own user.
    pub timeouts: f64,
    /// Packets dropped by the queue before the link.
    pub queue_drops: u64,
    /// 95th percentile of the time that a packet which arrives at any moment
    /// waits in the queue before the link.
    pub p95_queueing_delay_s: f64,
    /// Lost part of the traffic that no transport controls, where there is any.
    pub background_lost: Option<f64>,
    /// Largest congestion window of the own users, segments.
    pub max_cwnd: f64,
    /// Packets that crossed a link, data and acknowledgements, on each link of the way:
    /// what the run cost. Zero where the host does not count them, and of a run that is
    /// counted elsewhere in the answer.
    pub packets: u64,
}

impl RunResult {
    /// What `outcome` says; `is_other` is true for users with what others run.
    pub(super) fn of(
        outcome: &Outcome,
        work: &Work,
        users: u32,
        is_other: impl Fn(u32) -> bool,
    ) -> RunResult {
        let find = |name: &str| outcome.flows.iter().find(|f| f.name == name);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let (mut sent, mut resent, mut timeouts) = (0, 0, 0);
        let mut max_cwnd = 0.0_f64;
        for user in 0..users {
            let flow = find(&crowd::name(user, ""));
            let objects = find(&crowd::name(user, "-objects"));
            let Some(flow) = flow else { continue };
            let mut result = user_result(user, work, flow, objects);
            if result.activity == Activity::Call {
                result.call_missed_share = missed(&[Some(flow), find(&crowd::name(user, "-back"))]);
            }
            if is_other(user) {
                others.push(result);
                continue;
            }
            own.push(result);
            // What a setting does not control does not count as its own.
            if matches!(result.activity, Activity::Upload | Activity::Call) {
                continue;
            }
            for flow in [Some(flow), objects].into_iter().flatten() {
                sent += flow.packets_sent;
                resent += flow.retransmissions;
                timeouts += flow.timeouts;
                max_cwnd = max_cwnd.max(flow.max_cwnd);
            }
        }
        let link = outcome.links.first();
        let delivered: f64 = outcome
            .flows
            .iter()
            .filter(|f| f.name != BACKGROUND)
            .map(|f| f.delivered.as_f64())
            .sum();
        let first = outcome
            .flows
            .iter()
            .map(|f| f.started_at)
            .min()
            .unwrap_or_default();
        let lasted = outcome.ended_at.since(first).as_secs();
        RunResult {
            seed: outcome.seed,
            timeouts: timeouts as f64 / own.len().max(1) as f64,
            own,
            others,
            goodput_bps: if lasted > 0.0 {
                8.0 * delivered / lasted
            } else {
                0.0
            },
            resent_share: resent as f64 / (sent as f64).max(1.0),
            queue_drops: link.map_or(0, |l| l.queue_drops),
            p95_queueing_delay_s: link.map_or(0.0, |l| l.p95_queueing_delay.as_secs()),
            background_lost: find(BACKGROUND).map(lost),
            max_cwnd,
            packets: outcome.packet_hops,
        }
    }

    /// Mean time of the own users with this activity; `None` if there are none
    /// or one did not end.
    #[must_use]
    pub fn time_s(&self, activity: Activity) -> Option<f64> {
        time_of(&self.own, activity)
    }

    /// The same of the other users.
    #[must_use]
    pub fn others_time_s(&self, activity: Activity) -> Option<f64> {
        time_of(&self.others, activity)
    }

    /// The same of all users.
    #[must_use]
    pub fn everyones_time_s(&self, activity: Activity) -> Option<f64> {
        time_of(self.own.iter().chain(&self.others), activity)
    }

    /// Own users whose download, pages or video did not end.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        let timed = self.own.iter().filter(|user| user.activity.is_timed());
        timed.filter(|user| user.time_s.is_none()).count()
    }

    /// Rates of the own users, bit/s, ascending; calls have none.
    #[must_use]
    pub fn rates_bps(&self) -> Vec<f64> {
        let timed = self.own.iter().filter(|user| user.activity.is_timed());
        let mut rates: Vec<f64> = timed.map(|user| user.rate_bps).collect();
        rates.sort_by(f64::total_cmp);
        rates
    }
}

/// Mean time of those with this activity.
fn time_of<'a>(users: impl IntoIterator<Item = &'a UserResult>, activity: Activity) -> Option<f64> {
    let of = users.into_iter().filter(|user| user.activity == activity);
    let times: Option<Vec<f64>> = of.map(|user| user.time_s).collect();
    times
        .filter(|times| !times.is_empty())
        .map(|times| mean(&times))
}

/// Part of the packets of a call that were lost or late, both ways together.
fn missed(ways: &[Option<&FlowOutcome>]) -> Option<f64> {
    let known = ways.iter().flatten().filter_map(|flow| flow.deadline);
    let (missed, due) = known.fold((0, 0), |sum, way| (sum.0 + way.missed, sum.1 + way.due));
    (due > 0).then(|| missed as f64 / due as f64)
}

fn user_result(
    user: u32,
    work: &Work,
    flow: &FlowOutcome,
    objects: Option<&FlowOutcome>,
) -> UserResult {
    let activity = work.traffic.of_user(user);
    let mut result = UserResult {
        user,
        activity,
        time_s: None,
        rate_bps: 0.0,
        p95_page_s: None,
        render_s: None,
        object_s: None,
        startup_s: None,
        stalls: 0,
        stall_s: 0.0,
        call_missed_share: None,
    };
    let ended = flow.transfer_time.is_some();
    let bits = flow.delivered.as_f64() * 8.0;
    match activity {
        Activity::Call => {}
        Activity::Download | Activity::Upload => {
            result.time_s = flow.transfer_time.map(Duration::as_secs);
            result.rate_bps = result.time_s.map_or(0.0, |time| bits / time);
        }
        Activity::Web => {
            let Some(pages) = &flow.pages else {
                return result;
            };
            let mean = pages.mean_time.map(Duration::as_secs);
            result.time_s = mean.filter(|_| ended);
            result.p95_page_s = pages.p95_time.map(Duration::as_secs);
            result.render_s = pages.mean_render_time.map(Duration::as_secs);
            result.rate_bps = mean.map_or(0.0, |mean| bits / (mean * pages.completed as f64));
            let objects = objects.and_then(|o| o.pages);
            result.object_s = objects.and_then(|o| o.mean_time).map(Duration::as_secs);
        }
        Activity::Video => {
            let Some(video) = &flow.video else {
                return result;
            };
            let startup = video.startup_delay.map(Duration::as_secs);
            let stalled = video.stall_time.as_secs();
            result.startup_s = startup;
            result.stalls = video.stalls;
            result.stall_s = stalled;
            result.time_s = startup.filter(|_| ended).map(|startup| startup + stalled);
            let played = bits / work.bitrate.bps_f64();
            let waited = result.time_s.unwrap_or(f64::INFINITY);
            result.rate_bps = work.bitrate.bps_f64() * played / (played + waited);
        }
    }
    result
}

/// Part of a flow's packets that did not arrive.
fn lost(flow: &FlowOutcome) -> f64 {
    let lost = flow.queue_drops + flow.channel_losses + flow.outage_losses;
    lost as f64 / (flow.packets_sent as f64).max(1.0)
}
