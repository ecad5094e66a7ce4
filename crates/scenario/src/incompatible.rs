//! What cannot be together: transports and applications, and the properties of
//! a link. The reader of files and the builder both ask here.

use bentpipe_link::QueueSettings;
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::Application;

/// Why a transport cannot carry an application that runs over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incompatibility {
    /// The ideal bound knows no pauses.
    Pauses,
    /// The imitated agents of ns-2 know one connection.
    Connections,
}

/// What keeps `transport` from carrying `application`.
pub(crate) fn incompatibility(
    transport: &Transport,
    application: &Application,
) -> Option<Incompatibility> {
    let ideal = transport.congestion_control == CongestionControlChoice::Ideal;
    if ideal && application.with_pauses().is_some() {
        return Some(Incompatibility::Pauses);
    }
    let one_way = transport.profile.rules().stack.is_ns2();
    (one_way && application.reopens()).then_some(Incompatibility::Connections)
}

/// Two properties that one link cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkConflict {
    /// A medium decides when packets go and how long they take.
    #[error("shares a medium and has a timeline of its own, but rate and delay are the medium's")]
    MediumAndTimeline,
    /// A medium has no place for what a terminal sends again, and no way back for
    /// its acknowledgements.
    #[error(
        "shares a medium and has ARQ, but the medium's frames carry no acknowledgements of \
         terminals"
    )]
    MediumAndArq,
    /// A router (XCP, BA-TCP) needs a rate that is the link's own.
    #[error(
        "shares a medium and has a queue with a router, but a router divides a rate that \
         is its own"
    )]
    MediumAndRouter,
}

impl LinkConflict {
    /// What to do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            LinkConflict::MediumAndTimeline | LinkConflict::MediumAndArq => {
                "put a second link behind that of the medium"
            }
            LinkConflict::MediumAndRouter => "put the router on a second link",
        }
    }

    /// The key that it is about.
    pub(crate) fn key(self) -> &'static str {
        match self {
            LinkConflict::MediumAndTimeline => "medium",
            LinkConflict::MediumAndArq => "arq",
            LinkConflict::MediumAndRouter => "queue",
        }
    }
}

/// What cannot be together on a link that changes with time or not, has ARQ or
/// not, and shares a medium or not. A code goes with all of them, and ARQ with a
/// timeline.
pub(crate) fn link_conflict(
    changes: bool,
    arq: bool,
    shares: bool,
    queue: &QueueSettings,
) -> Option<LinkConflict> {
    if !shares {
        return None;
    }
    if changes {
        return Some(LinkConflict::MediumAndTimeline);
    }
    if arq {
        return Some(LinkConflict::MediumAndArq);
    }
    let is_router = matches!(queue, QueueSettings::Xcp(_) | QueueSettings::Bandwidth(_));
    is_router.then_some(LinkConflict::MediumAndRouter)
}
