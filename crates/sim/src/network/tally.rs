//! What a part of a network has counted, for the sum of all parts.

use super::Network;
use super::middlebox::Boxes;
use crate::ledger::Ledger;
use bentpipe_link::forward::{self, Count};

/// Counts by hop and by path.
#[derive(Debug)]
pub(crate) struct Tally {
    losses: Ledger,
    /// By path.
    sent: Vec<Count>,
    /// What middleboxes have put into each hop, and taken out.
    boxes: [Vec<Count>; 2],
}

impl Tally {
    /// Adds the counts of another part.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.losses.add(&other.losses);
        add(&mut self.sent, &other.sent);
        for (own, other) in self.boxes.iter_mut().zip(&other.boxes) {
            add(own, other);
        }
    }
}

fn add(own: &mut Vec<Count>, other: &[Count]) {
    if own.len() < other.len() {
        own.resize(other.len(), Count::default());
    }
    for (own, other) in own.iter_mut().zip(other) {
        *own = own.plus(*other);
    }
}

/// What is left of a part at the end of the run.
#[derive(Debug)]
pub(crate) struct Remains {
    forward: forward::Network,
    boxes: Boxes,
    tally: Tally,
}

impl<const WATCHED: bool> Network<'_, WATCHED> {
    /// What has been counted here.
    pub(crate) fn tally(&self) -> Tally {
        Tally {
            losses: self.driver.ledger.clone(),
            sent: self.forward.paths.sent().collect(),
            boxes: self.boxes.counts(),
        }
    }

    /// Puts other counts in the place of those here, which it returns.
    pub(crate) fn exchange(&mut self, tally: Tally) -> Tally {
        let sent = self.forward.paths.sent().collect();
        self.forward.paths.set_sent(tally.sent);
        Tally {
            losses: std::mem::replace(&mut self.driver.ledger, tally.losses),
            sent,
            boxes: self.boxes.exchange(tally.boxes),
        }
    }

    /// What is left when all is over.
    pub(crate) fn into_remains(self) -> Remains {
        Remains {
            tally: self.tally(),
            forward: self.forward,
            boxes: self.boxes,
        }
    }

    /// Makes this first part the whole network again, with the others at their end; `home` is the
    /// part of a link, and of a node with middleboxes that links begin at.
    pub(crate) fn gather(&mut self, others: Vec<Remains>, home: impl Fn(u32) -> usize) {
        let mut tally = self.tally();
        let mut networks = Vec::with_capacity(others.len());
        for (part, other) in (1..).zip(others) {
            tally.add(&other.tally);
            let begins = self.boxes.first_links();
            self.boxes.take(other.boxes, |node| {
                let link = begins.iter().find(|(at, _)| *at == node);
                link.is_some_and(|(_, link)| home(*link) == part)
            });
            networks.push(other.forward);
        }
        self.forward.gather(networks, home);
        self.exchange(tally);
    }
}
