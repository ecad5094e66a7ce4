//! One run on many threads, with the same outcome to the bit.
//!
//! The network is cut into parts at links with a delay ([`divide`]). Each part has its own event
//! queue, its own packets and its own thread, and runs its events in the order of one queue: time,
//! class, component. Parts affect each other only through packets that cross a cut, and none of these
//! arrives sooner than the least delay of all cut links after it was admitted. So all parts may run a
//! window of that length without hearing of each other. At its end they meet and hand over the
//! packets that have crossed.
//!
//! **Cut links.** A link that is cut is in several parts. The part of its near end admits packets:
//! queue, transmitter, channel and counters are there. Where a packet goes on, it lies in the ring of
//! that part's link, and arrives there by the same event (time, arrival, link) as in an undivided
//! run. Only links that know at once when a packet arrives can be cut, timelines included;
//! event-driven links, media and links whose delay varies cannot. Nor can links on which packets
//! overtake others: an overtaken packet leaves an event behind, or not, by what the ring held when
//! the other was admitted, and events are part of the outcome.
//!
//! **Parts.** What shares state at one instant is one piece: an endpoint and the first links of its
//! paths; a link that cannot be cut and what comes after it; the terminals of a medium; the links of
//! a node with a middlebox, or on which packets may be rerouted; both ends of a flow, unless they
//! know of each other by packets alone ([`Running::is_separable`](crate::flow::Running::is_separable)).
//! Pieces are put into as many parts as there are threads ([`division`]). Which pieces are in which
//! part changes no result.
//!
//! **The end.** A run ends with the last flow that it waits for, at an event in the middle of a
//! window, and nothing may happen anywhere that one queue would have given out later. So a part
//! stops at the event that ends its own last flow, and a part without such flows stays a window
//! behind, where it is sure that the run goes on. When the last part has stopped, all others run up
//! to that event, in the order of one queue. Where an event of theirs cannot be told from it in that
//! order (the same link delivers two packets at one instant), the run is repeated on one thread, and
//! so it is where a bound may have been hit that cannot be added up. The window counts from the
//! earliest event of any part, so it is half as long where parts are behind.
//!
//! **The sum.** Everything that is counted is a whole number, counted in one part and added up, so
//! the order of the parts does not matter. A change of routes is an event of every part and counts in
//! the first.
//!
//! | file | subject |
//! |---|---|
//! | `division.rs` | which part each link and each end of a flow is in |
//! | `crossing.rs` | packets on their way to other parts |
//! | `table.rs` | where parts meet, and what they tell each other |
//! | `gate.rs` | the barrier |
//! | `part.rs` | one part, from window to window |
//! | [`execution/windows.rs`](crate::execution) | its events |

mod crossing;
mod division;
mod gate;
mod part;
mod table;

pub(crate) use crossing::{Crossing, Outgoing};
pub(crate) use division::{Division, divide, divide_by_itself};
pub use division::{OneThread, Threads};

use crate::observer::Unobserved;
use crate::simulation::Progress;
use crate::{Options, RunError};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use part::{Part, Unfinished};
use std::thread;
use table::Table;

/// The run has to be repeated on one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat;

/// Runs the parts of a network side by side, the first on this thread.
pub(crate) fn run(
    scenario: &Scenario,
    options: &Options,
    division: &Division,
    progress: Option<&mut Progress<'_>>,
) -> Result<Result<Outcome, RunError>, Repeat> {
    let table = Table::new(division.parts());
    let finished = thread::scope(|scope| {
        let start = |me: usize| {
            let table = &table;
            thread::Builder::new().spawn_scoped(scope, move || {
                let mut unobserved = Unobserved;
                let mut part = Part::new(scenario, options, division, table, me, &mut unobserved)?;
                let ended_at = part.run(None)?;
                Ok(part.into_execution().into_yield(me, division, ended_at))
            })
        };
        let mut others = Vec::with_capacity(division.parts());
        for me in 1..division.parts() {
            match start(me) {
                Ok(other) => others.push(other),
                // The machine has no more threads: those that run do not wait for the others.
                Err(_) => {
                    table.leave();
                    return Err(Unfinished::Repeat);
                }
            }
        }
        let mut unobserved = Unobserved;
        let first = Part::new(scenario, options, division, &table, 0, &mut unobserved);
        let first = first.and_then(|mut part| {
            let ended_at = part.run(progress)?;
            Ok((part.into_execution(), ended_at))
        });
        let mut yields = Vec::with_capacity(others.len());
        for other in others {
            match other.join() {
                Ok(part) => yields.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let yields = yields.into_iter().collect::<Result<Vec<_>, _>>();
        match (first, yields) {
            (Ok((first, ended_at)), Ok(yields)) => {
                Ok(first.into_outcome(division, ended_at, yields))
            }
            // All stop for the same reason, but for one that could not even begin.
            (Err(Unfinished::Left), Err(unfinished)) | (Err(unfinished), _) => Err(unfinished),
            (Ok(_), Err(unfinished)) => Err(unfinished),
        }
    });
    match finished {
        Ok(outcome) => Ok(outcome),
        Err(Unfinished::Failed(error)) => Ok(Err(error)),
        Err(Unfinished::Repeat | Unfinished::Left) => Err(Repeat),
    }
}
