//! A link from its description.

use super::backlog::Backlog;
use super::event_driven::EventDriven;
use super::port::Port;
use super::scheduled::Scheduled;
use super::{Link, Service};
use crate::arq::Arq;
use crate::channel::Channel;
use crate::counters::Tally;
use crate::cursor::LinkCursor;
use crate::jitter::Jitter;
use crate::pool::Train;
use crate::queue::{ManagedQueue, QueueContext, Rule};
use crate::ring::Ring;
use crate::timed::Timed;
use crate::transmitter::Transmitter;
use crate::{ArqSettings, JitterSettings, LinkSettings, Timeline};
use bentpipe_units::Rate;
use std::sync::Arc;

/// All that makes a link: what [`Link::build`] builds it from.
///
/// ```
/// use bentpipe_link::{Limit, Link, LinkPlan, LinkSettings, QueueSettings};
/// use bentpipe_units::{Duration, Rate};
///
/// let settings = LinkSettings::new(
///     Rate::from_mbps(10),
///     Duration::from_millis(250),
///     QueueSettings::drop_tail(Limit::Packets(100)),
/// );
/// let plan = LinkPlan { record_delays: true, ..LinkPlan::new(&settings, 1, "downlink") };
/// let link: Link<u32> = Link::build(&plan);
/// assert!(!link.is_event_driven());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinkPlan<'a> {
    /// Rate, delay, queue, channel and framing.
    pub settings: &'a LinkSettings,
    /// Seed of the run, and name of the link: together they name the random
    /// streams of the link.
    pub seed: u64,
    /// Name of the link.
    pub name: &'a str,
    /// Rate, delay, loss and route over time. `settings.rate` and
    /// `settings.one_way_delay` still give the automatic parameters of a RED
    /// queue.
    pub timeline: Option<&'a Arc<Timeline>>,
    /// Retransmission of what the channel or an outage destroys.
    pub arq: Option<&'a ArqSettings>,
    /// How the delay varies from packet to packet.
    pub jitter: Option<&'a JitterSettings>,
    /// The link is a terminal's way into a [medium](crate::medium): its packets
    /// go when the medium lets them, and rate and delay are those of the medium.
    pub shares_medium: bool,
    /// The rate of that medium, where a code on the link makes every byte longer
    /// there: `settings.rate` is what is left of it for packets.
    pub medium_rate: Option<Rate>,
    /// Keeps the distribution of the queueing delay over time.
    pub record_delays: bool,
    /// Decides over each packet on its arrival where queue, timeline and
    /// channel allow that. False: the link is event-driven, with the same
    /// results; needed where packets may leave a link again that is down.
    pub precompute: bool,
}

impl<'a> LinkPlan<'a> {
    /// A link with nothing but `settings`.
    #[must_use]
    pub const fn new(settings: &'a LinkSettings, seed: u64, name: &'a str) -> LinkPlan<'a> {
        LinkPlan {
            settings,
            seed,
            name,
            timeline: None,
            arq: None,
            jitter: None,
            shares_medium: false,
            medium_rate: None,
            record_delays: false,
            precompute: true,
        }
    }
}

impl<P: Copy> Link<P> {
    /// The link of `plan`.
    #[must_use]
    pub fn build(plan: &LinkPlan<'_>) -> Link<P> {
        let LinkPlan {
            settings,
            seed,
            name,
            ..
        } = *plan;
        let mut link = Link {
            propagation: settings.one_way_delay,
            transmitter: Transmitter::new(settings),
            carried: Train::new(),
            backlog: Backlog::new(settings.queue.limit()),
            service: Link::service(plan),
            channel: Channel::new(&settings.channel, seed, name).map(Box::new),
            counters: Tally::default(),
            delays: None,
        };
        if plan.record_delays {
            link.record_delays();
        }
        link
    }

    /// Builds a link with the default plan: [`Link::build`] of [`LinkPlan::new`].
    #[must_use]
    pub fn new(settings: &LinkSettings, seed: u64, name: &str) -> Link<P> {
        Link::build(&LinkPlan::new(settings, seed, name))
    }

    fn service(plan: &LinkPlan<'_>) -> Service<P> {
        let LinkPlan {
            settings,
            seed,
            name,
            ..
        } = *plan;
        let context = QueueContext {
            rate: settings.rate,
            one_way_delay: settings.one_way_delay,
            framing: settings.framing,
            seed,
            name,
        };
        let queue = || ManagedQueue::new(&settings.queue, &context);
        if plan.shares_medium {
            let on_air = plan.medium_rate.unwrap_or(settings.rate);
            let jitter = plan
                .jitter
                .map(|jitter| Jitter::new(Some(jitter), seed, name));
            return Service::Port(Box::new(Port::new(
                queue(),
                (on_air, settings.rate),
                jitter,
            )));
        }
        // Where only the delay varies, all else stays the same.
        let varies = plan.jitter.map(|_| Arc::new(Timeline::steady(settings)));
        let line = plan.timeline.cloned().or(varies);
        let course = line.map(|line| LinkCursor::new(plan, line));
        let arq = plan.arq.map(Arq::new);
        let known = plan.timeline.is_none_or(|line| line.always_resumes());
        if plan.precompute && arq.is_none() && known {
            match (settings.queue.rule(&context), course) {
                (Some(rule), Some(course)) => {
                    return Service::Scheduled(Box::new(Scheduled::new(rule, course)));
                }
                (Some(Rule::DropTail), None) => return Service::DropTail,
                (Some(Rule::Red(red)), None) => return Service::Red(red),
                (None, course) => return Service::event_driven(queue(), course, None),
            }
        }
        Service::event_driven(queue(), course, arq)
    }
}

impl<P: Copy> Service<P> {
    fn event_driven(
        queue: ManagedQueue<P>,
        course: Option<LinkCursor>,
        arq: Option<Arq<P>>,
    ) -> Service<P> {
        Service::EventDriven(Box::new(EventDriven {
            queue,
            carried: Ring::new(),
            timed: course.map(|course| Box::new(Timed::new(course))),
            arq: arq.map(Box::new),
        }))
    }
}
