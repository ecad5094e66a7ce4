//! The links at whose near end a middlebox is.

use crate::model::{Link, LinkId, NodeId};

/// Errors of placing a middlebox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotThere {
    /// No link has the name.
    UnknownLink,
    /// None of the links of that name touches the node.
    Elsewhere,
}

/// The links called `name` that leave `node`, whichever end it is, and their reverse directions if
/// any. The name of counted links means all of them.
pub(crate) fn attach(
    links: &[Link],
    node: NodeId,
    name: &str,
) -> Result<(Vec<LinkId>, Vec<LinkId>), NotThere> {
    let mut known = false;
    let (mut toward, mut back) = (Vec::new(), Vec::new());
    for (index, link) in links.iter().enumerate() {
        if !is_named(&link.name, name) {
            continue;
        }
        known = true;
        if link.from == node {
            toward.push(LinkId(index as u32));
            back.extend(link.reverse);
        }
    }
    match (known, toward.is_empty()) {
        (_, false) => Ok((toward, back)),
        (true, true) => Err(NotThere::Elsewhere),
        (false, true) => Err(NotThere::UnknownLink),
    }
}

/// True for the link `name`, its reverse direction, and any of counted links.
fn is_named(link: &str, name: &str) -> bool {
    let forth = link.strip_suffix(".reverse").unwrap_or(link);
    forth == name
        || forth
            .split_once('[')
            .is_some_and(|(group, _)| group == name)
}
