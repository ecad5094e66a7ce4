//! Media and their terminals.

use super::{Fields, quoted};
use crate::diagnostic::{Diagnostic, Reported};
use crate::model::{Link, Medium, MediumId};
use crate::schema;
use crate::source::Place;
use bentpipe_cc::nearest;
use bentpipe_link::medium::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler,
};
use bentpipe_units::{Bytes, Duration};

/// The media of a scenario.
pub(super) struct Media<'a> {
    top: &'a Fields<'a>,
    media: Vec<Medium>,
    places: Vec<Place>,
    /// False where one could not be read.
    complete: bool,
}

pub(super) fn read<'a>(top: &'a Fields<'a>) -> Media<'a> {
    let mut read = Media {
        top,
        media: Vec::new(),
        places: Vec::new(),
        complete: true,
    };
    let Ok(tables) = top.tables("medium") else {
        read.complete = false;
        return read;
    };
    for (entry, _) in tables {
        let settings = top
            .kind(entry, &schema::MEDIA, "medium")
            .and_then(|fields| settings(&fields));
        let Ok(settings) = settings else {
            read.complete = false;
            continue;
        };
        read.media.push(Medium {
            name: entry.key.clone(),
            settings,
        });
        read.places.push(entry.key_place);
    }
    read
}

fn settings(fields: &Fields<'_>) -> Result<MediumSettings, Reported> {
    let rate = fields.required("rate");
    let one_way_delay = fields.required("one_way_delay");
    let kind = fields.section.kind.unwrap_or("");
    let access = match kind {
        "tdma" => frame(fields, false).map(|frame| AccessSettings::Tdma { frame }),
        "dama" => {
            let frame = frame(fields, true);
            let scheduler = scheduler(fields, one_way_delay);
            Ok(AccessSettings::Dama {
                frame: frame?,
                scheduler: scheduler?,
            })
        }
        "cf-dama" => {
            let (frame, requests) = (frame(fields, true), requests(fields));
            let scheduler = scheduler(fields, one_way_delay);
            Ok(AccessSettings::CfDama {
                frame: frame?,
                scheduler: scheduler?,
                requests: requests?,
            })
        }
        _ => aloha(fields, one_way_delay, kind == "slotted-aloha"),
    };
    Ok(MediumSettings {
        rate: rate?,
        one_way_delay: one_way_delay?,
        access: access?,
    })
}

fn frame(fields: &Fields<'_>, minislots: bool) -> Result<FrameSettings, Reported> {
    let (length, slots) = (fields.required("frame"), fields.required("slots"));
    let overhead = fields.optional("overhead");
    let minislot = if minislots {
        fields.optional("minislot")?.unwrap_or(Bytes::new(16))
    } else {
        Bytes::ZERO
    };
    Ok(FrameSettings {
        length: length?,
        slots: slots?,
        overhead: overhead?.unwrap_or(Bytes::ZERO),
        minislot,
    })
}

fn scheduler(fields: &Fields<'_>, hop: Result<Duration, Reported>) -> Result<Scheduler, Reported> {
    let word = fields.optional_word("scheduler");
    let to_satellite = fields.optional::<Duration>("to_satellite");
    let (word, to_satellite) = (word?, to_satellite?);
    let entry = fields.entry("to_satellite");
    let place = entry.map_or(fields.at, |e| e.key_place);
    if word != Some("on-board") {
        if to_satellite.is_some() {
            let error = Diagnostic::new(place, "the scheduler is on the ground");
            let error = error.label("belongs to one on board");
            return Err(fields
                .errors
                .report(error.help("write `scheduler = \"on-board\"`, or leave this out")));
        }
        return Ok(Scheduler::Ground);
    }
    let hop = hop?;
    let to_satellite = to_satellite.unwrap_or(hop / 2);
    if to_satellite > hop {
        let error = Diagnostic::new(place, "the satellite is farther than the hub");
        let error = error.label(format!("`one_way_delay` of the whole hop is {hop}"));
        return Err(fields.errors.report(error));
    }
    Ok(Scheduler::OnBoard { to_satellite })
}

fn requests(fields: &Fields<'_>) -> Result<Requests, Reported> {
    let word = fields.optional_word("requests");
    let minislots = fields.optional::<u32>("minislots");
    let (word, minislots) = (word?, minislots?);
    if word == Some("random") {
        let minislots = minislots.unwrap_or(4);
        return Ok(Requests::Random { minislots });
    }
    if let Some(entry) = fields.entry("minislots") {
        let error = Diagnostic::new(entry.key_place, "requests are not random");
        let error = error.label("belongs to random ones");
        return Err(fields
            .errors
            .report(error.help("write `requests = \"random\"`, or leave this out")));
    }
    Ok(match word {
        Some("piggyback") => Requests::Piggyback,
        _ => Requests::Preassigned,
    })
}

fn aloha(
    fields: &Fields<'_>,
    hop: Result<Duration, Reported>,
    slotted: bool,
) -> Result<AccessSettings, Reported> {
    let slot = if slotted {
        fields.required("slot").map(Some)
    } else {
        Ok(None)
    };
    let (timeout, backoff) = (fields.optional("timeout"), fields.optional("mean_backoff"));
    let again = fields.optional("retransmissions");
    let spread = fields.optional("spread");
    let (slot, timeout, hop) = (slot?, timeout?, hop?);
    let default = AlohaSettings::NS2;
    if let (Some(timeout), Some(entry)) = (timeout, fields.entry("timeout"))
        && timeout < hop
    {
        let error = Diagnostic::new(entry.item.place, "the time-out is shorter than the hop");
        let error = error.label(format!("a terminal hears its packet after {hop}"));
        return Err(fields
            .errors
            .report(error.help("every packet would be sent at least twice")));
    }
    Ok(AccessSettings::Aloha(AlohaSettings {
        slot,
        timeout: timeout.unwrap_or(default.timeout.max(hop)),
        mean_backoff: backoff?.unwrap_or(default.mean_backoff),
        retransmissions: again?.unwrap_or(default.retransmissions),
        spread: spread?.unwrap_or(default.spread),
    }))
}

impl Media<'_> {
    /// The medium that a direction of a link names, if it names one.
    pub(super) fn of(
        &self,
        fields: &Fields<'_>,
    ) -> Result<Option<(MediumId, &MediumSettings)>, Reported> {
        let Some(entry) = fields.entry("medium") else {
            return Ok(None);
        };
        let name: String = fields.required("medium")?;
        if let Some(at) = self.media.iter().position(|m| m.name == name) {
            for key in ["rate", "one_way_delay", "round_trip_delay"] {
                if let Some(own) = fields.entry(key) {
                    let error = Diagnostic::new(own.key_place, format!("`{key}` is the medium's"));
                    return Err(fields.errors.report(
                        error
                            .label("of one direction of a link that shares a medium")
                            .related(entry.key_place, "shares this one")
                            .help(format!("leave it out, and set that of `medium.{name}`")),
                    ));
                }
            }
            return Ok(Some((MediumId(at as u32), &self.media[at].settings)));
        }
        if self.top.names("medium", &name) {
            return Err(fields.errors.already());
        }
        let names = || self.media.iter().map(|m| m.name.as_str());
        let error = Diagnostic::new(entry.item.place, format!("unknown medium `{name}`"));
        let error = error.label("no medium has this name");
        Err(fields.errors.report(match nearest(&name, names()) {
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
                self.top.errors.report(
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
            Err(self.top.errors.already())
        }
    }
}
