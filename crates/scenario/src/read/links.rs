//! Links with their queues and channels.

use super::jitter;
use super::media::Media;
use super::nodes::{End, Nodes};
use super::protection;
use super::slots;
use super::timelines::{self, Changing};
use crate::model::{Link, LinkId, MediumId, NodeId};
use crate::queue_length::LinkContext;
use crate::schema::LARGEST_COUNT;
use crate::schema::link::{AccessKeys, DirectionKeys, LineKeys, LinkTable};
use bentpipe_document::{
    Context, Diagnostic, Form, Item, Named, OneNamed, OptionalField, Placed, Reported, Value, form,
};
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{
    ArqSettings, ChannelSettings, Coding, JitterSettings, Limit, LinkSettings, QueueSettings,
    SlotSettings,
};
use bentpipe_units::{Duration, Rate, Ratio};
use std::sync::Arc;

/// The queue of a link that says nothing.
const DEFAULT_QUEUE: QueueSettings = QueueSettings::drop_tail(Limit::Packets(1000));

/// The links of a scenario.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) links: Vec<Link>,
    /// False where a link could not be read.
    pub(super) complete: bool,
}

pub(super) fn read(
    top: &Context,
    tables: OptionalField<Named<LinkTable>>,
    constellations: bool,
    nodes: &Nodes,
    media: &Media,
) -> Links {
    let mut read = Links {
        links: Vec::new(),
        complete: true,
    };
    let Ok(tables) = tables else {
        read.complete = false;
        return read;
    };
    let tables = tables.map(|t| t.value).unwrap_or_default();
    if tables.names.is_empty() && !constellations {
        let error = Diagnostic::new(top.at, "the scenario has no links");
        top.report(error.help("write a table such as `[link.satellite]` for each"));
        read.complete = false;
    }
    for table in tables.tables {
        if link(nodes, media, table, &mut read.links).is_err() {
            read.complete = false;
        }
    }
    read
}

/// Adds the links of one table, forth and back for each pair of nodes.
fn link(
    nodes: &Nodes,
    media: &Media,
    one: OneNamed<LinkTable>,
    links: &mut Vec<Link>,
) -> Result<(), Reported> {
    let (table, key) = (one.table?, one.name);
    let context = table.context.clone();
    let between = between(&context, table.between.clone(), nodes);
    let reports_corruption = table.reports_corruption;
    let offload = table.offload;
    let settings = settings(table, media, &key);
    let (from, to) = between?;
    let pairs = from.pairs(&to, &context);
    let ((forward, reverse), pairs) = (settings?, pairs?);
    let reports_corruption = reports_corruption?.value;
    let offload = offload?.value;
    if (links.len() + 2 * pairs.len()) as u64 > 2 * LARGEST_COUNT {
        let message = format!("more than {LARGEST_COUNT} links");
        let error = Diagnostic::new(one.place, message).label("too many with these");
        return Err(context.report(error));
    }
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let name = if from.counted(&to) {
            format!("{key}[{}]", i + 1)
        } else {
            key.clone()
        };
        let back = format!("{name}.reverse");
        let first = LinkId(links.len() as u32);
        let of = |name, from, to, way: &Link, reverse| Link {
            name,
            from,
            to,
            reverse: Some(reverse),
            reports_corruption,
            offload,
            ..way.clone()
        };
        links.push(of(name, a, b, &forward, LinkId(first.0 + 1)));
        links.push(of(back, b, a, &reverse, first));
    }
    Ok(())
}

fn between(
    context: &Context,
    between: Result<Placed<Item>, Reported>,
    nodes: &Nodes,
) -> Result<(End, End), Reported> {
    let entry = between?;
    match &entry.value.value {
        Value::List(items) => match &items[..] {
            [a, b] => {
                let (a, b) = (nodes.end(context, a), nodes.end(context, b));
                Ok((a?, b?))
            }
            items => {
                let message = format!("{} is between {} nodes", context.what, items.len());
                let error = Diagnostic::new(entry.place, message);
                Err(context.report(error.label("expected two names")))
            }
        },
        other => {
            let message = format!("expected an array, found {}", other.kind());
            let error = Diagnostic::new(entry.place, message);
            Err(context
                .report(error.label("expected two names, such as `[\"gateway\", \"client\"]`")))
        }
    }
}

/// One direction, before its queue is known in bytes.
#[derive(Clone)]
struct Direction {
    /// Without rate and delay, which stand below.
    line: LineKeys,
    rate: Rate,
    one_way_delay: Duration,
    bdp_round_trip: Option<Duration>,
    coding: Option<Coding>,
    arq: Option<ArqSettings>,
    jitter: Option<JitterSettings>,
    changing: Changing,
    medium: Option<MediumId>,
}

fn settings(table: LinkTable, media: &Media, name: &str) -> Result<(Link, Link), Reported> {
    let context = &table.context;
    let total = &table.round_trip_delay;
    let shared = media.of(context, &table.direction, total.as_ref().ok());
    let one_way = table.direction.line.one_way_delay;
    let delays_in_file = table.direction.time.has_delays();
    let delays = match &shared {
        Ok(Some((_, medium))) => Ok(Some((medium.one_way_delay, medium.one_way_delay))),
        // Those of a trace are known when it has been read.
        Ok(None) if delays_in_file && matches!((one_way, total), (Ok(None), Ok(None))) => Ok(None),
        Ok(None) => delays(context, &one_way, total).map(Some),
        Err(reported) => Err(*reported),
    };
    let slots = table
        .slots
        .and_then(|table| table.map(|table| slots::read(table.value)).transpose());
    let (slots, within) = slots?.unzip();
    let slots = slots.map(Arc::new);
    let back = table.reverse?.map(|reverse| reverse.value);
    let is_jitter_given = [
        Some(&table.direction),
        back.as_ref().map(|back| &back.direction),
    ]
    .into_iter()
    .flatten()
    .any(|keys| !matches!(keys.access.jitter, Ok(None)));
    let back_shared = match &back {
        Some(back) => media.of(&back.context, &back.direction, None),
        None => Ok(None),
    };
    let back_in_file = back.as_ref().is_some_and(|b| b.direction.time.has_delays());
    let back_delay = match (&back, &back_shared) {
        (_, Ok(Some((_, medium)))) => Ok(Some(medium.one_way_delay)),
        (Some(back), _) => back
            .direction
            .line
            .one_way_delay
            .map(|d| d.map(|d| d.value)),
        _ => Ok(None),
    };
    if let (Some(back), Ok(Some(total))) = (&back, total)
        && let Ok(Some(delay)) = &back.direction.line.one_way_delay
    {
        let error = Diagnostic::new(delay.key, "the delay is given twice");
        return Err(context.report(
            error
                .label("a delay of its own")
                .related(total.key, "and half of the round trip")
                .help("write `one_way_delay` for each direction"),
        ));
    }
    let mut there = direction(context, table.direction, shared, None);
    let half = match (delays?, &mut there) {
        (Some((forth, half)), Ok(there)) => {
            there.one_way_delay = forth;
            half
        }
        (None, Ok(there)) => there.one_way_delay,
        (_, Err(reported)) => return Err(*reported),
    };
    let mut there = there?;
    let back_context = back.as_ref().map_or(context, |back| &back.context).clone();
    let mut reverse = match back {
        Some(back) => direction(&back_context, back.direction, back_shared, Some(&there))?,
        None => there.again(),
    };
    reverse.one_way_delay = match back_delay? {
        Some(own) => own,
        None if back_in_file => reverse.one_way_delay,
        None => half,
    };
    let round_trip = there.one_way_delay + reverse.one_way_delay;
    if !is_jitter_given {
        there.jitter = within.flatten();
    }
    let there = there.finish(context, name, (round_trip, slots.clone()));
    let reverse = reverse.finish(context, name, (round_trip, slots));
    Ok((there?, reverse?))
}

/// Propagation delay in the forward and, unless it has its own, the reverse direction.
fn delays(
    context: &Context,
    one_way: &OptionalField<Duration>,
    round_trip: &OptionalField<Duration>,
) -> Result<(Duration, Duration), Reported> {
    match ((*one_way)?, (*round_trip)?) {
        (Some(one_way), Some(round_trip)) => {
            let error = Diagnostic::new(round_trip.key, "the delay is given twice");
            Err(context.report(
                error
                    .label("round trip")
                    .related(one_way.key, "one way")
                    .help("keep one of the two"),
            ))
        }
        (None, Some(total)) => {
            let half = total.value / 2;
            Ok((half, total.value - half))
        }
        (one_way, None) => {
            let delay = context.need("one_way_delay", one_way)?;
            Ok((delay.value, delay.value))
        }
    }
}

/// The medium that a direction shares.
type Shared<'a> = Result<Option<(MediumId, &'a MediumSettings)>, Reported>;

/// Reads the keys of one direction. The reverse direction takes missing ones from `there`.
fn direction(
    context: &Context,
    keys: DirectionKeys,
    shared: Shared<'_>,
    there: Option<&Direction>,
) -> Result<Direction, Reported> {
    let DirectionKeys {
        context: _,
        mut line,
        access,
        time,
    } = keys;
    let AccessKeys {
        context: _,
        bdp_round_trip,
        medium: _,
        coding,
        arq,
        jitter,
    } = access;
    let traced = time.trace.as_ref().map_or(true, Option::is_some);
    let changing = timelines::read(context, time, there.map(|t| &t.changing));
    let implied = changing.as_ref().ok().filter(|_| traced);
    let implied = implied.and_then(Changing::implied);
    let rate = match (&shared, line.rate) {
        (Err(reported), _) => Err(*reported),
        (_, Err(reported)) => Err(reported),
        (Ok(Some((_, medium))), _) => Ok(medium.rate),
        (Ok(None), Ok(rate)) => match (rate, implied, there) {
            (None, Some((rate, _)), _) => Ok(rate),
            // A trace that cannot be read has been reported.
            (None, None, None) if traced => Err(context.errors.already()),
            (None, None, Some(there)) => Ok(there.rate),
            (rate, ..) => context.need("rate", rate).map(|rate| rate.value),
        },
    };
    let coding = match (coding, line.channel.as_ref()) {
        (Ok(Some(table)), Ok(channel)) => {
            protection::coding(table, channel.as_ref(), context).map(Some)
        }
        // A separate channel is that behind the decoder.
        (Ok(None), Ok(None)) => Ok(there.map(|t| t.coding.clone())),
        (Ok(None), Ok(Some(_))) => Ok(None),
        (Err(reported), _) | (_, Err(&reported)) => Err(reported),
    };
    let arq = form::settle_or_none::<_, Option<ArqSettings>, _>(&arq, &());
    let jitter = jitter.and_then(|table| table.map(|table| jitter::read(table.value)).transpose());
    let bdp_round_trip = form::plain(&bdp_round_trip)?;
    (line.rate, line.one_way_delay) = (Ok(None), Ok(None));
    if let Some(there) = there {
        line.inherit(&there.line);
    }
    Ok(Direction {
        line,
        rate: rate?,
        one_way_delay: implied
            .and_then(|(_, delay)| delay)
            .unwrap_or(Duration::ZERO),
        bdp_round_trip: bdp_round_trip.or(there.and_then(|t| t.bdp_round_trip)),
        coding: coding?.flatten(),
        arq: arq?.unwrap_or(there.and_then(|t| t.arq)),
        jitter: jitter?.unwrap_or(there.and_then(|t| t.jitter.clone())),
        changing: changing?,
        medium: shared?.map(|(id, _)| id),
    })
}

impl Direction {
    /// The reverse direction of a link that does not specify it.
    fn again(&self) -> Direction {
        Direction {
            medium: None,
            ..self.clone()
        }
    }

    /// A link without name and ends, with a queue in BDP turned into bytes.
    fn finish(
        mut self,
        context: &Context,
        name: &str,
        (own_round_trip, slots): (Duration, Option<Arc<SlotSettings>>),
    ) -> Result<Link, Reported> {
        let mut base = LinkSettings::new(self.rate, self.one_way_delay, DEFAULT_QUEUE);
        if let Some(coding) = &self.coding {
            // An impossible code was reported at its position.
            let bit_error_rate = coding.bit_error_rate().unwrap_or(Ratio::ZERO);
            base.rate = coding.rate(base.rate).max(Rate::from_bps(1));
            base.channel = ChannelSettings::BitErrors { bit_error_rate };
            self.line.channel = Ok(None);
        }
        let timeline = self.changing.finish(context, base.rate, self.one_way_delay);
        let queue = self.line.queue.as_ref().ok().and_then(Option::as_ref);
        let settings = self.line.settle(&LinkContext {
            context,
            base,
            round_trip: self.bdp_round_trip.unwrap_or(own_round_trip),
            name,
            place: queue.map_or(context.at, |queue| queue.place),
        })?;
        let link = Link {
            arq: self.arq.map(Box::new),
            jitter: self.jitter.map(Box::new),
            slots,
            medium: self.medium,
            ..Link::new(name, [NodeId(0); 2], settings, timeline?)
        };
        let Some(conflict) = link.conflict() else {
            return Ok(link);
        };
        let place = context
            .table
            .get(conflict.key())
            .map_or(context.at, |e| e.key_place);
        let message = format!("{} {conflict}", context.what);
        let error = Diagnostic::new(place, message).label("not both");
        Err(context.report(error.help(conflict.advice())))
    }
}
