//! Senders that wait for routers (XCP) need one on their way.

use crate::model::{Link, LinkId};
use bentpipe_document::{Diagnostic, Place};
use bentpipe_link::QueueSettings;
use bentpipe_tcp::Transport;

/// True if `transport` waits for routers and none is on the ways of `paths`.
pub(super) fn lacking(transport: &Transport, paths: [&[LinkId]; 2], links: &[Link]) -> bool {
    let is_router = |link: &LinkId| {
        let link = links.get(link.0 as usize);
        link.is_some_and(|l| matches!(l.settings.queue, QueueSettings::Xcp(_)))
    };
    transport.is_explicit() && !paths.into_iter().flatten().any(is_router)
}

/// What is said of `who`, such as ``flow `download` ``, whose `transport` lacks
/// a router.
pub(super) fn lacks(who: &str, transport: &Transport, place: Place) -> Diagnostic {
    let message = format!(
        "{who} crosses no queue of kind `xcp`, and transport `{}` sends what those allow",
        transport.name
    );
    Diagnostic::new(place, message)
        .label("its window would never change")
        .help("give its bottleneck `queue = { kind = \"xcp\", limit = \"1 BDP\" }`")
}
