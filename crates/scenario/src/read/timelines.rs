//! Properties of a link that change with time.

use crate::schema::timeline::{
    FadeTable, ModeTable, PieceTable, TimeKeys, TraceFormat, TraceTable,
};
use bentpipe_document::{Context, Diagnostic, OptionalField, Place, Placed, Reported};
use bentpipe_link::trace::TraceError;
use bentpipe_link::trace::leoreplayer::Delays;
use bentpipe_link::{
    Fade, InFlightPolicy, Loss, ModCod, Mode, Opportunities, Piece, Timeline, TimelineError,
    WhenDown, trace,
};
use bentpipe_units::{Duration, Rate, Ratio, Time};
use std::sync::Arc;

/// What a clear sky leaves above what a ModCod needs, dB, unless it is said.
const MARGIN_DB: f64 = 1.0;

/// Time-dependent keys of a direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Changing {
    how: Option<(How, Place)>,
    repeat: Option<Duration>,
    /// The position of its own `repeat`.
    repeat_place: Option<Place>,
    when_down: Option<WhenDown>,
    in_flight: Option<InFlightPolicy>,
}

#[derive(Clone, Debug)]
enum How {
    Steps(Vec<Step>),
    Fade(Fade),
    Trace(Arc<Trace>),
}

/// What a file says.
#[derive(Debug)]
enum Trace {
    Opportunities(Opportunities),
    Timeline(Timeline),
    LeoReplayer {
        opportunities: Opportunities,
        delays: Delays,
        wraps: bool,
    },
}

/// An entry of `timeline`: what it does not say stays as it was.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: Duration,
    rate: Option<Rate>,
    one_way_delay: Option<Duration>,
    linear: bool,
    loss: Option<Loss>,
    up: Option<bool>,
    route: Option<u32>,
    jitter: Option<Duration>,
}

/// Reads what a direction says; what it leaves out is as `there`.
pub(super) fn read(
    context: &Context,
    keys: TimeKeys,
    there: Option<&Changing>,
) -> Result<Changing, Reported> {
    let (timeline, fade, trace) = (keys.timeline, keys.fade, keys.trace);
    let key = |place: Option<Place>| place.into_iter();
    let given: Vec<Place> = key(place_of(&timeline))
        .chain(key(place_of(&fade)))
        .chain(key(place_of(&trace)))
        .collect();
    if let [first, second, ..] = given[..] {
        let message = format!("{} changes in two ways", context.what);
        let error = Diagnostic::new(second, message).label("the second");
        let error = error.related(first, "the first");
        return Err(context.report(error.help("keep one of the two")));
    }
    let how = match (timeline, fade, trace) {
        (Err(why), ..) | (_, Err(why), _) | (.., Err(why)) => Err(why),
        (Ok(Some(table)), ..) => steps(table.value).map(|how| Some((how, table.key))),
        (_, Ok(Some(table)), _) => fade_of(table.value).map(|how| Some((how, table.key))),
        (.., Ok(Some(table))) => read_trace(table.value).map(|how| Some((how, table.key))),
        _ => Ok(None),
    };
    let (repeat, when_down, in_flight) = (keys.repeat?, keys.when_down?, keys.in_flight?);
    let own = Changing {
        how: how?,
        repeat: repeat.map(|r| r.value),
        repeat_place: repeat.map(|r| r.place),
        when_down: when_down.map(|w| w.value),
        in_flight: in_flight.map(|f| f.value),
    };
    let changing = match there {
        None => own,
        Some(there) => Changing {
            // Another timeline has another period.
            repeat: own.repeat.or(there.repeat.filter(|_| own.how.is_none())),
            how: own.how.or(there.how.clone()),
            when_down: own.when_down.or(there.when_down),
            in_flight: own.in_flight.or(there.in_flight),
            ..own
        },
    };
    if let (Some((How::Trace(_), _)), Some(repeat)) = (&changing.how, repeat) {
        let error = Diagnostic::new(repeat.key, "`repeat` with a trace");
        let error = error.label("a trace has a length of its own");
        return Err(
            context.report(error.help("remove this; `wraps` of the trace says whether it repeats"))
        );
    }
    let idle = [
        ("repeat", repeat.map(|r| r.key)),
        ("when_down", when_down.map(|w| w.key)),
        ("in_flight", in_flight.map(|f| f.key)),
    ];
    for (key, place) in idle {
        if let (None, Some(place)) = (&changing.how, place) {
            let message = format!("`{key}` without anything that changes");
            let error = Diagnostic::new(place, message).label("has no effect");
            return Err(context.report(error.help("add a `timeline`, or remove this")));
        }
    }
    Ok(changing)
}

/// The position of the key of a table, if it exists and is valid.
fn place_of<T>(table: &OptionalField<T>) -> Option<Place> {
    table.as_ref().ok()?.as_ref().map(|table| table.key)
}

fn steps(pieces: Vec<PieceTable>) -> Result<How, Reported> {
    let mut steps: Vec<Step> = Vec::new();
    for piece in pieces {
        let loss = loss(
            &piece.context,
            piece.packet_error_rate,
            piece.bit_error_rate,
        );
        let at = piece.at?;
        if let Some(before) = steps.last().filter(|before| before.at >= at.value) {
            let message = format!("`{}` does not come after `{}`", at.value, before.at);
            let error = Diagnostic::new(at.place, message);
            return Err(piece.context.report(error.label("expected a later time")));
        }
        steps.push(Step {
            at: at.value,
            rate: piece.rate?.map(|x| x.value),
            one_way_delay: piece.one_way_delay?.map(|x| x.value),
            linear: piece.linear?.value,
            loss: loss?,
            up: piece.up?.map(|x| x.value),
            route: piece.route?.map(|x| x.value),
            jitter: piece.jitter?.map(|x| x.value),
        });
    }
    Ok(How::Steps(steps))
}

fn loss(
    context: &Context,
    packets: OptionalField<Ratio>,
    bits: OptionalField<Ratio>,
) -> Result<Option<Loss>, Reported> {
    match (packets?, bits?) {
        (None, None) => Ok(None),
        (Some(packets), None) => Ok(Some(Loss::Packets(packets.value))),
        (None, Some(bits)) => Ok(Some(Loss::Bits(bits.value))),
        (Some(_), Some(bits)) => {
            let error = Diagnostic::new(bits.key, "the loss is given twice");
            let error = error.label("per bit, and per packet as well");
            Err(context.report(error.help("keep one of the two")))
        }
    }
}

fn fade_of(fade: FadeTable) -> Result<How, Reported> {
    let context = &fade.context;
    let (coding, modcod, margin) = (fade.coding?, fade.modcod?, fade.margin_db?);
    let modes = match (coding, modcod) {
        (coding, None) => {
            if let Some(margin) = margin {
                let error = Diagnostic::new(margin.key, "a margin without a ModCod");
                let error = error.label("belongs to `modcod`, and each coding says what it stands");
                return Err(context.report(error));
            }
            modes_of(context.need("coding", coding)?.value)?
        }
        (None, Some(modcod)) => {
            let found = modcod.value.parse::<ModCod>().map_err(|why| {
                let error = Diagnostic::new(modcod.place, "no ModCod of DVB-S2");
                context.report(error.label(why.to_string()))
            })?;
            found.adaptive(margin.map_or(MARGIN_DB, |margin| margin.value))
        }
        (Some(_), Some(modcod)) => {
            let error = Diagnostic::new(modcod.key, "the codings are given twice");
            let error = error.label("by a ModCod, and in `coding` as well");
            return Err(context.report(error.help("keep one of the two")));
        }
    };
    Ok(How::Fade(Fade {
        depth_db: fade.depth_db?.value,
        begins: fade.begins?.value,
        slope: fade.slope?.value,
        stays: fade.stays?.value,
        modes,
    }))
}

/// The codings of a fade, in ascending order of what they stand.
fn modes_of(coding: Vec<ModeTable>) -> Result<Vec<Mode>, Reported> {
    let mut modes: Vec<Mode> = Vec::new();
    for mode in coding {
        let loss = loss(&mode.context, mode.packet_error_rate, mode.bit_error_rate);
        let up_to_db = mode.up_to_db?;
        if modes
            .last()
            .is_some_and(|before| before.up_to_db >= up_to_db.value)
        {
            let error = Diagnostic::new(up_to_db.place, "codings are not in order");
            let error = error.label("expected more attenuation than the coding before stands");
            return Err(mode.context.report(error));
        }
        let code_rate = mode.code_rate?;
        if code_rate.value == Ratio::ZERO {
            let error = Diagnostic::new(code_rate.place, "a code rate of zero carries nothing");
            return Err(mode
                .context
                .report(error.label("expected a ratio above zero")));
        }
        modes.push(Mode {
            up_to_db: up_to_db.value,
            rate: mode.rate?.map(|x| x.value),
            code_rate: code_rate.value,
            loss: loss?.unwrap_or(Loss::Channel),
        });
    }
    Ok(modes)
}

fn read_trace(table: TraceTable) -> Result<How, Reported> {
    let context = &table.context;
    let (format, wraps) = (table.format?.value, table.wraps?.value);
    let (file, rate, delay, interval) = (table.file?, table.rate?, table.delay?, table.interval?);
    let leoreplayer = match format {
        TraceFormat::LeoReplayer => file.as_ref().map(|file| ("file", file.key)),
        TraceFormat::Mahimahi | TraceFormat::Theaterq => {
            let own = [("rate", rate.as_ref()), ("delay", delay.as_ref())];
            let own = own
                .iter()
                .find_map(|(key, file)| Some((*key, (*file)?.key)));
            own.or(interval.map(|interval| ("interval", interval.key)))
        }
    };
    if let Some((key, place)) = leoreplayer {
        let error = Diagnostic::new(place, format!("`{key}` belongs to another format"));
        return Err(context.report(error.label("not used")));
    }
    let trace = match format {
        TraceFormat::Mahimahi => {
            let file = context.need("file", file)?;
            Trace::Opportunities(read_file(context, &file, |t| {
                trace::mahimahi::read(t, wraps)
            })?)
        }
        TraceFormat::Theaterq => {
            let file = context.need("file", file)?;
            Trace::Timeline(read_file(context, &file, |t| {
                trace::theaterq::read(t, wraps)
            })?)
        }
        TraceFormat::LeoReplayer => {
            let (rate, delay) = (context.need("rate", rate), context.need("delay", delay));
            let interval = context.need("interval", interval)?.value;
            Trace::LeoReplayer {
                opportunities: read_file(context, &rate?, |t| trace::mahimahi::read(t, wraps))?,
                delays: read_file(context, &delay?, |t| {
                    trace::leoreplayer::read_delays(t, interval)
                })?,
                wraps,
            }
        }
    };
    Ok(How::Trace(Arc::new(trace)))
}

/// Result of `read` for a file that the scenario names.
pub(super) fn read_file<T>(
    context: &Context,
    file: &Placed<String>,
    read: impl FnOnce(&str) -> Result<T, TraceError>,
) -> Result<T, Reported> {
    let fail = |why: String| {
        let message = format!("cannot read {}", context.what);
        context.report(Diagnostic::new(file.place, message).label(why))
    };
    let name = &file.value;
    let Some(text) = context.errors.origin().files.get(name) else {
        return Err(fail(format!("there is no text of the file `{name}`")));
    };
    read(text).map_err(|why| fail(format!("{name}:{}: {}", why.line, why.what)))
}

impl Trace {
    /// The timeline of a link that is otherwise as `base`.
    fn timeline(&self, base: Piece) -> Result<Timeline, TimelineError> {
        match self {
            Trace::Timeline(timeline) => Ok(timeline.clone()),
            Trace::Opportunities(given) => {
                Timeline::new(vec![base]).map(|line| line.with_opportunities(given.clone()))
            }
            Trace::LeoReplayer {
                opportunities,
                delays,
                wraps,
            } => {
                let line = Timeline::new(delays.pieces(base));
                let line = line.map(|line| line.with_opportunities(opportunities.clone()));
                line.and_then(|line| match wraps {
                    true => line.repeating(delays.period()),
                    false => Ok(line),
                })
            }
        }
    }
}

/// State of a link before its first change.
fn base(rate: Rate, one_way_delay: Duration) -> Piece {
    Piece {
        from: Time::ZERO,
        rate,
        one_way_delay,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }
}

impl Changing {
    /// Mean rate and, unless it is in none of its files, mean delay of a trace.
    pub(super) fn implied(&self) -> Option<(Rate, Option<Duration>)> {
        let Some((How::Trace(trace), _)) = &self.how else {
            return None;
        };
        let line = trace
            .timeline(base(Rate::from_bps(1), Duration::ZERO))
            .ok()?;
        // A trace of a single line that does not repeat has no length.
        let means = line.means(Time::ZERO, line.length().max(Duration::from_millis(1)));
        let delay = (!matches!(**trace, Trace::Opportunities(_))).then_some(means.one_way_delay[1]);
        Some((means.rate.max(Rate::from_bps(1)), delay))
    }

    /// The timeline of a link that is otherwise of this rate and delay.
    pub(super) fn finish(
        &self,
        context: &Context,
        rate: Rate,
        one_way_delay: Duration,
    ) -> Result<Option<Arc<Timeline>>, Reported> {
        let Some((how, place)) = &self.how else {
            return Ok(None);
        };
        let base = base(rate, one_way_delay);
        let built = match how {
            How::Steps(steps) => Timeline::new(pieces(base, steps)),
            How::Fade(fade) => fade.timeline(base),
            How::Trace(trace) => trace.timeline(base),
        };
        let built = built.and_then(|line| match self.repeat {
            Some(period) if !matches!(how, How::Trace(_)) => line.repeating(period),
            _ => Ok(line),
        });
        match built {
            Ok(line) => {
                let line = line.when_down(self.when_down.unwrap_or_default());
                Ok(Some(Arc::new(
                    line.in_flight(self.in_flight.unwrap_or_default()),
                )))
            }
            Err(why) => {
                let place = match (why, self.repeat_place) {
                    (TimelineError::ShortPeriod, Some(place)) => place,
                    _ => *place,
                };
                let error = Diagnostic::new(place, format!("{}: {why}", context.what));
                Err(context.report(error))
            }
        }
    }
}

/// The pieces of a link that begins as `base` and changes by these steps.
fn pieces(base: Piece, steps: &[Step]) -> Vec<Piece> {
    let mut pieces = vec![base];
    let mut now = base;
    for step in steps {
        now = Piece {
            from: Time::ZERO + step.at,
            rate: step.rate.unwrap_or(now.rate),
            one_way_delay: step.one_way_delay.unwrap_or(now.one_way_delay),
            sloped: step.linear,
            loss: step.loss.unwrap_or(now.loss),
            up: step.up.unwrap_or(now.up),
            route: step.route.unwrap_or(now.route),
            jitter: step.jitter.or(now.jitter),
        };
        if step.at.is_zero() {
            pieces.clear();
        }
        pieces.push(now);
    }
    pieces
}
