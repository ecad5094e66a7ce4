//! Queues of links.

use super::Fields;
use super::value::{QueueLength, QueueLimit};
use crate::diagnostic::{Diagnostic, Reported};
use crate::schema::{self, Kind};
use crate::source::Place;
use crate::tree::{Entry, Value};
use bentpipe_link::{
    AckFilterSettings, CoDelSettings, Limit, PriorityDropSettings, QueueSettings, RedMode,
    RedPreset, RedSettings, XcpSettings,
};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// The queue of a link that says nothing.
pub(super) const DEFAULT: Queue = Queue::DropTail(QueueLimit::Exactly(Limit::Packets(1000)));

/// The queue of a constellation that says nothing: that of ns-2.
pub(super) const FIFTY: Queue = Queue::DropTail(QueueLimit::Exactly(Limit::Packets(50)));

/// A queue, before its lengths are known in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queue {
    DropTail(QueueLimit),
    Red {
        /// All but its limit and thresholds.
        settings: RedSettings,
        limit: QueueLimit,
        minimum: Option<QueueLength>,
        maximum: Option<QueueLength>,
    },
    CoDel {
        /// All but its limit.
        settings: CoDelSettings,
        limit: QueueLimit,
    },
    PriorityDrop {
        limit: QueueLimit,
        low_limit: Option<QueueLimit>,
    },
    Xcp {
        /// All but its limit.
        settings: XcpSettings,
        limit: QueueLimit,
    },
    AckFilter(QueueLimit),
}

/// The link behind a queue.
pub(super) struct Before<'a> {
    pub(super) rate: Rate,
    /// What `BDP` refers to.
    pub(super) round_trip: Duration,
    /// Of the link, for messages.
    pub(super) name: &'a str,
    /// Where the queue stands, for messages.
    pub(super) place: Place,
}

/// Reads `"100 packets"`, or a table with a kind.
pub(super) fn read(fields: &Fields<'_>, entry: &Entry) -> Result<(Queue, Place), Reported> {
    let place = entry.item.place;
    if let (Value::Text(text), Some(key)) = (&entry.item.value, fields.key("queue")) {
        // A word without a number is a kind, with its own message.
        if text.contains(|c: char| c.is_ascii_digit()) || text.trim().is_empty() {
            let key = schema::Key {
                kind: Kind::QueueLimit,
                ..*key
            };
            return Ok((Queue::DropTail(fields.read(&entry.item, &key)?), place));
        }
    } else if !matches!(entry.item.value, Value::Table(_)) {
        let limit = fields.read(&entry.item, &schema::QUEUES[0].keys[0])?;
        return Ok((Queue::DropTail(limit), place));
    }
    let kind = fields.kind(entry, &schema::QUEUES, "queue")?;
    let queue = match kind.section.kind {
        Some("red") => red(&kind, false)?,
        Some("adaptive-red") => red(&kind, true)?,
        Some("codel") => codel(&kind)?,
        Some("xcp") => xcp(&kind)?,
        Some("priority-drop") => {
            let (limit, low_limit) = (kind.required("limit"), kind.optional("low_limit"));
            Queue::PriorityDrop {
                limit: limit?,
                low_limit: low_limit?,
            }
        }
        Some("ack-filter") => Queue::AckFilter(kind.required("limit")?),
        _ => Queue::DropTail(kind.required("limit")?),
    };
    Ok((queue, place))
}

fn red(fields: &Fields<'_>, adaptive: bool) -> Result<Queue, Reported> {
    let limit = fields.required("limit");
    let preset = fields.optional_word("preset")?;
    let preset = RedPreset::ALL
        .iter()
        .find(|(name, _)| Some(*name) == preset)
        .map_or(RedPreset::Ns2002, |(_, preset)| *preset);
    // The true limit comes with the link's rate.
    let mut settings = RedSettings::preset(preset, Limit::Packets(0));
    if adaptive {
        settings = settings.adaptive(preset);
    }
    let s = &mut settings;
    let mode = fields.optional_word("mode");
    let minimum = fields.optional::<QueueLength>("minimum");
    let maximum = fields.optional::<QueueLength>("maximum");
    let mark_below = fields.optional::<f64>("mark_below");
    let mark_below = mark_below.map(|most| most.map(|p| p.is_finite().then_some(p)));
    let read = [
        set(&mut s.mean_packet, fields.optional("mean_packet")),
        set(&mut s.max_p, fields.optional("max_p")),
        set(&mut s.gentle, fields.optional("gentle")),
        set(&mut s.wait, fields.optional("wait")),
        set(&mut s.ecn, fields.optional("ecn")),
        set(&mut s.target_delay, fields.optional("target_delay")),
        set(
            &mut s.weight,
            fields.optional("weight").map(|w| w.map(Some)),
        ),
        set(&mut s.mark_below, mark_below),
    ];
    let ratio = |name| fields.optional::<Ratio>(name).map(|r| r.map(Ratio::get));
    let more = s.adaptive.as_mut().map(|a| {
        [
            set(&mut a.interval, fields.optional("interval")),
            set(&mut a.alpha, fields.optional("alpha")),
            set(&mut a.beta, fields.optional("beta")),
            set(&mut a.bottom, ratio("bottom").map(|r| r.map(Some))),
            set(&mut a.top, ratio("top")),
        ]
    });
    read.into_iter()
        .chain(more.into_iter().flatten())
        .collect::<Result<(), Reported>>()?;
    match mode? {
        Some("bytes") => settings.mode = RedMode::Bytes,
        Some(_) => settings.mode = RedMode::Packets,
        None => {}
    }
    Ok(Queue::Red {
        settings,
        limit: limit?,
        minimum: minimum?,
        maximum: maximum?,
    })
}

fn codel(fields: &Fields<'_>) -> Result<Queue, Reported> {
    let limit = fields.required("limit");
    // The true limit comes with the link's rate.
    let mut settings = CoDelSettings::new(Limit::Packets(0));
    let read = [
        set(&mut settings.target, fields.optional("target")),
        set(&mut settings.interval, fields.optional("interval")),
        set(&mut settings.mtu, fields.optional("mtu")),
        set(&mut settings.ecn, fields.optional("ecn")),
    ];
    read.into_iter().collect::<Result<(), Reported>>()?;
    Ok(Queue::CoDel {
        settings,
        limit: limit?,
    })
}

fn xcp(fields: &Fields<'_>) -> Result<Queue, Reported> {
    let limit = fields.required("limit");
    // The true limit comes with the link's rate.
    let mut settings = XcpSettings::new(Limit::Packets(0));
    let s = &mut settings;
    let read = [
        set(&mut s.alpha, fields.optional("alpha")),
        set(&mut s.beta, fields.optional("beta")),
        set(&mut s.gamma, fields.optional("gamma")),
        set(&mut s.longest_rtt, fields.optional("longest_rtt")),
        set(&mut s.p_xcp, fields.optional("p_xcp")),
    ];
    read.into_iter().collect::<Result<(), Reported>>()?;
    Ok(Queue::Xcp {
        settings,
        limit: limit?,
    })
}

/// Takes a value that was written.
fn set<T>(to: &mut T, read: Result<Option<T>, Reported>) -> Result<(), Reported> {
    if let Some(value) = read? {
        *to = value;
    }
    Ok(())
}

impl Queue {
    /// The settings before that link.
    pub(super) fn finish(
        self,
        fields: &Fields<'_>,
        link: &Before<'_>,
    ) -> Result<QueueSettings, Reported> {
        Ok(match self {
            Queue::DropTail(limit) => QueueSettings::drop_tail(link.limit(fields, limit)?),
            Queue::CoDel {
                mut settings,
                limit,
            } => {
                settings.limit = link.limit(fields, limit)?;
                QueueSettings::CoDel(settings)
            }
            Queue::Xcp {
                mut settings,
                limit,
            } => {
                settings.limit = link.limit(fields, limit)?;
                QueueSettings::Xcp(settings)
            }
            Queue::AckFilter(limit) => QueueSettings::AckFilter(AckFilterSettings {
                limit: link.limit(fields, limit)?,
            }),
            Queue::PriorityDrop { limit, low_limit } => {
                QueueSettings::PriorityDrop(PriorityDropSettings {
                    limit: link.limit(fields, limit)?,
                    low_limit: low_limit.map(|low| link.limit(fields, low)).transpose()?,
                })
            }
            Queue::Red {
                mut settings,
                limit,
                minimum,
                maximum,
            } => {
                settings.limit = link.limit(fields, limit)?;
                let mean = settings.mean_packet.as_f64();
                if let Some(minimum) = minimum {
                    settings.minimum = Some(link.length(fields, minimum, mean)?);
                }
                if let Some(maximum) = maximum {
                    settings.maximum = Some(link.length(fields, maximum, mean)?);
                }
                let (low, high) = settings.thresholds(link.rate);
                if low >= high {
                    let message = format!(
                        "the maximum threshold of link `{}` is not above its minimum",
                        link.name
                    );
                    let error = Diagnostic::new(link.place, message)
                        .label(format!("minimum {low} packets, maximum {high}"))
                        .help("packets here are of `mean_packet`");
                    return Err(fields.errors.report(error));
                }
                QueueSettings::Red(settings)
            }
        })
    }
}

impl Before<'_> {
    fn limit(&self, fields: &Fields<'_>, limit: QueueLimit) -> Result<Limit, Reported> {
        match limit {
            QueueLimit::Exactly(limit) => Ok(limit),
            QueueLimit::Bdp(factor) => self.bdp(fields, factor).map(Limit::Bytes),
        }
    }

    /// A length in packets of `mean` bytes.
    fn length(&self, fields: &Fields<'_>, length: QueueLength, mean: f64) -> Result<f64, Reported> {
        match length {
            QueueLength::Packets(n) => Ok(n),
            QueueLength::Bytes(n) => Ok(n.as_f64() / mean),
            QueueLength::Bdp(factor) => Ok(self.bdp(fields, factor)?.as_f64() / mean),
        }
    }

    /// Bandwidth-delay products in bytes.
    fn bdp(&self, fields: &Fields<'_>, factor: f64) -> Result<Bytes, Reported> {
        let bdp = self.rate.bytes_in(self.round_trip).as_f64();
        let bytes = Bytes::new((bdp * factor + 0.5) as u64);
        if bytes != Bytes::ZERO {
            return Ok(bytes);
        }
        let message = format!(
            "the bandwidth-delay product of link `{}` is zero",
            self.name
        );
        let error = Diagnostic::new(self.place, message)
            .label(format!("{} x {}", self.rate, self.round_trip))
            .help("say with `bdp_round_trip` which round trip `BDP` refers to");
        Err(fields.errors.report(error))
    }
}
