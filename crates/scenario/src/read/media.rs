//! Media and their terminals.

use crate::model::{Link, Medium, MediumId};
use crate::schema::link::DirectionKeys;
use crate::schema::medium::{
    AlohaKeys, DemandKeys, FrameKeys, MediumTable, RequestPath, SchedulerPlace,
};
use bentpipe_document::names::quoted;
use bentpipe_document::{Context, Diagnostic, NamedKinds, OptionalField, Place, Placed, Reported};
use bentpipe_link::medium::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler,
};
use bentpipe_units::{Bytes, Duration, nearest};

/// The media of a scenario.
pub(super) struct Media {
    context: Context,
    media: Vec<Medium>,
    places: Vec<Place>,
    /// Every name in the file, good or bad.
    names: Vec<String>,
    /// False where one could not be read.
    complete: bool,
}

pub(super) fn read(top: &Context, tables: OptionalField<NamedKinds<MediumTable>>) -> Media {
    let mut read = Media {
        context: top.clone(),
        media: Vec::new(),
        places: Vec::new(),
        names: Vec::new(),
        complete: tables.is_ok(),
    };
    let tables = tables.ok().flatten().map(|t| t.value.0).unwrap_or_default();
    read.names = tables.names;
    for one in tables.tables {
        match one.table.and_then(settings) {
            Ok(settings) => {
                read.media.push(Medium {
                    name: one.name,
                    settings,
                });
                read.places.push(one.place);
            }
            Err(_) => read.complete = false,
        }
    }
    read
}

fn settings(table: MediumTable) -> Result<MediumSettings, Reported> {
    let context = table.context().clone();
    let (channel, access) = match table {
        MediumTable::Tdma { channel, frame, .. } => {
            let frame = frame_of(frame, Bytes::ZERO);
            (channel, frame.map(|frame| AccessSettings::Tdma { frame }))
        }
        MediumTable::Dama {
            channel,
            frame,
            demand,
            ..
        } => {
            let hop = channel.one_way_delay.map(|d| d.value);
            let slots = on_demand(&context, frame, demand, hop);
            let access = slots.map(|(frame, scheduler)| AccessSettings::Dama { frame, scheduler });
            (channel, access)
        }
        MediumTable::CfDama {
            channel,
            frame,
            demand,
            requests,
            minislots,
            ..
        } => {
            let hop = channel.one_way_delay.map(|d| d.value);
            let slots = on_demand(&context, frame, demand, hop);
            let requests = requests_of(&context, requests, minislots);
            let access = slots.and_then(|(frame, scheduler)| {
                Ok(AccessSettings::CfDama {
                    frame,
                    scheduler,
                    requests: requests?,
                })
            });
            (channel, access)
        }
        MediumTable::Aloha { channel, aloha, .. } => {
            let hop = channel.one_way_delay.map(|d| d.value);
            let access = aloha_of(&context, aloha, hop, None);
            (channel, access)
        }
        MediumTable::SlottedAloha {
            channel,
            aloha,
            slot,
            ..
        } => {
            let hop = channel.one_way_delay.map(|d| d.value);
            let access = slot.and_then(|slot| aloha_of(&context, aloha, hop, Some(slot.value)));
            (channel, access)
        }
    };
    Ok(MediumSettings {
        rate: channel.rate?.value,
        one_way_delay: channel.one_way_delay?.value,
        access: access?,
    })
}

fn frame_of(keys: FrameKeys, minislot: Bytes) -> Result<FrameSettings, Reported> {
    Ok(FrameSettings {
        length: keys.frame?.value,
        slots: keys.slots?.value,
        overhead: keys.overhead?.value,
        minislot,
    })
}

fn on_demand(
    context: &Context,
    frame: FrameKeys,
    demand: DemandKeys,
    hop: Result<Duration, Reported>,
) -> Result<(FrameSettings, Scheduler), Reported> {
    let scheduler = scheduler(context, demand.scheduler, demand.to_satellite, hop);
    let frame = frame_of(frame, demand.minislot?.value);
    Ok((frame?, scheduler?))
}

fn scheduler(
    context: &Context,
    place: Result<Placed<SchedulerPlace>, Reported>,
    to_satellite: OptionalField<Duration>,
    hop: Result<Duration, Reported>,
) -> Result<Scheduler, Reported> {
    let (place, to_satellite) = (place?.value, to_satellite?);
    if place == SchedulerPlace::Ground {
        let Some(to_satellite) = to_satellite else {
            return Ok(Scheduler::Ground);
        };
        let error = Diagnostic::new(to_satellite.key, "the scheduler is on the ground");
        let error = error.label("belongs to one on board");
        return Err(
            context.report(error.help("write `scheduler = \"on-board\"`, or leave this out"))
        );
    }
    let hop = hop?;
    match to_satellite {
        None => Ok(Scheduler::OnBoard {
            to_satellite: hop / 2,
        }),
        Some(to_satellite) if to_satellite.value > hop => {
            let error = Diagnostic::new(to_satellite.key, "the satellite is farther than the hub");
            let error = error.label(format!("`one_way_delay` of the whole hop is {hop}"));
            Err(context.report(error))
        }
        Some(to_satellite) => Ok(Scheduler::OnBoard {
            to_satellite: to_satellite.value,
        }),
    }
}

fn requests_of(
    context: &Context,
    path: Result<Placed<RequestPath>, Reported>,
    minislots: OptionalField<u32>,
) -> Result<Requests, Reported> {
    let (path, minislots) = (path?.value, minislots?);
    if let (RequestPath::Preassigned | RequestPath::Piggyback, Some(minislots)) = (path, minislots)
    {
        let error = Diagnostic::new(minislots.key, "requests are not random");
        let error = error.label("belongs to random ones");
        return Err(context.report(error.help("write `requests = \"random\"`, or leave this out")));
    }
    Ok(match path {
        RequestPath::Preassigned => Requests::Preassigned,
        RequestPath::Piggyback => Requests::Piggyback,
        RequestPath::Random => Requests::Random {
            minislots: minislots.map_or(4, |n| n.value),
        },
    })
}

fn aloha_of(
    context: &Context,
    keys: AlohaKeys,
    hop: Result<Duration, Reported>,
    slot: Option<Duration>,
) -> Result<AccessSettings, Reported> {
    let (timeout, hop) = (keys.timeout?, hop?);
    if let Some(timeout) = timeout.filter(|t| t.value < hop) {
        let error = Diagnostic::new(timeout.place, "the time-out is shorter than the hop");
        let error = error.label(format!("a terminal hears its packet after {hop}"));
        return Err(context.report(error.help("every packet would be sent at least twice")));
    }
    Ok(AccessSettings::Aloha(AlohaSettings {
        slot,
        timeout: timeout.map_or(AlohaSettings::NS2.timeout.max(hop), |t| t.value),
        mean_backoff: keys.mean_backoff?.value,
        retransmissions: keys.retransmissions?.value,
        spread: keys.spread?.value,
    }))
}

impl Media {
    /// The medium that a direction of a link names, if it names one.
    pub(super) fn of(
        &self,
        context: &Context,
        keys: &DirectionKeys,
        round_trip: Option<&Option<Placed<Duration>>>,
    ) -> Result<Option<(MediumId, &MediumSettings)>, Reported> {
        let Some(name) = keys.access.medium.as_ref().map_err(|reported| *reported)? else {
            return Ok(None);
        };
        if let Some(at) = self.media.iter().position(|m| m.name == name.value) {
            let own = [
                ("rate", keys.line.rate.ok().flatten().map(|x| x.key)),
                (
                    "one_way_delay",
                    keys.line.one_way_delay.ok().flatten().map(|x| x.key),
                ),
                (
                    "round_trip_delay",
                    round_trip.and_then(|x| x.map(|x| x.key)),
                ),
            ];
            for (key, place) in own {
                if let Some(place) = place {
                    let error = Diagnostic::new(place, format!("`{key}` is the medium's"));
                    return Err(context.report(
                        error
                            .label("of one direction of a link that shares a medium")
                            .related(name.key, "shares this one")
                            .help(format!(
                                "leave it out, and set that of `medium.{}`",
                                name.value
                            )),
                    ));
                }
            }
            return Ok(Some((MediumId(at as u32), &self.media[at].settings)));
        }
        if self.names.contains(&name.value) {
            return Err(context.errors.already());
        }
        let names = || self.media.iter().map(|m| m.name.as_str());
        let error = Diagnostic::new(name.place, format!("unknown medium `{}`", name.value));
        let error = error.label("no medium has this name");
        Err(context.report(match nearest(&name.value, names()) {
            Some(name) => error.help(format!("did you mean `{name}`?")),
            None if self.media.is_empty() => error.help("write a table `[medium.NAME]` for it"),
            None => error.help(format!("media are {}", quoted(names()))),
        }))
    }

    /// Checks that the frames have room for the minislots of all terminals.
    pub(super) fn check(&self, links: &[Link]) {
        for (i, (medium, place)) in self.media.iter().zip(&self.places).enumerate() {
            let id = Some(MediumId(i as u32));
            let terminals = links.iter().filter(|link| link.medium == id).count();
            let settings = &medium.settings;
            let framed = settings.frame().is_some();
            if framed && settings.slot_payload(terminals) == Bytes::ZERO {
                let minislots = settings.minislots(terminals);
                let message = format!("the slots of medium `{}` hold nothing", medium.name);
                let error = Diagnostic::new(*place, message);
                self.context.report(
                    error
                        .label(format!("{terminals} terminals, {minislots} minislots"))
                        .help("make the frame longer, the slots fewer, or the overhead smaller"),
                );
            }
        }
    }

    pub(super) fn into_media(self) -> Result<Vec<Medium>, Reported> {
        if self.complete {
            Ok(self.media)
        } else {
            Err(self.context.errors.already())
        }
    }
}
