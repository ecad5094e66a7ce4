//! Constellations of satellites, as a file describes them.

use crate::schema::constellation::{ConstellationTable, OrbitKeys, SkyKeys};
use crate::schema::queue::QueueTable;
use bentpipe_document::{
    Context, Diagnostic, NamedKinds, OneNamed, OptionalField, Place, Placed, Reported, form,
};
use bentpipe_link::{ChannelSettings, InFlightPolicy, WhenDown};
use bentpipe_orbit::{
    Angle, Catalogue, Constellation, Distance, GeoSlot, IslRules, Mesh, Mode, Policy, Preset,
    Settings, Shell, Utc, Walker,
};
use bentpipe_units::{Duration, Rate};

/// A constellation, and what its links are like.
pub(super) struct ConstellationSpec {
    pub(super) name: String,
    pub(super) place: Place,
    /// For messages about it.
    pub(super) context: Context,
    pub(super) constellation: Constellation,
    /// Default of terminals.
    pub(super) mask: Angle,
    pub(super) up_rate: Rate,
    pub(super) down_rate: Rate,
    pub(super) isl_rate: Rate,
    pub(super) queue: Option<Placed<QueueTable>>,
    pub(super) channel: ChannelSettings,
    pub(super) settings: Settings,
    pub(super) when_down: WhenDown,
    pub(super) in_flight: InFlightPolicy,
}

/// The constellations of a scenario.
pub(super) struct Skies {
    pub(super) skies: Vec<ConstellationSpec>,
    /// Names in the file, good or bad.
    pub(super) names: Vec<String>,
    /// False where one could not be read.
    pub(super) complete: bool,
}

pub(super) fn read(
    tables: OptionalField<NamedKinds<ConstellationTable>>,
    duration: Option<Duration>,
    seed: u64,
) -> Skies {
    let mut read = Skies {
        skies: Vec::new(),
        names: Vec::new(),
        complete: tables.is_ok(),
    };
    let tables = tables.ok().flatten().map(|t| t.value.0).unwrap_or_default();
    read.names = tables.names;
    for one in tables.tables {
        match sky(one, duration, seed) {
            Ok(sky) => read.skies.push(sky),
            Err(_) => read.complete = false,
        }
    }
    read
}

fn sky(
    one: OneNamed<ConstellationTable>,
    duration: Option<Duration>,
    seed: u64,
) -> Result<ConstellationSpec, Reported> {
    let table = one.table?;
    let mut context = table.context().clone();
    context.what = format!("constellation `{}`", one.name);
    let Parts { stars, sky, orbit } = parts(table, &context);
    let (mask, channel) = (sky.mask, sky.channel);
    let rate = |name, rate: OptionalField<Rate>, preset: Option<Rate>| match (rate?, preset) {
        (None, Some(preset)) => Ok(preset),
        (rate, _) => context.need(name, rate).map(|rate| rate.value),
    };
    let preset = stars.as_ref().ok().and_then(|s| s.preset.as_ref());
    let up_rate = rate("up_rate", sky.up_rate, preset.map(|p| p.up_rate));
    let down_rate = rate("down_rate", sky.down_rate, preset.map(|p| p.down_rate));
    let queue = sky.queue?;
    let channel = form::settle_or_none::<_, ChannelSettings, _>(&channel, &());
    let stars = stars?;
    let given = orbit.as_ref().map(|orbit| orbit.isl).transpose()?.flatten();
    let isl = given.map_or(stars.linked, |isl| isl.value);
    if isl && stars.constellation.isls().is_empty() {
        let place = given.map_or(context.at, |isl| isl.place);
        let message = format!("{} has no links between satellites", context.what);
        let error = Diagnostic::new(place, message).label("expected `isl = false`");
        let error = error.help("name them in a file with `links`, or let satellites repeat");
        return Err(context.report(error));
    }
    let moving = orbit.map(moving).transpose()?.unwrap_or_default();
    let (up_rate, down_rate) = (up_rate?, down_rate?);
    let preset = stars.preset.as_ref();
    Ok(ConstellationSpec {
        name: one.name,
        place: one.place,
        mask: Angle::from_degrees(mask?.map_or(stars.mask, |mask| mask.value)),
        up_rate,
        down_rate,
        isl_rate: moving
            .isl_rate
            .unwrap_or(preset.map_or(up_rate, |p| p.isl_rate)),
        queue,
        channel: channel?.unwrap_or(ChannelSettings::Perfect),
        settings: Settings {
            duration: duration.unwrap_or(Duration::from_secs(1)),
            mode: if isl { Mode::Isl } else { Mode::BentPipe },
            policy: moving.handover,
            search: moving.search,
            jitter: moving.jitter.then_some(seed),
            isl_check: moving.search,
        },
        when_down: moving.when_down,
        in_flight: moving.in_flight,
        constellation: stars.constellation,
        context,
    })
}

/// How a constellation moves; the default is a geostationary one.
struct Moving {
    isl_rate: Option<Rate>,
    handover: Policy,
    search: Duration,
    jitter: bool,
    when_down: WhenDown,
    in_flight: InFlightPolicy,
}

impl Default for Moving {
    fn default() -> Moving {
        Moving {
            isl_rate: None,
            handover: Policy::Keep,
            search: Duration::from_secs(10),
            jitter: false,
            when_down: WhenDown::Lost,
            in_flight: InFlightPolicy::Delivered,
        }
    }
}

fn moving(keys: OrbitKeys) -> Result<Moving, Reported> {
    Ok(Moving {
        isl_rate: keys.isl_rate?.map(|rate| rate.value),
        handover: keys.handover?.value,
        search: keys.search?.value,
        jitter: keys.jitter?.value,
        when_down: keys.when_down?.value,
        in_flight: keys.in_flight?.value,
    })
}

/// The satellites of a kind, and their defaults.
struct Stars {
    constellation: Constellation,
    /// Degrees.
    mask: f64,
    linked: bool,
    preset: Option<Preset>,
}

/// A table by what its keys are about.
struct Parts {
    stars: Result<Stars, Reported>,
    sky: SkyKeys,
    orbit: Option<OrbitKeys>,
}

fn parts(table: ConstellationTable, context: &Context) -> Parts {
    let own = |constellation, mask, linked| Stars {
        constellation,
        mask,
        linked,
        preset: None,
    };
    let (stars, sky, orbit) = match table {
        ConstellationTable::Geo { sky, longitude, .. } => {
            let slot = longitude.and_then(|longitude| {
                GeoSlot::new(longitude.value)
                    .map_err(|e| wrong(context, "longitude", longitude.place, e))
            });
            let stars = slot.map(|slot| own(Constellation::geo(&[slot]), 0.0, false));
            (stars, sky, None)
        }
        ConstellationTable::Walker {
            sky,
            orbit,
            pattern,
            altitude_km,
            shape,
            isl_latitude,
            ..
        } => {
            let shell = walker(context, pattern, altitude_km, shape, isl_latitude);
            (shell.map(|shell| own(shell, 10.0, true)), sky, Some(orbit))
        }
        ConstellationTable::Elements {
            sky,
            orbit,
            file,
            start,
            links,
            grid,
            inclination,
            altitude_km,
            isl_latitude,
            ..
        } => {
            let how = ElementKeys {
                start,
                links,
                grid: grid.map(|grid| grid.value),
                only: (inclination, altitude_km),
                isl_latitude,
            };
            let stars = elements(context, file, how).map(|constellation| {
                let linked = !constellation.isls().is_empty();
                own(constellation, 10.0, linked)
            });
            (stars, sky, Some(orbit))
        }
        ConstellationTable::Teledesic {
            sky,
            orbit,
            stagger,
            ..
        } => {
            let preset =
                stagger.map(|s| bentpipe_orbit::teledesic(Angle::from_degrees(s.value)).into());
            (preset, sky, Some(orbit))
        }
        ConstellationTable::Starlink { sky, orbit, .. } => {
            (Ok(bentpipe_orbit::starlink().into()), sky, Some(orbit))
        }
        ConstellationTable::Iridium { sky, orbit, .. } => {
            (Ok(bentpipe_orbit::iridium().into()), sky, Some(orbit))
        }
    };
    Parts { stars, sky, orbit }
}

impl From<Preset> for Stars {
    fn from(preset: Preset) -> Stars {
        Stars {
            constellation: preset.constellation.clone(),
            mask: preset.mask.degrees(),
            linked: true,
            preset: Some(preset),
        }
    }
}

/// The error that the value of a key makes no constellation.
fn wrong(context: &Context, key: &str, place: Place, why: impl ToString) -> Reported {
    context.report(Diagnostic::new(
        place,
        format!("`{key}`: {}", why.to_string()),
    ))
}

fn walker(
    context: &Context,
    pattern: Result<Placed<String>, Reported>,
    altitude: Result<Placed<f64>, Reported>,
    shape: Result<Placed<bentpipe_orbit::Pattern>, Reported>,
    latitude: OptionalField<f64>,
) -> Result<Constellation, Reported> {
    let pattern = pattern?;
    let place = pattern.place;
    let walker: Walker = pattern
        .value
        .parse()
        .map_err(|e| wrong(context, "pattern", place, e))?;
    let altitude = Distance::from_km(altitude?.value);
    let shell = Shell::walker(walker, altitude, shape?.value);
    let shell = shell.map_err(|e| wrong(context, "pattern", place, e))?;
    let rules = IslRules {
        latitude: latitude?.map(|latitude| Angle::from_degrees(latitude.value)),
        ..IslRules::NONE
    };
    Ok(Constellation::shell(shell, Mesh::GRID, rules))
}

/// The keys of a constellation of elements besides the name of its file.
struct ElementKeys {
    start: OptionalField<String>,
    links: OptionalField<String>,
    grid: Result<bool, Reported>,
    /// Inclination in degrees, altitude in km.
    only: (OptionalField<f64>, OptionalField<f64>),
    isl_latitude: OptionalField<f64>,
}

fn elements(
    context: &Context,
    file: Result<Placed<String>, Reported>,
    keys: ElementKeys,
) -> Result<Constellation, Reported> {
    let text = |key: &str, name: &Placed<String>| {
        let files = &context.errors.origin().files;
        files.get(&name.value).ok_or_else(|| {
            let why = format!("there is no text of the file `{}`", name.value);
            wrong(context, key, name.place, why)
        })
    };
    let (file, links, grid) = (file?, keys.links?, keys.grid?);
    let (inclination, altitude) = (keys.only.0?, keys.only.1?);
    let latitude = keys.isl_latitude?;
    let misplaced = match (grid, &links, &latitude) {
        (true, Some(links), _) => Some((links.key, "`links` beside a `grid`", "not both")),
        (false, _, Some(latitude)) => Some((
            latitude.key,
            "`isl_latitude` without a `grid`",
            "has no effect",
        )),
        _ => None,
    };
    if let Some((place, message, label)) = misplaced {
        return Err(context.report(Diagnostic::new(place, message).label(label)));
    }
    let links = links
        .as_ref()
        .map(|name| Ok((text("links", name)?, name.place)));
    let catalogue = Catalogue::parse(text("file", &file)?)
        .map_err(|e| wrong(context, "file", file.place, e))?;
    let catalogue = catalogue.only(
        inclination.map(|i| Angle::from_degrees(i.value)),
        altitude.map(|a| Distance::from_km(a.value)),
    );
    if let (true, Some(key)) = (catalogue.is_empty(), inclination.or(altitude)) {
        let message = format!("no satellite of `{}` is in this shell", file.value);
        let help = "`inclination` is met to a degree, `altitude_km` to 25 km";
        return Err(context.report(Diagnostic::new(key.place, message).help(help)));
    }
    let start: Utc = match keys.start? {
        Some(start) => {
            let parsed = start.value.parse();
            parsed.map_err(|e| wrong(context, "start", start.place, e))?
        }
        None => catalogue.latest_epoch(),
    };
    let constellation = Constellation::elements(catalogue, start);
    if grid {
        let rules = IslRules {
            latitude: latitude.map(|latitude| Angle::from_degrees(latitude.value)),
            ..IslRules::NONE
        };
        let linked = constellation.with_grid(rules);
        return linked.map(|(linked, _)| linked).map_err(|e| {
            let message = format!("the satellites of `{}` form no grid", file.value);
            let error = Diagnostic::new(file.place, message).label(e.to_string());
            context.report(error.help("`inclination` and `altitude_km` choose a shell"))
        });
    }
    match links.transpose()? {
        Some((links, place)) => constellation
            .with_links(links)
            .map_err(|e| wrong(context, "links", place, e)),
        None => Ok(constellation),
    }
}
