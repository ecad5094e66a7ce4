//! What the page asks: satellites, two places, how long; and the scenario that it makes.

use super::memory::Surveyed;
use crate::Problem;
use bentpipe::orbit::{
    Angle, Catalogue, Constellation, GeoSlot, IslRules, Mesh, Mode, PRESETS, Pattern, Place,
    Policy, Settings, Site, Terminal, plan, preset,
};
use bentpipe::scenario::Document;
use bentpipe::scenario::space::ExpandedConstellation;
use bentpipe::units::{Duration, Rate};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Hours that can be asked about.
const MOST_HOURS: f64 = 48.0;

/// Positions that are computed while a plan of satellites of a file is made: some ten
/// seconds of work.
const MOST_POSITIONS: u64 = 12_000_000;

/// Between two looks for a satellite, seconds: the default of a scenario.
const SEARCH_S: u64 = 10;

/// Satellites of a file, at most.
const MOST_SATELLITES: usize = 20_000;

/// Degrees above the horizon below which terminals do not use a geostationary satellite,
/// and one of a file or a shell: those of `bentpipe compare`.
const GEO_MASK: f64 = 5.0;
const OWN_MASK: f64 = 10.0;

/// Degrees of latitude beyond which the planes of a star of a file are not linked.
const STAR_LATITUDE: f64 = 60.0;

/// Rates of satellites that have none of their own.
const OWN_RATES: [&str; 2] = ["10 Mbit/s", "2 Mbit/s"];

/// A file that was dropped on the page.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenFile {
    /// Its name.
    pub(crate) name: String,
    /// TLE, or an OMM as JSON, CSV or KVN.
    pub(crate) text: String,
}

/// A question, as the page writes it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// `iridium`, `teledesic`, `starlink`, `geo`, `walker` or `file`.
    pub(crate) orbit: String,
    /// Where data comes from: a city, or latitude and longitude.
    pub(crate) from: String,
    /// Where data goes to.
    pub(crate) to: String,
    /// How long; a day unless it is given.
    pub(crate) hours: Option<f64>,
    /// Longitude of a geostationary satellite; midway between the places unless given.
    pub(crate) slot: Option<f64>,
    /// Walker's `INCLINATION: SATELLITES/PLANES/PHASING`.
    pub(crate) pattern: Option<String>,
    /// Of a Walker shell.
    pub(crate) altitude_km: Option<f64>,
    /// Of a Walker shell: `star` or `delta`.
    pub(crate) shape: Option<String>,
    /// Degrees above the horizon from which on terminals use satellites.
    pub(crate) mask: Option<f64>,
    /// How terminals choose: `keep`, `highest` or `longest`.
    pub(crate) handover: Option<String>,
    /// False: satellites repeat to the ground what they receive.
    pub(crate) isl: Option<bool>,
    /// The satellites of `file`.
    pub(crate) file: Option<GivenFile>,
}

/// A question that was understood.
#[derive(Debug)]
pub(crate) struct Ready {
    duration: Duration,
    moves: bool,
    ends: [(Site, String); 2],
    /// Towards the receiver and back.
    rates: [Rate; 2],
    what: String,
    notes: Vec<String>,
    /// The lines of the constellation's table.
    lines: Vec<String>,
    file: Option<GivenFile>,
    start_unix_s: Option<f64>,
    constellation: Constellation,
    /// Degrees.
    mask: f64,
    settings: Settings,
}

/// A problem with one field of the question.
fn wrong(field: &str, why: impl ToString) -> Problem {
    Problem::wrong(why.to_string()).with("field", field.into())
}

/// A string in TOML; JSON's escapes are among those of TOML.
fn text(value: &str) -> String {
    Value::from(value).to_string().replace('\u{7f}', "\\u007f")
}

impl Question {
    /// Understands the question.
    ///
    /// # Errors
    /// What is wrong with it, with the `field`, and of a file the `line`.
    pub(crate) fn ready(&self) -> Result<Ready, Problem> {
        let end = |field: &str, given: &str| -> Result<(Site, String), Problem> {
            let site: Site = given.trim().parse().map_err(|e| wrong(field, e))?;
            Ok((site, given.trim().to_owned()))
        };
        let ends = [end("from", &self.from)?, end("to", &self.to)?];
        if ends[0].0.place() == ends[1].0.place() {
            return Err(wrong("to", "the two places are the same"));
        }
        let hours = self.hours.unwrap_or(24.0);
        if !(0.05..=MOST_HOURS).contains(&hours) {
            let why = format!("between 3 minutes and {MOST_HOURS} hours can be shown");
            return Err(wrong("hours", why));
        }
        let mut ready = Ready {
            duration: Duration::from_secs_f64((hours * 3600.0).round()),
            moves: true,
            ends,
            rates: [Rate::ZERO; 2],
            what: String::new(),
            notes: Vec::new(),
            lines: Vec::new(),
            file: None,
            start_unix_s: None,
            constellation: Constellation::geo(&[]),
            mask: OWN_MASK,
            settings: Settings::default(),
        };
        self.satellites(&mut ready)?;
        if let Some(mask) = self.mask {
            if !(0.0..90.0).contains(&mask) {
                return Err(wrong("mask", "a mask is from 0 to 90 degrees"));
            }
            ready.set("mask", mask);
            ready.mask = mask;
        }
        if let Some(handover) = self.handover.as_deref().filter(|_| ready.moves) {
            let policy: Policy = handover.parse().map_err(|e| wrong("handover", e))?;
            ready.set("handover", text(policy.name()));
            ready.settings.policy = policy;
        }
        if let Some(isl) = self.isl.filter(|_| ready.moves && self.orbit != "file") {
            ready.set("isl", isl);
            if !isl {
                ready.settings.mode = Mode::BentPipe;
            }
        }
        Ok(ready)
    }

    fn satellites(&self, ready: &mut Ready) -> Result<(), Problem> {
        match self.orbit.as_str() {
            "geo" => self.geo(ready),
            "walker" => self.walker(ready),
            "file" => self.elements(ready),
            name => {
                let Some(preset) = preset(name) else {
                    let known = PRESETS.join(", ");
                    let why = format!("`{name}` is none of {known}, geo, walker and file");
                    return Err(wrong("orbit", why));
                };
                let count = preset.constellation.len();
                ready.what = format!("{count} satellites of {name}");
                ready.rates = [preset.down_rate, preset.up_rate];
                ready.mask = preset.mask.degrees();
                ready.constellation = preset.constellation;
                ready.set("kind", text(name));
                ready.moving();
                Ok(())
            }
        }
    }

    fn geo(&self, ready: &mut Ready) -> Result<(), Problem> {
        let [from, to] = ready.places_of();
        let slot = match self.slot {
            Some(longitude) => GeoSlot::new(longitude).map_err(|e| wrong("slot", e))?,
            None => GeoSlot::between(from, to),
        };
        ready.moves = false;
        ready.own_rates()?;
        ready.constellation = Constellation::geo(&[slot]);
        ready.settings.mode = Mode::BentPipe;
        ready.mask = GEO_MASK;
        let east = slot.longitude();
        let side = if east < 0.0 { "W" } else { "E" };
        ready.what = format!("a geostationary satellite at {:.1} {side}", east.abs());
        ready.set("kind", text("geo"));
        ready.set("longitude", east);
        ready.set("mask", GEO_MASK);
        Ok(())
    }

    fn walker(&self, ready: &mut Ready) -> Result<(), Problem> {
        let pattern = self.pattern.as_deref().unwrap_or("53: 1584/72/65");
        let altitude = self.altitude_km.unwrap_or(550.0);
        let shape = match self.shape.as_deref().unwrap_or("delta") {
            "star" => Pattern::Star,
            "delta" => Pattern::Delta,
            other => {
                return Err(wrong(
                    "shape",
                    format!("`{other}` is neither star nor delta"),
                ));
            }
        };
        let walker = pattern.parse().map_err(|e| wrong("pattern", e))?;
        let height = bentpipe::orbit::Distance::from_km(altitude);
        let shell = bentpipe::orbit::Shell::walker(walker, height, shape);
        let shell = shell.map_err(|e| wrong("pattern", e))?;
        if shell.len() > MOST_SATELLITES {
            let why = format!("at most {MOST_SATELLITES} satellites are shown");
            return Err(wrong("pattern", why));
        }
        ready.own_rates()?;
        ready.what = format!("{} satellites of the shell {pattern}", shell.len());
        ready.set("kind", text("walker"));
        ready.set("pattern", text(pattern));
        ready.set("altitude_km", altitude);
        let name = if shape == Pattern::Star {
            "star"
        } else {
            "delta"
        };
        ready.set("shape", text(name));
        ready.set("mask", OWN_MASK);
        ready.moving();
        ready.constellation = Constellation::shell(shell, Mesh::GRID, IslRules::NONE);
        Ok(())
    }

    fn elements(&self, ready: &mut Ready) -> Result<(), Problem> {
        let Some(file) = &self.file else {
            return Err(wrong("file", "no file of TLE or OMM was given"));
        };
        let catalogue = Catalogue::parse(&file.text).map_err(|e| {
            wrong("file", format!("{}, {e}", file.name)).with("line", json!(e.line))
        })?;
        let count = catalogue.len();
        if count > MOST_SATELLITES {
            let why = format!(
                "{} has {count} satellites; at most {MOST_SATELLITES} are shown",
                file.name
            );
            return Err(wrong("file", why));
        }
        let looks = MOST_POSITIONS / count as u64;
        let most = Duration::from_secs((looks * SEARCH_S / 600).max(1) * 600);
        if most < ready.duration {
            ready.duration = most;
            ready.notes.push(format!(
                "{most} are shown: {count} satellites of a file are too many for more."
            ));
        }
        ready.own_rates()?;
        ready.set("kind", text("elements"));
        ready.set("file", text(&file.name));
        let start = catalogue.latest_epoch();
        ready.start_unix_s = Some(start.unix_nanos() as f64 / 1e9);
        let plain = Constellation::elements(catalogue, start);
        match plain.clone().with_grid(IslRules::NONE) {
            Ok((linked, grid)) if self.isl != Some(false) => {
                ready.constellation = linked;
                ready.what = format!("{count} satellites of {} with links", file.name);
                ready.set("grid", true);
                // A star's planes cross near the poles.
                if grid.pattern == Pattern::Star {
                    ready.set("isl_latitude", STAR_LATITUDE);
                }
                ready.notes.push(format!(
                    "The satellites form a grid, {grid}, and are taken to have links to their \
                     neighbours in it."
                ));
            }
            found => {
                ready.constellation = plain;
                ready.settings.mode = Mode::BentPipe;
                ready.what = format!("{count} satellites of {} without links", file.name);
                if let Err(why) = found {
                    ready.notes.push(format!(
                        "The satellites are not linked, since they form no grid: {why}."
                    ));
                }
            }
        }
        ready.set("mask", OWN_MASK);
        ready.moving();
        ready.file = Some(file.clone());
        Ok(())
    }
}

impl Ready {
    /// Sets a key of the constellation, in the place of what it had.
    fn set(&mut self, key: &str, value: impl ToString) {
        let begin = format!("{key} = ");
        self.lines.retain(|line| !line.starts_with(&begin));
        self.lines.push(begin + &value.to_string());
    }

    /// Keys of satellites that move: what waits for one is kept, as by `bentpipe compare`.
    fn moving(&mut self) {
        self.set("when_down", text("waits"));
    }

    /// Rates of satellites that have none of their own.
    fn own_rates(&mut self) -> Result<(), Problem> {
        let rate = |rate: &str| rate.parse::<Rate>().map_err(|e| wrong("rate", e));
        self.rates = [rate(OWN_RATES[0])?, rate(OWN_RATES[1])?];
        self.set("up_rate", text(OWN_RATES[1]));
        self.set("down_rate", text(OWN_RATES[0]));
        Ok(())
    }

    fn places_of(&self) -> [Place; 2] {
        [self.ends[0].0.place(), self.ends[1].0.place()]
    }

    /// How long it is about.
    pub(crate) fn duration(&self) -> Duration {
        self.duration
    }

    /// False where nothing changes.
    pub(crate) fn moves(&self) -> bool {
        self.moves
    }

    /// The satellites in words.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// What one should know, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Towards the receiver, and back.
    pub(crate) fn rates(&self) -> [Rate; 2] {
        self.rates
    }

    /// What time 0 is, where elements say so, seconds since 1970.
    pub(crate) fn start_unix_s(&self) -> Option<f64> {
        self.start_unix_s
    }

    /// The two places.
    pub(crate) fn places(&self) -> Value {
        let place = |(site, text): &(Site, String)| {
            json!({
                "text": text,
                "name": site.to_string(),
                "latitude": site.place().latitude(),
                "longitude": site.place().longitude(),
            })
        };
        self.ends.iter().map(place).collect()
    }

    /// What tells plans apart.
    pub(crate) fn key(&self, length: Duration) -> String {
        let file = self.file.as_ref().map_or("", |file| file.text.as_str());
        format!("{}\0{file}", self.scenario(length))
    }

    /// The scenario over `length`: a download from one place to the other.
    pub(crate) fn scenario(&self, length: Duration) -> String {
        let [from, to] = &self.ends;
        let names = [node(&from.0, "server"), node(&to.0, "user")];
        let names = match names[0] == names[1] {
            true => ["server".to_owned(), "user".to_owned()],
            false => names,
        };
        let mut out = format!(
            "description = {}\nduration = {}\nseed = 1\n\n[constellation.sky]\n",
            text(&format!("{} to {} over {}", from.0, to.0, self.what)),
            text(&length.to_string()),
        );
        for line in &self.lines {
            out += line;
            out.push('\n');
        }
        // A tenth of a second of the way, half a second under a geostationary satellite.
        let wait_ms = if self.moves { 100 } else { 500 };
        let packets = (self.rates[0].bps() / 12_000 * wait_ms / 1000).max(50);
        out += &format!("queue = \"{packets} packets\"\n");
        for (i, (site, given)) in self.ends.iter().enumerate() {
            out += &format!("\n[node.{}]\nterminal_of = \"sky\"\n", names[i]);
            match site.name() {
                Some(_) => out += &format!("place = {}\n", text(given)),
                None => {
                    let place = site.place();
                    out += &format!(
                        "latitude = {:?}\nlongitude = {:?}\n",
                        place.latitude(),
                        place.longitude()
                    );
                }
            }
            if i == 0 {
                // A gateway is not what limits a download.
                out += &format!("up_rate = {}\n", text(&self.rates[0].to_string()));
            }
        }
        out += &format!(
            "\n[flow.download]\nfrom = \"{}\"\nto = \"{}\"\ntransport = \"cubic\"\n\
             application = {{ kind = \"transfer\", size = \"10 MB\" }}\n",
            names[0], names[1]
        );
        out
    }

    /// The satellites where they never join the two places; `None` if they do.
    pub(crate) fn unjoined(&self) -> Option<ExpandedConstellation> {
        let terminals = self.places_of().map(|place| Terminal {
            place,
            mask: Angle::from_degrees(self.mask),
        });
        let settings = Settings {
            duration: self.duration,
            ..self.settings
        };
        let plan = plan(&self.constellation, &terminals, &[(0, 1)], &settings).ok()?;
        (plan.availability(0) == 0.0).then(|| ExpandedConstellation {
            name: "sky".to_owned(),
            constellation: self.constellation.clone(),
            mode: self.settings.mode,
            terminals: terminals.to_vec(),
            nodes: Vec::new(),
            up_rate: self.rates[1],
            down_rate: self.rates[0],
            plan,
        })
    }

    /// Plans over `length`.
    pub(crate) fn survey(&self, length: Duration) -> Result<Arc<Surveyed>, Problem> {
        let mut document = Document::parse("sky.toml", &self.scenario(length)).map_err(failed)?;
        if let Some(file) = &self.file {
            document.give_file(&file.name, file.text.clone());
        }
        let (scenario, space) = document.survey().map_err(failed)?;
        Ok(Arc::new(Surveyed { scenario, space }))
    }
}

/// What is wrong with the scenario, without its lines: nobody has written them.
fn failed(errors: bentpipe::scenario::Diagnostics) -> Problem {
    let sentence = |error: &bentpipe_document::Diagnostic| {
        let parts =
            std::iter::once(error.message()).chain(error.advice().iter().map(String::as_str));
        parts.collect::<Vec<_>>().join(": ")
    };
    let all = errors.errors.iter().map(sentence);
    Problem::wrong(all.collect::<Vec<_>>().join("; "))
}

/// A name for the node at a place: `new-york`.
fn node(site: &Site, otherwise: &str) -> String {
    let name = site.name().unwrap_or_default();
    let name = name.split(',').next().unwrap_or_default();
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let is_plain = name.is_ascii() && plain.chars().any(|c| c.is_ascii_alphabetic());
    match is_plain {
        true => plain.trim_matches('-').to_owned(),
        false => otherwise.to_owned(),
    }
}
