//! What changes on a link with time.

use super::Fields;
use super::value::Problem;
use crate::diagnostic::{Diagnostic, Reported};
use crate::schema;
use crate::source::Place;
use crate::tree::{Entry, Table, Value};
use bentpipe_link::{
    Fade, InFlightPolicy, Loss, Mode, Opportunities, Piece, Timeline, TimelineError, WhenDown,
    trace,
};
use bentpipe_units::{Duration, Rate, Ratio, Time};
use std::sync::Arc;

/// What a direction says about time.
#[derive(Clone, Debug, Default)]
pub(super) struct Changing {
    how: Option<(How, Place)>,
    repeat: Option<Duration>,
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
}

/// Reads what a direction says; what it leaves out is as `there`.
pub(super) fn read(fields: &Fields<'_>, there: Option<&Changing>) -> Result<Changing, Reported> {
    let given: Vec<&Entry> = ["timeline", "fade", "trace"]
        .iter()
        .filter_map(|key| fields.entry(key))
        .collect();
    if let [first, second, ..] = given[..] {
        let message = format!("{} changes in two ways", fields.what);
        let error = Diagnostic::new(second.key_place, message).label("the second");
        let error = error.related(first.key_place, "the first");
        return Err(fields.errors.report(error.help("keep one of the two")));
    }
    let how = match given.first() {
        None => Ok(None),
        Some(entry) if entry.key == "fade" => fade(fields, entry).map(Some),
        Some(entry) if entry.key == "trace" => read_trace(fields, entry).map(Some),
        Some(entry) => steps(fields, entry).map(Some),
    };
    let repeat = fields.optional("repeat");
    let when_down = fields.optional_word("when_down");
    let in_flight = fields.optional_word("in_flight");
    let own = Changing {
        how: how?.map(|how| (how, given[0].key_place)),
        repeat: repeat?,
        when_down: when_down?.map(|word| match word {
            "waits" => WhenDown::Waits,
            _ => WhenDown::Lost,
        }),
        in_flight: in_flight?.map(|word| match word {
            "lost" => InFlightPolicy::Lost,
            _ => InFlightPolicy::Delivered,
        }),
    };
    let changing = match there {
        None => own,
        Some(there) => Changing {
            // Another timeline has another period.
            repeat: own.repeat.or(there.repeat.filter(|_| own.how.is_none())),
            how: own.how.or(there.how.clone()),
            when_down: own.when_down.or(there.when_down),
            in_flight: own.in_flight.or(there.in_flight),
        },
    };
    if let (Some((How::Trace(_), _)), Some(repeat)) = (&changing.how, fields.entry("repeat")) {
        let error = Diagnostic::new(repeat.key_place, "`repeat` with a trace");
        let error = error.label("a trace has a length of its own");
        return Err(fields
            .errors
            .report(error.help("remove this; `wraps` of the trace says whether it repeats")));
    }
    for key in ["repeat", "when_down", "in_flight"] {
        if let (None, Some(entry)) = (&changing.how, fields.entry(key)) {
            let message = format!("`{key}` without anything that changes");
            let error = Diagnostic::new(entry.key_place, message);
            let error = error.label("has no effect");
            return Err(fields
                .errors
                .report(error.help("add a `timeline`, or remove this")));
        }
    }
    Ok(changing)
}

/// The tables of an array, each read against `section`.
pub(super) fn tables<'a>(
    fields: &Fields<'a>,
    entry: &'a Entry,
    section: &'static schema::Section,
    what: &str,
) -> Result<Vec<Fields<'a>>, Reported> {
    let wrong = |place: Place, found: String| {
        let problem = Problem::new(found, schema::Kind::Tables(section.path));
        Err(fields.errors.report(problem.at(place, &entry.key)))
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("expected an array, found {}", entry.item.value.kind());
        return wrong(entry.item.place, found);
    };
    if items.is_empty() {
        return wrong(entry.item.place, "an empty array".to_owned());
    }
    let mut found = Vec::with_capacity(items.len());
    for item in items.iter() {
        let table: &'a Table = match &item.value {
            Value::Table(table) => table,
            other => {
                let message = format!("expected a table, found {}", other.kind());
                return wrong(item.place, message);
            }
        };
        let what = format!("{what} of {}", fields.what);
        let fields = Fields::new(fields.errors, section, table, item.place, what);
        fields.check_keys(&[]);
        found.push(fields);
    }
    Ok(found)
}

fn steps<'a>(fields: &Fields<'a>, entry: &'a Entry) -> Result<How, Reported> {
    let mut steps: Vec<Step> = Vec::new();
    for step in tables(fields, entry, &schema::TIMELINE, "a piece")? {
        let (at, rate) = (step.required::<Duration>("at"), step.optional("rate"));
        let delay = step.optional("one_way_delay");
        let (linear, up) = (step.optional("linear"), step.optional("up"));
        let route = step.optional("route");
        let loss = loss(&step);
        let at = at?;
        if let Some(before) = steps.last().filter(|before| before.at >= at) {
            let message = format!("`{at}` does not come after `{}`", before.at);
            let place = step.entry("at").map_or(step.at, |e| e.item.place);
            let error = Diagnostic::new(place, message);
            return Err(step.errors.report(error.label("expected a later time")));
        }
        steps.push(Step {
            at,
            rate: rate?,
            one_way_delay: delay?,
            linear: linear?.unwrap_or(false),
            loss: loss?,
            up: up?,
            route: route?,
        });
    }
    Ok(How::Steps(steps))
}

fn loss(step: &Fields<'_>) -> Result<Option<Loss>, Reported> {
    let packets = step.optional::<Ratio>("packet_error_rate");
    let bits = step.optional::<Ratio>("bit_error_rate");
    match (packets?, bits?) {
        (None, None) => Ok(None),
        (Some(packets), None) => Ok(Some(Loss::Packets(packets))),
        (None, Some(bits)) => Ok(Some(Loss::Bits(bits))),
        (Some(_), Some(_)) => {
            let place = step
                .entry("bit_error_rate")
                .map_or(step.at, |e| e.key_place);
            let error = Diagnostic::new(place, "the loss is given twice");
            let error = error.label("per bit, and per packet as well");
            Err(step.errors.report(error.help("keep one of the two")))
        }
    }
}

fn fade<'a>(fields: &Fields<'a>, entry: &'a Entry) -> Result<How, Reported> {
    let table = fields.table_of(entry)?;
    let what = format!("the fade of {}", fields.what);
    let fade = Fields::new(fields.errors, &schema::FADE, table, entry.key_place, what);
    fade.check_keys(&[]);
    let depth = fade.required("depth_db");
    let (begins, slope) = (fade.required::<Duration>("begins"), fade.required("slope"));
    let stays = fade.optional("stays");
    let Some(coding) = fade.entry("coding") else {
        return Err(fade.missing("coding"));
    };
    let mut modes: Vec<Mode> = Vec::new();
    for mode in tables(&fade, coding, &schema::CODING, "a coding")? {
        let up_to_db = mode.required::<f64>("up_to_db");
        let (rate, code_rate) = (mode.optional("rate"), mode.optional::<Ratio>("code_rate"));
        let loss = loss(&mode);
        let up_to_db = up_to_db?;
        if modes
            .last()
            .is_some_and(|before| before.up_to_db >= up_to_db)
        {
            let place = mode.entry("up_to_db").map_or(mode.at, |e| e.item.place);
            let error = Diagnostic::new(place, "codings are not in order");
            let error = error.label("expected more attenuation than the coding before stands");
            return Err(mode.errors.report(error));
        }
        let code_rate = code_rate?.unwrap_or(Ratio::ONE);
        if code_rate == Ratio::ZERO {
            let place = mode.entry("code_rate").map_or(mode.at, |e| e.item.place);
            let error = Diagnostic::new(place, "a code rate of zero carries nothing");
            return Err(mode
                .errors
                .report(error.label("expected a ratio above zero")));
        }
        modes.push(Mode {
            up_to_db,
            rate: rate?,
            code_rate,
            loss: loss?.unwrap_or(Loss::Channel),
        });
    }
    Ok(How::Fade(Fade {
        depth_db: depth?,
        begins: begins?,
        slope: slope?,
        stays: stays?.unwrap_or(Duration::ZERO),
        modes,
    }))
}

fn read_trace<'a>(fields: &Fields<'a>, entry: &'a Entry) -> Result<How, Reported> {
    let table = fields.table_of(entry)?;
    let what = format!("the trace of {}", fields.what);
    let at = entry.key_place;
    let given = Fields::new(fields.errors, &schema::TRACE, table, at, what.clone());
    given.check_keys(&[]);
    let file = given.required::<String>("file");
    let format = given.optional_word("format");
    let wraps = given.optional("wraps");
    let (file, wraps) = (file?, wraps?.unwrap_or(true));
    let Some(format) = format? else {
        return Err(given.missing("format"));
    };
    let place = given.entry("file").map_or(given.at, |e| e.item.place);
    let fail = |why: String| {
        let error = Diagnostic::new(place, format!("cannot read {what}"));
        Err(given.errors.report(error.label(why)))
    };
    let Some(text) = fields.errors.origin().files.get(&file) else {
        return fail(format!("there is no text of the file `{file}`"));
    };
    let read = match format {
        "mahimahi" => trace::mahimahi::read(text, wraps).map(Trace::Opportunities),
        _ => trace::theaterq::read(text, wraps).map(Trace::Timeline),
    };
    match read {
        Ok(trace) => Ok(How::Trace(Arc::new(trace))),
        Err(why) => fail(format!("{file}:{}: {}", why.line, why.what)),
    }
}

impl Changing {
    /// The timeline of a link that is otherwise of this rate and delay.
    pub(super) fn finish(
        &self,
        fields: &Fields<'_>,
        rate: Rate,
        one_way_delay: Duration,
    ) -> Result<Option<Arc<Timeline>>, Reported> {
        let Some((how, place)) = &self.how else {
            return Ok(None);
        };
        let base = Piece {
            from: Time::ZERO,
            rate,
            one_way_delay,
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
        };
        let built = match how {
            How::Steps(steps) => Timeline::new(pieces(base, steps)),
            How::Fade(fade) => fade.timeline(base),
            How::Trace(trace) => match &**trace {
                Trace::Timeline(timeline) => Ok(timeline.clone()),
                Trace::Opportunities(given) => {
                    Timeline::new(vec![base]).map(|line| line.with_opportunities(given.clone()))
                }
            },
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
                let place = match (why, fields.entry("repeat")) {
                    (TimelineError::ShortPeriod, Some(entry)) => entry.item.place,
                    _ => *place,
                };
                let error = Diagnostic::new(place, format!("{}: {why}", fields.what));
                Err(fields.errors.report(error))
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
        };
        if step.at.is_zero() {
            pieces.clear();
        }
        pieces.push(now);
    }
    pieces
}
