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
    /// A link that changes with time cannot send again what it loses.
    #[error("changes with time and has ARQ")]
    ArqAndTimeline,
    /// A medium decides when packets go, and what becomes of them.
    #[error("shares a medium and has a timeline, ARQ or coding of its own")]
    MediumAndOwn,
    /// An XCP router needs a rate that is the link's own.
    #[error("shares a medium and has a queue of kind `xcp`")]
    MediumAndRouter,
}

impl LinkConflict {
    /// What to do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            LinkConflict::ArqAndTimeline => "remove one of the two, or put two links in a row",
            LinkConflict::MediumAndOwn => "put a second link behind that of the medium",
            LinkConflict::MediumAndRouter => {
                "an XCP router needs a rate of its own: put it on a second link"
            }
        }
    }
}

/// What cannot be together on a link that changes with time or not, has ARQ or
/// a code or not, and shares a medium or not.
pub(crate) fn link_conflict(
    changes: bool,
    (arq, coding): (bool, bool),
    shares: bool,
    queue: &QueueSettings,
) -> Option<LinkConflict> {
    if changes && arq {
        return Some(LinkConflict::ArqAndTimeline);
    }
    if shares && (changes || arq || coding) {
        return Some(LinkConflict::MediumAndOwn);
    }
    (shares && matches!(queue, QueueSettings::Xcp(_))).then_some(LinkConflict::MediumAndRouter)
}
