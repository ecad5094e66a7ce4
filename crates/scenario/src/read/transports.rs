//! Transports: those of the file refine the named ones.

use super::controls::Controls;
use super::quic;
use crate::schema::transport::{DelayedAckTable, TransportTable};
use bentpipe_cc::{Parameter, ParameterValue, Range, SlotKind, slots};
use bentpipe_document::form::{self, plain};
use bentpipe_document::names::quoted;
use bentpipe_document::{
    Context, Diagnostic, Item, Named, OneNamed, OptionalField, Place, Placed, Problem, Reported,
    Value,
};
use bentpipe_tcp::{
    CongestionControlChoice, Protocol, Suggested, Transport, TransportError, TransportSettings,
};
use bentpipe_units::{Duration, nearest};
use std::collections::HashMap;

/// The transports of a file; `Err` for those that could not be read.
pub(super) struct Transports {
    by_name: HashMap<String, Result<TransportSettings, Reported>>,
    /// Every name in the file, good or bad.
    written: Vec<String>,
    controls: Controls,
}

pub(super) fn read(tables: OptionalField<Named<TransportTable>>, controls: Controls) -> Transports {
    let tables = tables.ok().flatten().map(|t| t.value).unwrap_or_default();
    let mut reader = Reader {
        tables: tables.tables.iter().map(|one| (&*one.name, one)).collect(),
        controls: &controls,
        done: HashMap::new(),
    };
    for one in &tables.tables {
        reader.get(&one.name, 0);
    }
    let done = reader.done.into_iter();
    let by_name = done
        .filter_map(|(name, settings)| Some((name.to_string(), settings?)))
        .collect();
    Transports {
        by_name,
        written: tables.names,
        controls,
    }
}

impl Transports {
    /// The transport that a flow names.
    pub(super) fn find(&self, context: &Context, item: &Item) -> Result<Transport, Reported> {
        let Value::Text(name) = &item.value else {
            let message = format!(
                "expected the name of a transport, found {}",
                item.value.kind()
            );
            let error = Diagnostic::new(item.place, message);
            return Err(context.report(error.label("expected a name in quotes")));
        };
        match (
            self.by_name.get(name.as_str()),
            self.controls.transport(name),
        ) {
            (Some(settings), _) => settings.clone().map(|s| s.resolve(name)),
            (None, Some(named)) => Ok(named.transport()),
            (None, None) if self.written.contains(name) || self.controls.is_written(name) => {
                Err(context.errors.already())
            }
            (None, None) => Err(unknown_transport(
                context,
                item,
                name,
                self.by_name.keys().map(String::as_str),
                &self.controls,
            )),
        }
    }
}

fn unknown_transport<'k>(
    context: &Context,
    item: &Item,
    name: &str,
    own: impl Iterator<Item = &'k str>,
    controls: &Controls,
) -> Reported {
    context.errors.report_with(|| {
        let brought = controls.transports().map(|name| -> &'k str { name });
        let names: Vec<&str> = own.chain(brought).collect();
        let error = Diagnostic::new(item.place, format!("unknown transport `{name}`"));
        let error = error.label("no transport has this name");
        match nearest(name, names.iter().copied()) {
            Some(name) => error.help(format!("did you mean `{name}`?")),
            None => error.help(format!(
                "transports are {}, and those of the file",
                quoted(controls.transports())
            )),
        }
    })
}

/// Transports that refine each other, at most so many in a row.
const LONGEST_CHAIN: usize = 64;

struct Reader<'a> {
    tables: HashMap<&'a str, &'a OneNamed<TransportTable>>,
    controls: &'a Controls,
    /// What was read; `None` while it is being read, since a table may refer
    /// to another.
    done: HashMap<&'a str, Option<Result<TransportSettings, Reported>>>,
}

impl<'a> Reader<'a> {
    /// The settings of a transport of the file.
    fn get(&mut self, name: &str, depth: usize) -> Option<Result<TransportSettings, Reported>> {
        let one = *self.tables.get(name)?;
        let key = one.name.as_str();
        let table = match &one.table {
            Ok(table) => table,
            Err(reported) => {
                self.done.insert(key, Some(Err(*reported)));
                return Some(Err(*reported));
            }
        };
        match self.done.get(key) {
            Some(Some(settings)) => return Some(settings.clone()),
            Some(None) => {
                let message = format!("transport `{name}` refines itself");
                let error = Diagnostic::new(one.place, message).label("by way of its `base`");
                return Some(Err(table.context.report(error)));
            }
            None => {}
        }
        if depth > LONGEST_CHAIN {
            let error = Diagnostic::new(one.place, "too many transports refine each other");
            return Some(Err(table.context.report(error)));
        }
        self.done.insert(key, None);
        let settings = self.read(one, table, depth);
        self.done.insert(key, Some(settings.clone()));
        Some(settings)
    }

    fn read(
        &mut self,
        one: &'a OneNamed<TransportTable>,
        table: &'a TransportTable,
        depth: usize,
    ) -> Result<TransportSettings, Reported> {
        let context = &table.context;
        let base = self.base(one, table, depth);
        let own = own_settings(table);
        let base = base?;
        let choice = choice(table, &base, self.controls)?;
        let mut own = own?;
        own.congestion_control = choice;
        let effective = own.clone().over(base.clone()).control();
        self.hides_none(one, table, &effective)?;
        let parameters: Vec<&Parameter> = effective.described_parameters().collect();
        let names: Vec<&str> = parameters.iter().map(|p| p.name).collect();
        context.check_keys(&names, parameter_of);
        for parameter in parameters {
            let name = parameter.name;
            let Some(entry) = context.table.get(name).filter(|_| !is_key(name)) else {
                continue;
            };
            let value =
                parameter_value(&entry.item.value, &parameter.range).map_err(|problem| {
                    let error = problem.at(entry.item.place, name);
                    context.report(error.help(format!("`{name}`: {}", parameter.meaning)))
                })?;
            own.parameters.set(name, value);
        }
        let settings = own.over(base);
        if settings.protocol == Some(Protocol::Quic) {
            quic::check(one, table, &settings)?;
        } else {
            quic::unneeded(table, &settings)?;
        }
        // What parameters must fulfil together, such as one slope for each
        // threshold, only the congestion control itself knows.
        if let Err(error) = settings.check(&one.name) {
            let place = parameter_place(&error, &context.table, one.place);
            let error = Diagnostic::new(place, error.to_string());
            return Err(context.report(error.label("does not fit")));
        }
        Ok(settings)
    }

    /// Refuses a transport with the name of a user's own congestion control that it does not
    /// run: a flow that names it would get the one or the other, and nobody could tell which.
    fn hides_none(
        &self,
        one: &OneNamed<TransportTable>,
        table: &TransportTable,
        effective: &CongestionControlChoice,
    ) -> Result<(), Reported> {
        let name = one.name.as_str();
        let runs_it =
            matches!(effective, CongestionControlChoice::Own(control) if control.name() == name);
        if runs_it || !self.controls.all().iter().any(|c| c.name() == name) {
            return Ok(());
        }
        let message = format!(
            "`{name}` is the name of this transport, which runs another congestion control, and of \
             a congestion control of your own"
        );
        let error = Diagnostic::new(one.place, message)
            .label("expected another name")
            .help(format!(
                "rename one of them: this table and the flows that name it, or the control, such as \
                 `--cc {name}-2=FILE`; `base = \"{name}\"` makes this transport run the control"
            ));
        Err(table.context.report(error))
    }

    /// The base of the transport.
    fn base(
        &mut self,
        one: &OneNamed<TransportTable>,
        table: &TransportTable,
        depth: usize,
    ) -> Result<TransportSettings, Reported> {
        let context = &table.context;
        let Some(base) = table.base.as_ref().map_err(|reported| *reported)? else {
            // `[transport.mtsi]` refines the named transport of that name.
            let slots = ["congestion_control", "start", "avoidance", "reaction"];
            return match self.controls.transport(&one.name) {
                Some(named) => Ok(named.settings()),
                None if slots.iter().any(|slot| context.has(slot)) => {
                    Ok(TransportSettings::default())
                }
                None => {
                    let error = context.lacks("base");
                    let names = quoted(self.controls.transports());
                    Err(context.report(error.help(format!("`base` is one of {names}"))))
                }
            };
        };
        let Value::Text(name) = &base.value.value else {
            let message = format!("expected a name, found {}", base.value.value.kind());
            let error = Diagnostic::new(base.place, message);
            return Err(context.report(error.label("expected a name in quotes")));
        };
        // A file's own `mtsi` may refine the named one.
        if name != &one.name
            && let Some(settings) = self.get(name, depth + 1)
        {
            return settings;
        }
        match self.controls.transport(name) {
            Some(named) => Ok(named.settings()),
            None if self.controls.is_written(name) => Err(context.errors.already()),
            None if name == &one.name => {
                let error = Diagnostic::new(base.place, format!("{} refines itself", context.what));
                Err(context.report(error.label("expected the name of another transport")))
            }
            None => Err(unknown_transport(
                context,
                &base.value,
                name,
                self.tables.keys().copied(),
                self.controls,
            )),
        }
    }
}

/// True for the keys of every transport.
fn is_key(name: &str) -> bool {
    use bentpipe_document::reading::Declared;
    TransportTable::section().key(name).is_some()
}

/// Congestion controls that have a parameter of that name.
fn parameter_of(name: &str) -> Option<String> {
    let has = |d: &&bentpipe_cc::Described| d.parameters.iter().any(|p| p.name == name);
    let mut owners = bentpipe_cc::list().filter(has).map(|d| d.name).peekable();
    owners.peek()?;
    Some(format!("`{name}` is a parameter of {}", quoted(owners)))
}

/// Where the table says the parameter that a message is about.
fn parameter_place(
    error: &TransportError,
    table: &bentpipe_document::Table,
    otherwise: Place,
) -> Place {
    let name = error.key();
    let partner = match name {
        "slopes" => "thresholds",
        _ => name,
    };
    let found = table.get(name).or_else(|| table.get(partner));
    found.map_or(otherwise, |e| e.item.place)
}

/// The congestion control that the table chooses, if it does.
fn choice(
    table: &TransportTable,
    base: &TransportSettings,
    own: &Controls,
) -> Result<Option<CongestionControlChoice>, Reported> {
    let context = &table.context;
    let brought = own.all();
    let brought = brought.iter().map(bentpipe_cc::OwnControl::name);
    let controls = bentpipe_cc::list().map(|d| d.name).chain(brought);
    let named = one_of(
        context,
        &table.congestion_control,
        "congestion control",
        controls,
    );
    let slot = |name: &OptionalField<String>, what: &str, kind: SlotKind| {
        one_of(context, name, what, slots(kind).iter().map(|s| s.name))
    };
    let start = slot(&table.start, "slow start", SlotKind::Start);
    let avoidance = slot(
        &table.avoidance,
        "congestion avoidance",
        SlotKind::Avoidance,
    );
    let reaction = slot(&table.reaction, "reaction", SlotKind::Reaction);
    let (named, start, avoidance, reaction) = (named?, start?, avoidance?, reaction?);
    let named = named.map(|name| match own.find(&name) {
        Some(control) => CongestionControlChoice::Own(control.clone()),
        None => CongestionControlChoice::named(&name),
    });
    if start.is_none() && avoidance.is_none() && reaction.is_none() {
        return Ok(named);
    }
    let below = named.or(base.congestion_control.clone());
    let below = match below {
        Some(CongestionControlChoice::Slots {
            start,
            avoidance,
            reaction,
        }) => Some([start, avoidance, reaction]),
        Some(CongestionControlChoice::Named(name)) => slots_of(&name),
        Some(CongestionControlChoice::Own(_)) => None,
        Some(CongestionControlChoice::Ideal) | None => slots_of("newreno"),
    };
    let given = [start, avoidance, reaction];
    // An algorithm that is not made of slots has none to keep.
    let chosen = match (given, below) {
        ([Some(s), Some(a), Some(r)], _) => [s, a, r],
        ([s, a, r], Some([s_below, a_below, r_below])) => [
            s.unwrap_or(s_below),
            a.unwrap_or(a_below),
            r.unwrap_or(r_below),
        ],
        (_, None) => {
            let place = ["start", "avoidance", "reaction"]
                .into_iter()
                .find_map(|key| context.table.get(key))
                .map_or(context.at, |entry| entry.key_place);
            let message = "the congestion control that this changes is not made of three slots";
            let help = "give `start`, `avoidance` and `reaction`, or another `base`";
            let error = Diagnostic::new(place, message).label("replaces one slot");
            return Err(context.report(error.help(help)));
        }
    };
    let [start, avoidance, reaction] = chosen;
    Ok(Some(CongestionControlChoice::Slots {
        start,
        avoidance,
        reaction,
    }))
}

/// The slots that a named congestion control is made of, if it is.
fn slots_of(name: &str) -> Option<[String; 3]> {
    let slots = bentpipe_cc::find(name)?.slots?;
    Some([slots.start, slots.avoidance, slots.reaction].map(str::to_string))
}

/// One of these names, if the key is there.
fn one_of<'n>(
    context: &Context,
    name: &OptionalField<String>,
    what: &str,
    known: impl Iterator<Item = &'n str>,
) -> Result<Option<String>, Reported> {
    match name.as_ref().map_err(|reported| *reported)? {
        None => Ok(None),
        Some(name) => {
            let known: Vec<&str> = known.collect();
            match known.contains(&&*name.value) {
                true => Ok(Some(name.value.clone())),
                false => Err(context.unknown(what, name, known.into_iter())),
            }
        }
    }
}

/// Everything but the congestion control.
fn own_settings(table: &TransportTable) -> Result<TransportSettings, Reported> {
    let delayed_ack = match table.delayed_ack.as_ref().map_err(|reported| *reported)? {
        None => (None, None, None),
        Some(Placed {
            value:
                DelayedAckTable {
                    count,
                    timer,
                    quick_acks,
                    ..
                },
            ..
        }) => (plain(count)?, plain(timer)?, plain(quick_acks)?),
    };
    let mss = plain(&table.mss)?;
    Ok(TransportSettings {
        congestion_control: None,
        on_linux: None,
        parameters: bentpipe_cc::Parameters::new(),
        profile: plain(&table.profile)?,
        recovery: plain(&table.recovery)?,
        mss: mss.map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX)),
        initial_window: plain(&table.initial_window)?,
        initial_ssthresh: plain(&table.initial_ssthresh)?,
        send_buffer: plain(&table.send_buffer)?,
        receive_buffer: plain(&table.receive_buffer)?,
        ack_count: delayed_ack.0,
        ack_timer: delayed_ack.1,
        quick_acks: delayed_ack.2,
        timestamps: plain(&table.timestamps)?,
        limited_transmit: plain(&table.limited_transmit)?,
        recovery_fix: plain(&table.recovery_fix)?,
        undo: plain(&table.undo)?,
        pacing: form::settle_or_none(&table.pacing, &())?,
        ecn: plain(&table.ecn)?,
        minimum_rto: plain(&table.minimum_rto)?,
        suggested: Suggested::default(),
        polling: form::settle_or_none(&table.polling, &())?,
        buffers: plain(&table.buffers)?,
        offload: plain(&table.offload)?,
        protocol: plain(&table.protocol)?,
        tls: plain(&table.tls)?,
        resumption: plain(&table.resumption)?,
        opener: plain(&table.opener)?,
        ciphers: plain(&table.ciphers)?,
        initial_receive_window: plain(&table.initial_receive_window)?,
    })
}

/// A parameter of a congestion control within its range.
fn parameter_value(value: &Value, range: &Range) -> Result<ParameterValue, Problem> {
    let number = |value: &Value| match value {
        Value::Integer(Some(n)) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    let wrong = || match value {
        Value::Integer(_) | Value::Float(_) => {
            Problem::new(format!("{} is out of range", value.to_toml()), range)
        }
        other => Problem::new(
            format!("unexpected {}", other.kind().trim_start_matches("a ")),
            range,
        ),
    };
    match range {
        Range::Number { min, max } => number(value)
            .filter(|x| (*min..=*max).contains(x))
            .map(ParameterValue::Number)
            .ok_or_else(wrong),
        Range::Numbers { min, max } => {
            let Value::List(items) = value else {
                return Err(wrong());
            };
            let in_range = |x: &f64| (*min..=*max).contains(x);
            let numbers: Option<Vec<f64>> = items
                .iter()
                .map(|item| number(&item.value).filter(in_range))
                .collect();
            let numbers = numbers.filter(|n| !n.is_empty());
            let found = || Problem::new(format!("{} is out of range", value.to_toml()), range);
            numbers.map(ParameterValue::Numbers).ok_or_else(found)
        }
        Range::OneOf(words) => match value {
            Value::Text(word) if words.contains(&word.as_str()) => Ok(word.as_str().into()),
            Value::Text(word) => {
                let mut problem = Problem::new(format!("unknown word `{word}`"), range);
                problem.nearest = nearest(word, words.iter().copied()).map(str::to_string);
                Err(problem)
            }
            _ => Err(wrong()),
        },
        Range::Flag => match value {
            Value::Boolean(flag) => Ok(ParameterValue::Flag(*flag)),
            _ => Err(wrong()),
        },
        Range::Duration { min, max } => match value {
            Value::Text(text) => match text.parse::<Duration>() {
                Ok(time) if (*min..=*max).contains(&time) => Ok(ParameterValue::Duration(time)),
                Ok(time) => Err(Problem::new(format!("`{time}` is out of range"), range)),
                Err(error) => Err(Problem::new(error.found, range)),
            },
            Value::Integer(_) | Value::Float(_) => Err(Problem::new(
                format!("`{}` has no unit", value.to_toml()),
                range,
            )),
            _ => Err(wrong()),
        },
    }
}
