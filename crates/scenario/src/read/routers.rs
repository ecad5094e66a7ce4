//! Checks that senders that depend on routers (XCP, BA-TCP) have one on their path.

use crate::model::{Link, LinkId};
use bentpipe_cc::PathHeader;
use bentpipe_document::{Diagnostic, Place};
use bentpipe_link::QueueSettings;
use bentpipe_tcp::Transport;

/// The kind of queue that fills that header.
const fn router(header: PathHeader) -> Option<&'static str> {
    match header {
        PathHeader::None => None,
        PathHeader::Congestion => Some("xcp"),
        PathHeader::Bandwidth => Some("bandwidth-aware"),
    }
}

/// True if `transport` waits for routers and none is on the ways of `paths`.
pub(super) fn lacking(transport: &Transport, paths: [&[LinkId]; 2], links: &[Link]) -> bool {
    let header = transport.path_header();
    let is_router = |link: &LinkId| {
        let link = links.get(link.0 as usize);
        link.is_some_and(|l| match l.settings.queue {
            QueueSettings::Xcp(_) => header == PathHeader::Congestion,
            QueueSettings::Bandwidth(_) => header == PathHeader::Bandwidth,
            _ => false,
        })
    };
    transport.is_explicit() && !paths.into_iter().flatten().any(is_router)
}

/// The message about `who`, such as ``flow `download` ``, whose `transport` lacks a router.
pub(super) fn lacks(who: &str, transport: &Transport, place: Place) -> Diagnostic {
    let kind = router(transport.path_header()).unwrap_or_default();
    let message = format!(
        "{who} crosses no queue of kind `{kind}`, and transport `{}` sends what those allow",
        transport.name
    );
    Diagnostic::new(place, message)
        .label(match transport.path_header() {
            PathHeader::Bandwidth => "nothing would set its window: it would be Reno",
            _ => "its window would never change",
        })
        .help(format!(
            "give its bottleneck `queue = {{ kind = \"{kind}\", limit = \"1 BDP\" }}`"
        ))
}
