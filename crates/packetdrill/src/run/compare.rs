//! Compares what leaves with what the script expects.

use super::{Due, End, Run, seconds};
use crate::connection::Sent;
use crate::report::Difference;
use crate::script::{Segment, TcpOption, flag};
use bentpipe_units::Time;

/// What has left as one: the first and the last of its segments.
struct Left {
    connection: usize,
    segment: Segment,
    first: Time,
    last: Time,
}

impl Run<'_> {
    /// A segment is to leave.
    pub(super) fn leaves(&mut self, expected: &Segment, line: usize, due: Due) -> Result<(), End> {
        if let Some(TcpOption::Foreign(name)) = expected
            .options
            .iter()
            .flatten()
            .find(|option| matches!(option, TcpOption::Foreign(_)))
        {
            return Err(End::NotModelled(line, (*name).to_owned()));
        }
        let Some(left) = self.take(expected, line, due)? else {
            return Err(End::Differs(Box::new(Difference {
                line,
                what: "nothing is sent".to_owned(),
                expected: expected.to_string(),
                expected_at: self.span(due),
                found: "nothing".to_owned(),
                found_at: String::new(),
            })));
        };
        self.now = self.now.max(left.last);
        let what = self.difference(expected, &left).or_else(|| {
            let early = left.first + due.tolerance < due.from;
            let late = left.last > due.to + due.tolerance;
            (!due.any && (early || late)).then_some("time")
        });
        let Some(what) = what else {
            return Ok(());
        };
        let found_at = match left.first == left.last {
            true => seconds(left.first),
            false => format!("{} to {}", seconds(left.first), seconds(left.last)),
        };
        Err(End::Differs(Box::new(Difference {
            line,
            what: what.to_owned(),
            expected: expected.to_string(),
            expected_at: self.span(due),
            found: shown(expected, &left.segment).to_string(),
            found_at,
        })))
    }

    /// What leaves next, as long as what is expected if it goes on without a gap.
    fn take(&mut self, expected: &Segment, line: usize, due: Due) -> Result<Option<Left>, End> {
        let Some((connection, first)) = self.next(line, due)? else {
            return Ok(None);
        };
        let mut left = Left {
            connection,
            segment: first.segment,
            first: first.at,
            last: first.at,
        };
        let starts = left.segment.sequence == expected.sequence && left.segment.payload > 0;
        while starts
            && left.segment.payload < expected.payload
            && left.segment.flags & flag::FIN == 0
        {
            if !self.continues(&left, line, due)? {
                break;
            }
            let Some((_, next)) = self.host.sent.pop_front() else {
                break;
            };
            left.segment.payload += next.segment.payload;
            left.segment.flags |= next.segment.flags & (flag::FIN | flag::CWR);
            left.last = next.at;
        }
        Ok(Some(left))
    }

    /// True if what leaves next goes on where `left` ends.
    fn continues(&mut self, left: &Left, line: usize, due: Due) -> Result<bool, End> {
        if self.host.sent.is_empty() {
            self.step(due.to + due.tolerance, line)?;
        }
        let end = left.segment.sequence.wrapping_add(left.segment.payload);
        Ok(self.host.sent.front().is_some_and(|(connection, next)| {
            *connection == left.connection
                && next.segment.payload > 0
                && next.segment.sequence == end
                && next.segment.flags & (flag::SYN | flag::RST) == 0
        }))
    }

    fn next(&mut self, line: usize, due: Due) -> Result<Option<(usize, Sent)>, End> {
        // Until a little after the last moment.
        let until = due.to + due.tolerance + due.tolerance;
        while self.host.sent.is_empty() {
            if !self.step(until, line)? {
                return Ok(None);
            }
        }
        Ok(self.host.sent.pop_front())
    }

    /// The first field that differs.
    fn difference(&mut self, expected: &Segment, left: &Left) -> Option<&'static str> {
        let found = &left.segment;
        let compared = !flag::PSH;
        if expected.flags & compared != found.flags & compared {
            return Some("flags");
        }
        if expected.sequence != found.sequence {
            return Some("sequence number");
        }
        if expected.payload != found.payload {
            return Some("length");
        }
        if expected.acknowledgement != found.acknowledgement {
            return Some("acknowledgement number");
        }
        if expected.window.is_some() && expected.window != found.window {
            return Some("window");
        }
        if let (Some(ecn), Some(own)) = (expected.ecn, found.ecn)
            && !ecn.takes(own)
        {
            return Some("ECN field");
        }
        let (Some(expected), Some(found)) = (&expected.options, &found.options) else {
            return None;
        };
        if expected.len() != found.len() {
            return Some("options");
        }
        let pairs = expected.iter().zip(found);
        for (expected, found) in pairs {
            match (expected, found) {
                (TcpOption::Timestamp(value, _), TcpOption::Timestamp(own, own_echo)) => {
                    let tick = self.tolerance.timestamp_tick;
                    let tolerance = self.tolerance.time.as_micros();
                    if let Some(connection) = self.host.connection_mut(left.connection) {
                        connection.wire.note_stamp(*value, *own);
                        let (own, script) = connection.wire.stamps_since_first(*value, *own);
                        let script = script.saturating_mul(i64::try_from(tick).unwrap_or(0));
                        if tick > 0 && own.abs_diff(script) > tolerance {
                            return Some("timestamp");
                        }
                    }
                    let TcpOption::Timestamp(_, echo) = expected else {
                        continue;
                    };
                    // packetdrill compares no echo; a wrong one is worth telling.
                    if echo != own_echo {
                        return Some("timestamp echo");
                    }
                }
                (expected, found) if expected == found => {}
                _ => return Some("options"),
            }
        }
        None
    }
}

/// What was found, with as much detail as the script expects.
fn shown(expected: &Segment, found: &Segment) -> Segment {
    let mut shown = found.clone();
    if expected.window.is_none() {
        shown.window = None;
    }
    if expected.ecn.is_none() {
        shown.ecn = None;
    }
    if expected.options.is_none() {
        shown.options = None;
    }
    // Which the model does not have.
    shown.flags |= expected.flags & flag::PSH;
    shown
}
