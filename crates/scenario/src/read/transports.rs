//! Transports: those of the file over those that have a name.

use super::value::Problem;
use super::{Fields, quoted};
use crate::diagnostic::{Diagnostic, Reported};
use crate::schema;
use crate::tree::{Entry, Item, Table, Value};
use bentpipe_cc::{Parameter, ParameterValue, Range, SlotKind, nearest, slots};
use bentpipe_tcp::{
    CongestionControlChoice, HostProfile, Pacing, Recovery, Transport, TransportSettings,
    find_transport, transports,
};
use bentpipe_units::Duration;
use std::collections::HashMap;

/// The transports of a file; `Err` for those that could not be read.
pub(super) struct Transports<'a> {
    top: &'a Fields<'a>,
    by_name: HashMap<&'a str, Result<TransportSettings, Reported>>,
}

pub(super) fn read<'a>(top: &'a Fields<'a>) -> Transports<'a> {
    let tables = top.tables("transport").unwrap_or_default();
    let mut reader = Reader {
        top,
        tables: tables
            .iter()
            .map(|(entry, table)| (entry.key.as_str(), (*entry, *table)))
            .collect(),
        done: HashMap::new(),
    };
    for (entry, _) in &tables {
        reader.get(&entry.key, 0);
    }
    let done = reader.done.into_iter();
    Transports {
        top,
        by_name: done
            .filter_map(|(name, settings)| Some((name, settings?)))
            .collect(),
    }
}

impl Transports<'_> {
    /// The transport that a flow names.
    pub(super) fn find(&self, fields: &Fields<'_>, item: &Item) -> Result<Transport, Reported> {
        let Value::Text(name) = &item.value else {
            let message = format!(
                "expected the name of a transport, found {}",
                item.value.kind()
            );
            let error = Diagnostic::new(item.place, message);
            return Err(fields
                .errors
                .report(error.label("expected a name in quotes")));
        };
        match (self.by_name.get(name.as_str()), find_transport(name)) {
            (Some(settings), _) => settings.clone().map(|s| s.resolve(name)),
            (None, Some(named)) => Ok(named.transport()),
            (None, None) if self.top.names("transport", name) => Err(fields.errors.already()),
            (None, None) => Err(unknown_transport(fields, item, name, self.by_name.keys())),
        }
    }
}

fn unknown_transport<'k>(
    fields: &Fields<'_>,
    item: &Item,
    name: &str,
    own: impl Iterator<Item = &'k &'k str>,
) -> Reported {
    let names: Vec<&str> = own.copied().chain(transports().map(|t| t.name)).collect();
    let error = Diagnostic::new(item.place, format!("unknown transport `{name}`"));
    let error = error.label("no transport has this name");
    fields
        .errors
        .report(match nearest(name, names.iter().copied()) {
            Some(name) => error.help(format!("did you mean `{name}`?")),
            None => error.help(format!(
                "transports are {}, and those of the file",
                quoted(transports().map(|t| t.name))
            )),
        })
}

/// Transports that refine each other, at most so many in a row.
const LONGEST_CHAIN: usize = 64;

struct Reader<'r, 'a> {
    top: &'r Fields<'a>,
    tables: HashMap<&'a str, (&'a Entry, &'a Table)>,
    /// What was read; `None` while it is being read, since a table may refer
    /// to another.
    done: HashMap<&'a str, Option<Result<TransportSettings, Reported>>>,
}

impl<'a> Reader<'_, 'a> {
    /// The settings of a transport of the file.
    fn get(&mut self, name: &str, depth: usize) -> Option<Result<TransportSettings, Reported>> {
        let (entry, table) = *self.tables.get(name)?;
        let key = entry.key.as_str();
        match self.done.get(key) {
            Some(Some(settings)) => return Some(settings.clone()),
            Some(None) => {
                let message = format!("transport `{name}` refines itself");
                let error = Diagnostic::new(entry.key_place, message).label("by way of its `base`");
                return Some(Err(self.top.errors.report(error)));
            }
            None => {}
        }
        if depth > LONGEST_CHAIN {
            let error = Diagnostic::new(entry.key_place, "too many transports refine each other");
            return Some(Err(self.top.errors.report(error)));
        }
        self.done.insert(key, None);
        let settings = self.read(entry, table, depth);
        self.done.insert(key, Some(settings.clone()));
        Some(settings)
    }

    fn read(
        &mut self,
        entry: &'a Entry,
        table: &'a Table,
        depth: usize,
    ) -> Result<TransportSettings, Reported> {
        let what = format!("transport `{}`", entry.key);
        let fields = Fields::new(
            self.top.errors,
            &schema::TRANSPORT,
            table,
            entry.key_place,
            what,
        );
        let base = self.base(&fields, entry, depth);
        let own = own_settings(&fields);
        let base = base?;
        let choice = choice(&fields, &base)?;
        let effective = choice
            .clone()
            .or(base.congestion_control.clone())
            .unwrap_or_else(|| CongestionControlChoice::Named("newreno".to_string()));
        let parameters: Vec<&Parameter> = effective.described_parameters().collect();
        let names: Vec<&str> = parameters.iter().map(|p| p.name).collect();
        fields.check_keys(&names);
        let mut own = own?;
        own.congestion_control = choice;
        for entry in table
            .iter()
            .filter(|e| schema::TRANSPORT.key(&e.key).is_none())
        {
            let Some(parameter) = parameters.iter().find(|p| p.name == entry.key) else {
                continue;
            };
            let value =
                parameter_value(&entry.item.value, &parameter.range).map_err(|problem| {
                    let error = problem.at(entry.item.place, &entry.key);
                    fields
                        .errors
                        .report(error.help(format!("`{}`: {}", entry.key, parameter.meaning)))
                })?;
            own.parameters.set(entry.key.as_str(), value);
        }
        let settings = own.over(base);
        // What parameters must fulfil together, such as one slope for each
        // threshold, only the congestion control itself knows.
        if let Err(error) = settings.clone().resolve(&*entry.key).controller() {
            return Err(fields.errors.report(
                Diagnostic::new(parameter_place(&error, table, entry), error.to_string())
                    .label("does not fit"),
            ));
        }
        Ok(settings)
    }

    /// What the transport refines.
    fn base(
        &mut self,
        fields: &Fields<'a>,
        entry: &Entry,
        depth: usize,
    ) -> Result<TransportSettings, Reported> {
        let Some(base) = fields.entry("base") else {
            // `[transport.mtsi]` refines the named transport of that name.
            let slots = ["congestion_control", "start", "avoidance", "reaction"];
            return match find_transport(&entry.key) {
                Some(named) => Ok(named.settings()),
                None if slots.iter().any(|slot| fields.has(slot)) => {
                    Ok(TransportSettings::default())
                }
                None => {
                    let error = fields.lacks("base");
                    let names = quoted(transports().map(|t| t.name));
                    Err(fields
                        .errors
                        .report(error.help(format!("`base` is one of {names}"))))
                }
            };
        };
        let Value::Text(name) = &base.item.value else {
            let message = format!("expected a name, found {}", base.item.value.kind());
            let error = Diagnostic::new(base.item.place, message);
            return Err(fields
                .errors
                .report(error.label("expected a name in quotes")));
        };
        // A file's own `mtsi` may refine the named one.
        if name != &entry.key
            && let Some(settings) = self.get(name, depth + 1)
        {
            return settings;
        }
        match find_transport(name) {
            Some(named) => Ok(named.settings()),
            None if name == &entry.key => {
                let error =
                    Diagnostic::new(base.item.place, format!("{} refines itself", fields.what));
                Err(fields
                    .errors
                    .report(error.label("expected the name of another transport")))
            }
            None => Err(unknown_transport(
                fields,
                &base.item,
                name,
                self.tables.keys(),
            )),
        }
    }
}

/// Where the table says the parameter that a message is about.
fn parameter_place(
    error: &bentpipe_tcp::TransportError,
    table: &Table,
    entry: &Entry,
) -> crate::source::Place {
    let name = error.key();
    let partner = match name {
        "slopes" => "thresholds",
        _ => name,
    };
    let found = table.get(name).or_else(|| table.get(partner));
    found.map_or(entry.key_place, |e| e.item.place)
}

/// The congestion control that the table chooses, if it does.
fn choice(
    fields: &Fields<'_>,
    base: &TransportSettings,
) -> Result<Option<CongestionControlChoice>, Reported> {
    let named = fields.optional_name(
        "congestion_control",
        bentpipe_cc::list().map(|d| d.name).collect(),
    );
    let slot = |key: &str, kind: SlotKind| {
        fields.optional_name(key, slots(kind).iter().map(|s| s.name).collect())
    };
    let start = slot("start", SlotKind::Start);
    let avoidance = slot("avoidance", SlotKind::Avoidance);
    let reaction = slot("reaction", SlotKind::Reaction);
    let (named, start, avoidance, reaction) = (named?, start?, avoidance?, reaction?);
    let named = named.map(CongestionControlChoice::Named);
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
                .find_map(|key| fields.entry(key))
                .map_or(fields.at, |entry| entry.key_place);
            let message = "the congestion control that this changes is not made of three slots";
            let help = "give `start`, `avoidance` and `reaction`, or another `base`";
            let error = Diagnostic::new(place, message).label("replaces one slot");
            return Err(fields.errors.report(error.help(help)));
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

/// Everything but the congestion control.
fn own_settings(fields: &Fields<'_>) -> Result<TransportSettings, Reported> {
    let profile = fields.optional_word("profile");
    let recovery = fields.optional_word("recovery");
    let mss = fields.optional::<bentpipe_units::Bytes>("mss");
    let initial_window = fields.optional("initial_window");
    let initial_ssthresh = fields.optional("initial_ssthresh");
    let send_buffer = fields.optional("send_buffer");
    let receive_buffer = fields.optional("receive_buffer");
    let delayed_ack = delayed_ack(fields);
    let timestamps = fields.optional("timestamps");
    let limited_transmit = fields.optional("limited_transmit");
    let recovery_fix = fields.optional("recovery_fix");
    let undo = fields.optional("undo");
    let pacing = fields
        .entry("pacing")
        .map(|entry| pacing(fields, entry))
        .transpose();
    let ecn = fields.optional("ecn");
    let minimum_rto = fields.optional("minimum_rto");
    let (ack_count, ack_timer, quick_acks) = delayed_ack?;
    Ok(TransportSettings {
        congestion_control: None,
        parameters: bentpipe_cc::Parameters::new(),
        profile: profile?.and_then(|name| by_name(&HostProfile::ALL, name)),
        recovery: recovery?.and_then(|name| by_name(&Recovery::ALL, name)),
        mss: mss?.map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX)),
        initial_window: initial_window?,
        initial_ssthresh: initial_ssthresh?,
        send_buffer: send_buffer?,
        receive_buffer: receive_buffer?,
        ack_count,
        ack_timer,
        quick_acks,
        timestamps: timestamps?,
        limited_transmit: limited_transmit?,
        recovery_fix: recovery_fix?,
        undo: undo?,
        pacing: pacing?,
        ecn: ecn?,
        minimum_rto: minimum_rto?,
    })
}

fn by_name<T: Copy>(all: &[(&'static str, T)], name: &str) -> Option<T> {
    all.iter()
        .find(|(n, _)| *n == name)
        .map(|(_, value)| *value)
}

type DelayedAckParts = (Option<u32>, Option<Duration>, Option<u32>);

fn delayed_ack(fields: &Fields<'_>) -> Result<DelayedAckParts, Reported> {
    let Some(entry) = fields.entry("delayed_ack") else {
        return Ok((None, None, None));
    };
    let table = fields.table_of(entry)?;
    let what = format!("`delayed_ack` of {}", fields.what);
    let ack = Fields::new(
        fields.errors,
        &schema::DELAYED_ACK,
        table,
        entry.key_place,
        what,
    );
    ack.check_keys(&[]);
    let (count, timer) = (ack.optional("count"), ack.optional("timer"));
    let quick_acks = ack.optional("quick_acks");
    Ok((count?, timer?, quick_acks?))
}

fn pacing(fields: &Fields<'_>, entry: &Entry) -> Result<Pacing, Reported> {
    let kind = fields.kind(entry, &schema::PACINGS, "pacing")?;
    if kind.section.kind == Some("off") {
        return Ok(Pacing::Off);
    }
    let (gain, initial_burst) = (kind.optional("gain"), kind.optional("initial_burst"));
    Ok(Pacing::Window {
        gain: gain?.unwrap_or(1.0),
        initial_burst: initial_burst?.unwrap_or(10),
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
