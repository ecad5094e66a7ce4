//! Links with their queues and channels.

use super::Fields;
use super::media::Media;
use super::nodes::{End, Nodes};
use super::protection;
use super::queues::{self, Queue};
use super::timelines::{self, Changing};
use crate::diagnostic::{Diagnostic, Reported};
use crate::model::{Link, MediumId};
use crate::schema::{self, LARGEST_COUNT};
use crate::source::Place;
use crate::tree::{Entry, Table, Value};
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{ArqSettings, ChannelSettings, Coding, LinkSettings, QueueSettings, Timeline};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::sync::Arc;

/// The links of a scenario.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) links: Vec<Link>,
    /// False where a link could not be read.
    pub(super) complete: bool,
}

pub(super) fn read(top: &Fields<'_>, nodes: &Nodes<'_>, media: &Media<'_>) -> Links {
    let mut read = Links {
        links: Vec::new(),
        complete: true,
    };
    let Ok(tables) = top.tables("link") else {
        read.complete = false;
        return read;
    };
    if top.lacks_all("link") && top.lacks_all("constellation") {
        let error = Diagnostic::new(top.at, "the scenario has no links");
        top.errors
            .report(error.help("write a table such as `[link.satellite]` for each"));
        read.complete = false;
    }
    for (entry, table) in tables {
        if link(top, nodes, media, entry, table, &mut read.links).is_err() {
            read.complete = false;
        }
    }
    read
}

/// Adds the links of one table, forth and back for each pair of nodes.
fn link(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    media: &Media<'_>,
    entry: &Entry,
    table: &Table,
    links: &mut Vec<Link>,
) -> Result<(), Reported> {
    let what = format!("link `{}`", entry.key);
    let fields = Fields::new(top.errors, &schema::LINK, table, entry.key_place, what);
    fields.check_keys(&[]);
    let between = between(&fields, nodes);
    let settings = settings(&fields, media, entry);
    let reports_corruption = fields.optional("reports_corruption");
    let (from, to) = between?;
    let pairs = from.pairs(&to, &fields);
    let ((forward, reverse), pairs) = (settings?, pairs?);
    let reports_corruption = reports_corruption?.unwrap_or(false);
    if (links.len() + 2 * pairs.len()) as u64 > 2 * LARGEST_COUNT {
        let message = format!("more than {LARGEST_COUNT} links");
        let error = Diagnostic::new(entry.key_place, message).label("too many with these");
        return Err(top.errors.report(error));
    }
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let name = if from.counted(&to) {
            format!("{}[{}]", entry.key, i + 1)
        } else {
            entry.key.clone()
        };
        let back = format!("{name}.reverse");
        links.push(Link {
            name,
            from: a,
            to: b,
            settings: forward.settings.clone(),
            timeline: forward.timeline.clone(),
            arq: forward.arq,
            medium: forward.medium,
            reports_corruption,
        });
        links.push(Link {
            name: back,
            from: b,
            to: a,
            settings: reverse.settings.clone(),
            timeline: reverse.timeline.clone(),
            arq: reverse.arq,
            medium: reverse.medium,
            reports_corruption,
        });
    }
    Ok(())
}

fn between(fields: &Fields<'_>, nodes: &Nodes<'_>) -> Result<(End, End), Reported> {
    let Some(entry) = fields.entry("between") else {
        return Err(fields.missing("between"));
    };
    match &entry.item.value {
        Value::List(items) => match &items[..] {
            [a, b] => {
                let (a, b) = (nodes.end(fields, a), nodes.end(fields, b));
                Ok((a?, b?))
            }
            items => {
                let message = format!("{} is between {} nodes", fields.what, items.len());
                let error = Diagnostic::new(entry.item.place, message);
                Err(fields.errors.report(error.label("expected two names")))
            }
        },
        other => {
            let message = format!("expected an array, found {}", other.kind());
            let error = Diagnostic::new(entry.item.place, message);
            Err(fields
                .errors
                .report(error.label("expected two names, such as `[\"gateway\", \"client\"]`")))
        }
    }
}

/// One direction as the model has it.
struct Finished {
    settings: LinkSettings,
    timeline: Option<Arc<Timeline>>,
    arq: Option<ArqSettings>,
    medium: Option<MediumId>,
}

/// What one direction is made of, before its queue is known in bytes.
#[derive(Clone)]
struct Direction {
    rate: Rate,
    one_way_delay: Duration,
    queue: (Queue, Place),
    bdp_round_trip: Option<Duration>,
    channel: ChannelSettings,
    framing: Bytes,
    coding: Option<Coding>,
    arq: Option<ArqSettings>,
    changing: Changing,
    medium: Option<MediumId>,
}

fn settings(
    fields: &Fields<'_>,
    media: &Media<'_>,
    entry: &Entry,
) -> Result<(Finished, Finished), Reported> {
    let shared = media.of(fields);
    let delays = match &shared {
        Ok(Some((_, medium))) => Ok((medium.one_way_delay, medium.one_way_delay)),
        Ok(None) => delays(fields),
        Err(reported) => Err(*reported),
    };
    let there = direction(fields, shared, None);
    let back = match fields.entry("reverse") {
        None => Ok(None),
        Some(entry) => fields.table_of(entry).map(|table| {
            let what = format!("the reverse of {}", fields.what);
            let at = entry.key_place;
            let back = Fields::new(fields.errors, &schema::REVERSE, table, at, what);
            back.check_keys(&[]);
            Some(back)
        }),
    };
    let back_shared = match &back {
        Ok(Some(back)) => media.of(back),
        _ => Ok(None),
    };
    let back_delay = match (&back, &back_shared) {
        (_, Ok(Some((_, medium)))) => Ok(Some(medium.one_way_delay)),
        (Ok(Some(back)), _) => back.optional::<Duration>("one_way_delay"),
        _ => Ok(None),
    };
    if let (Ok(Some(back)), Some(total)) = (&back, fields.entry("round_trip_delay"))
        && let Some(delay) = back.entry("one_way_delay")
    {
        let error = Diagnostic::new(delay.key_place, "the delay is given twice");
        return Err(fields.errors.report(
            error
                .label("a delay of its own")
                .related(total.key_place, "and half of the round trip")
                .help("write `one_way_delay` for each direction"),
        ));
    }
    let (forth, half) = delays?;
    let mut there = there?;
    there.one_way_delay = forth;
    let mut reverse = match back? {
        Some(back) => direction(&back, back_shared, Some(&there))?,
        None => there.again(),
    };
    reverse.one_way_delay = back_delay?.unwrap_or(half);
    let round_trip = there.one_way_delay + reverse.one_way_delay;
    let name = &entry.key;
    let there = there.finish(fields, name, round_trip);
    let reverse = reverse.finish(fields, name, round_trip);
    Ok((there?, reverse?))
}

/// Propagation delay forth and, unless the way back has its own, back.
fn delays(fields: &Fields<'_>) -> Result<(Duration, Duration), Reported> {
    match (
        fields.entry("one_way_delay"),
        fields.entry("round_trip_delay"),
    ) {
        (Some(one_way), Some(round_trip)) => {
            let error = Diagnostic::new(round_trip.key_place, "the delay is given twice");
            Err(fields.errors.report(
                error
                    .label("round trip")
                    .related(one_way.key_place, "one way")
                    .help("keep one of the two"),
            ))
        }
        (None, Some(_)) => {
            let total: Duration = fields.required("round_trip_delay")?;
            let half = total / 2;
            Ok((half, total - half))
        }
        _ => fields.required("one_way_delay").map(|delay| (delay, delay)),
    }
}

/// The medium that a direction shares.
type Shared<'a> = Result<Option<(MediumId, &'a MediumSettings)>, Reported>;

/// Reads what one direction says. The way back takes what it leaves out from
/// `there`.
fn direction(
    fields: &Fields<'_>,
    shared: Shared<'_>,
    there: Option<&Direction>,
) -> Result<Direction, Reported> {
    let rate = match (shared, there) {
        (Err(reported), _) => Err(reported),
        (Ok(Some((_, medium))), _) => Ok(medium.rate),
        (Ok(None), None) => fields.required("rate"),
        (Ok(None), Some(there)) => fields
            .optional("rate")
            .map(|rate| rate.unwrap_or(there.rate)),
    };
    let bdp_round_trip = fields.optional("bdp_round_trip");
    let framing = fields.optional("framing");
    let queue = fields
        .entry("queue")
        .map(|entry| queues::read(fields, entry))
        .transpose();
    let channel = fields
        .entry("channel")
        .map(|entry| channel(fields, entry))
        .transpose();
    let (coding, arq) = (protection::coding(fields), protection::arq(fields));
    let changing = timelines::read(fields, there.map(|t| &t.changing));
    Ok(Direction {
        rate: rate?,
        one_way_delay: Duration::ZERO,
        queue: queue?
            .or(there.map(|t| t.queue))
            .unwrap_or((queues::DEFAULT, fields.at)),
        bdp_round_trip: bdp_round_trip?.or(there.and_then(|t| t.bdp_round_trip)),
        channel: channel?
            .or(there.map(|t| t.channel))
            .unwrap_or(ChannelSettings::Perfect),
        framing: framing?.or(there.map(|t| t.framing)).unwrap_or(Bytes::ZERO),
        // A channel of its own is that behind the decoder.
        coding: match coding? {
            Some(own) => own,
            None if fields.entry("channel").is_some() => None,
            None => there.and_then(|t| t.coding.clone()),
        },
        arq: arq?.unwrap_or(there.and_then(|t| t.arq)),
        changing: changing?,
        medium: shared?.map(|(id, _)| id),
    })
}

impl Direction {
    /// The way back of a link that says nothing about it.
    fn again(&self) -> Direction {
        Direction {
            medium: None,
            ..self.clone()
        }
    }

    /// The settings, with a queue in BDP turned into bytes.
    fn finish(
        self,
        fields: &Fields<'_>,
        name: &str,
        own_round_trip: Duration,
    ) -> Result<Finished, Reported> {
        let (mut rate, mut channel) = (self.rate, self.channel);
        if let Some(coding) = &self.coding {
            // A code that cannot be was reported where it stands.
            let bit_error_rate = coding.bit_error_rate().unwrap_or(Ratio::ZERO);
            rate = coding.rate(rate).max(Rate::from_bps(1));
            channel = ChannelSettings::BitErrors { bit_error_rate };
        }
        let timeline = self.changing.finish(fields, rate, self.one_way_delay);
        let (queue, place) = self.queue;
        let before = queues::Before {
            rate,
            round_trip: self.bdp_round_trip.unwrap_or(own_round_trip),
            name,
            place,
        };
        let queue = queue.finish(fields, &before)?;
        let settings = LinkSettings {
            rate,
            one_way_delay: self.one_way_delay,
            queue,
            channel,
            framing: self.framing,
        };
        let (timeline, arq) = (timeline?, self.arq);
        let refuse = |key: &str, message: &str, help: &str| {
            let place = fields.entry(key).map_or(fields.at, |e| e.key_place);
            let error = Diagnostic::new(place, format!("{} {message}", fields.what));
            Err(fields.errors.report(error.label("not both").help(help)))
        };
        if timeline.is_some() && arq.is_some() {
            let help = "remove one of the two, or put two links in a row";
            return refuse("arq", "changes with time and has ARQ", help);
        }
        if self.medium.is_some() && (timeline.is_some() || arq.is_some() || self.coding.is_some()) {
            let message = "shares a medium and has a timeline, ARQ or coding of its own";
            return refuse(
                "medium",
                message,
                "put a second link behind that of the medium",
            );
        }
        if self.medium.is_some() && matches!(settings.queue, QueueSettings::Xcp(_)) {
            let message = "shares a medium and has a queue of kind `xcp`";
            let help = "an XCP router needs a rate of its own: put it on a second link";
            return refuse("queue", message, help);
        }
        Ok(Finished {
            settings,
            timeline,
            arq,
            medium: self.medium,
        })
    }
}

pub(super) fn channel(fields: &Fields<'_>, entry: &Entry) -> Result<ChannelSettings, Reported> {
    let kind = fields.kind(entry, &schema::CHANNELS, "channel")?;
    Ok(match kind.section.kind {
        Some("uniform") => ChannelSettings::Uniform {
            packet_error_rate: kind.required("packet_error_rate")?,
        },
        Some("bit-errors") => ChannelSettings::BitErrors {
            bit_error_rate: kind.required("bit_error_rate")?,
        },
        Some("gilbert-elliott") => {
            let (rate, burst) = (
                kind.required("packet_error_rate"),
                kind.required("mean_burst"),
            );
            ChannelSettings::GilbertElliott {
                packet_error_rate: rate?,
                mean_burst: burst?,
            }
        }
        _ => ChannelSettings::Perfect,
    })
}
