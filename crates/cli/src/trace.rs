//! `bentpipe trace`: a link that changes with time as a trace for an emulator.

use crate::args::{self, TraceFormat};
use crate::exit::{Failure, Status, did_you_mean, talk};
use crate::load;
use crate::output::Output;
use bentpipe_link::trace::theaterq::Style;
use bentpipe_link::trace::{mahimahi, theaterq};
use bentpipe_link::{JitterSettings, Loss, Piece, Timeline};
use bentpipe_scenario::Link;
use bentpipe_units::{Duration, Time};
use std::sync::Arc;

/// Writes the trace of one link to stdout.
pub(crate) fn main(args: &args::Trace, out: &mut Output) -> Result<Status, Failure> {
    let scenario = load::scenario(&args.scenario, &args.set)?;
    let Some(link) = scenario.links.iter().find(|l| l.name == args.link) else {
        let names = scenario.links.iter().map(|l| l.name.as_str());
        return Err(Failure::new(format!(
            "the scenario has no link `{}`{}",
            args.link,
            did_you_mean(&args.link, names)
        )));
    };
    let timeline = match &link.timeline {
        Some(timeline) => Arc::clone(timeline),
        None => Arc::new(constant(link)?),
    };
    let timeline = match args.format {
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
    let written = match args.format {
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
    match link.jitter.as_ref().map(JitterSettings::spread) {
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

/// The timeline of a link on which nothing changes.
fn constant(link: &Link) -> Result<Timeline, Failure> {
    let piece = Piece {
        from: Time::ZERO,
        rate: link.settings.rate,
        one_way_delay: link.settings.one_way_delay,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    };
    Timeline::new(vec![piece]).map_err(|why| Failure::new(why.to_string()))
}

/// How long a line of a trace holds while the delay changes, unless the
/// command says something else.
pub(crate) const STEP: Duration = Duration::from_millis(10);
