//! `bentpipe run --on linux` and `--on both`: a scenario on this machine.

use super::{Facts, Machine, Ran, Wanted};
use crate::args::{self, On};
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use crate::run::Job;
use bentpipe_present::outcome::{print, print_both, title};
use bentpipe_scenario::Scenario;
use bentpipe_sim::Unobserved;
use bentpipe_units::Duration;
use serde_json::json;

/// Runs it here, and in the simulator before that where both were asked for.
pub(crate) fn run(machine: &Machine, job: &Job<'_>, out: &mut Output) -> Result<Status, Failure> {
    let (args, scenario) = (job.args, job.scenario);
    possible(args, machine, scenario)?;
    let twin = (args.on == On::Both).then(|| machine.as_run_on_linux(scenario));
    let simulated = match &twin {
        Some(twin) => Some(job.simulate(twin, &mut Unobserved)?),
        None => None,
    };
    let ran = measure(machine, job)?;
    if let Some(file) = &args.plot {
        let outcomes: Vec<_> = simulated
            .iter()
            .map(|outcome| (" simulated", outcome))
            .chain([(if twin.is_some() { " measured" } else { "" }, &ran.outcome)])
            .collect();
        job.draw(&outcomes, file)?;
    }
    let (measured, facts) = (job.kept(ran.outcome), ran.facts);
    let measured = job.whole(&measured)?;
    let simulated = simulated.map(|outcome| job.kept(outcome));
    let simulated = simulated.as_ref().map(|o| job.whole(o)).transpose()?;
    if let Some(folder) = &args.out {
        match &simulated {
            Some(simulated) => {
                job.write(simulated, None, &folder.join("simulated"))?;
                job.write(&measured, Some(&facts), &folder.join("measured"))?;
            }
            None => job.write(&measured, Some(&facts), folder)?,
        }
    }
    match (&simulated, &twin) {
        (Some(simulated), _) if args.json => out.json(&json!({
            "simulated": simulated,
            "measured": measured,
            "linux": facts,
        }))?,
        _ if args.json => out.json(&json!({ "measured": measured, "linux": facts }))?,
        (Some(simulated), Some(twin)) => {
            title(measured.outcome, Some(&facts.kernel), scenario, out)?;
            print_both(twin, simulated.outcome, measured.outcome, &facts.ran, out)?;
            remarks(&facts, out)?;
        }
        _ => {
            print(&measured, Some(&facts.kernel), scenario, out)?;
            remarks(&facts, out)?;
        }
    }
    if args.json && !facts.kept_up {
        talk(&facts.verdict);
    }
    Ok(match facts.kept_up {
        true => Status::Done,
        false => Status::Worse,
    })
}

/// Says what of a scenario this machine cannot do, before anything is run.
fn possible(args: &args::Run, machine: &Machine, scenario: &Scenario) -> Result<(), Failure> {
    let refused = machine.refusals(scenario);
    if refused.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{}: cannot run on Linux:\n  {}",
        args.scenario.display(),
        refused.join("\n  ")
    )))
}

/// Runs a scenario on this machine.
fn measure(machine: &Machine, job: &Job<'_>) -> Result<Ran, Failure> {
    let (args, scenario, options) = (job.args, job.scenario, &job.options);
    talk(format_args!(
        "running on {} for up to {}",
        machine.kernel(),
        scenario.duration
    ));
    let wanted = Wanted {
        seed: options.seed,
        series: options.series,
        checkpoints: options.checkpoints.clone(),
        start_jitter: Duration::ZERO,
        pcap: args.pcap.clone().map(|file| (file, args.pcap_at)),
    };
    let ran = machine
        .run(scenario, wanted)
        .map_err(|e| Failure::new(format!("{}: {e}", args.scenario.display())))?;
    if let Some(file) = &args.pcap {
        talk(format_args!("captured {}", file.display()));
    }
    Ok(ran)
}

/// What there is to say of a run on a machine.
pub(super) fn remarks(facts: &Facts, out: &mut Output) -> Result<(), Failure> {
    out.line("")?;
    out.paragraph(0, &format!("The emulator {}.", facts.verdict))?;
    for note in &facts.notes {
        out.point(note)?;
    }
    Ok(())
}
