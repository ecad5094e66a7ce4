//! `bentpipe trace`: a link that changes with time as a trace for an emulator.

use crate::args::{self, TraceCommand, TraceFit, TraceFormat};
use crate::exit::{Failure, Status, did_you_mean, talk};
use crate::load;
use crate::output::Output;
use bentpipe::slots;
use bentpipe_link::trace::theaterq::Style;
use bentpipe_link::trace::{mahimahi, theaterq};
use bentpipe_link::{JitterSettings, Timeline};
use bentpipe_scenario::Link;
use bentpipe_units::Duration;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the trace of one link to stdout.
pub(crate) fn main(args: &args::Trace, out: &mut Output) -> Result<Status, Failure> {
    if let Some(TraceCommand::Fit(args)) = &args.command {
        return fit(args, out);
    }
    let (Some(file), Some(wanted), Some(format)) = (&args.scenario, &args.link, args.format) else {
        return Err(Failure::new("a scenario, a link and --format are required"));
    };
    let scenario = load::scenario(file, &args.set)?;
    let Some(link) = scenario.links.iter().find(|l| l.name == *wanted) else {
        let names = scenario.links.iter().map(|l| l.name.as_str());
        return Err(Failure::new(format!(
            "the scenario has no link `{}`{}",
            wanted,
            did_you_mean(wanted, names)
        )));
    };
    let length = args.duration.unwrap_or(scenario.duration);
    let timeline = match link.course(scenario.seed, length) {
        Some(timeline) => timeline,
        None => Arc::new(Timeline::steady(&link.settings)),
    };
    let timeline = match format {
        // It has no delays.
        TraceFormat::Mahimahi => timeline,
        TraceFormat::Theaterq | TraceFormat::TheaterqSimple => varying(link, timeline)?,
    };
    let period = timeline.opportunities().and_then(|o| o.period().1);
    let period = period.or(timeline.period());
    let duration = args.duration.or(period).unwrap_or(scenario.duration);
    if duration.is_zero() || args.step.is_zero() {
        return Err(Failure::new("--duration and --step must be above zero"));
    }
    let style = |extended| Style {
        extended,
        step: args.step,
    };
    let written = match format {
        TraceFormat::Mahimahi => mahimahi::write(&timeline, duration),
        TraceFormat::Theaterq => theaterq::write(&link.settings, &timeline, duration, style(true)),
        TraceFormat::TheaterqSimple => {
            theaterq::write(&link.settings, &timeline, duration, style(false))
        }
    };
    let text = written
        .map_err(|why| Failure::new(format!("link `{}` cannot be written: {why}", link.name)))?;
    if link.arq.is_some() {
        talk("note: the trace has the losses of the channel, before retransmission");
    }
    out.text(&text)?;
    Ok(Status::Done)
}

/// The timeline with the jitter of the link, where formats have a word for it.
fn varying(link: &Link, timeline: Arc<Timeline>) -> Result<Arc<Timeline>, Failure> {
    match link.jitter.as_deref().map(JitterSettings::spread) {
        None => Ok(timeline),
        Some(Some(spread)) => Ok(Arc::new((*timeline).clone().with_jitter(spread))),
        Some(None) => {
            let why = "traces have no jitter but a uniform one with a draw for each packet";
            let name = &link.name;
            Err(Failure::new(format!(
                "link `{name}` cannot be written: {why}"
            )))
        }
    }
}

/// Prints a scenario with slots that were fitted.
fn fit(args: &TraceFit, out: &mut Output) -> Result<Status, Failure> {
    fn read<T>(file: &Path, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Failure> {
        let named = |why: &dyn Display| Failure::new(format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|e| named(&e))?;
        read(&text).map_err(|e| named(&e))
    }
    let pings = read(&args.pings, slots::pings)?;
    let flow = |file: &Option<PathBuf>| {
        let file = file.as_deref();
        file.map(|file| read(file, slots::intervals)).transpose()
    };
    let (down, up) = (flow(&args.down)?, flow(&args.up)?);
    let given = (args.every, args.offset);
    let found = slots::fit(&pings, given, [down.as_deref(), up.as_deref()]);
    let found = found.map_err(|why| Failure::new(format!("{}: {why}", args.pings.display())))?;
    let text = found.scenario()?.to_toml();
    out.text(&text.map_err(|e| Failure::new(e.to_string()))?)?;
    let [pings, count] = found.counts;
    talk(format_args!(
        "slots of {} that begin {} after the minute, of {pings} pings in {count} slots; the steps \
         from slot to slot are within {:.3} of those measured (Kolmogorov and Smirnov)",
        found.slots.every, found.slots.offset, found.distance
    ));
    if down.is_none() || up.is_none() {
        talk("note: pings do not tell the capacity: rates without --down or --up are placeholders");
    }
    Ok(Status::Done)
}

/// How long a line of a trace holds while the delay changes, unless the
/// command says something else.
pub(crate) const STEP: Duration = Duration::from_millis(10);
