//! Runs of the explorer on this machine: one at a time, beside what the page does otherwise.

use super::{Machine, Wanted};
use crate::doctor::is_root;
use crate::exit::Failure;
use crate::output::Output;
use bentpipe::Run;
use bentpipe_present::outcome::{print_both, title};
use bentpipe_scenario::Scenario;
use bentpipe_sim::Stop;
use bentpipe_units::Duration;
use std::sync::Mutex;
use std::time::Instant;

/// Held while a run goes on: two would disturb each other.
static ONE: Mutex<()> = Mutex::new(());

/// How often a run is looked after.
const EVERY: std::time::Duration = std::time::Duration::from_millis(200);

/// What such runs lack here; `None` if nothing.
pub(crate) fn lacking() -> Option<String> {
    let machine = Machine::beside_others();
    if let Some(failure) = machine.err() {
        return Some(failure.text());
    }
    if !is_root() {
        return Some(
            "runs on this machine's own TCP need root: `sudo bentpipe explore`".to_owned(),
        );
    }
    let has_tun = std::path::Path::new("/dev/net/tun").exists();
    (!has_tun).then(|| "this machine has no /dev/net/tun, which an emulated link needs".to_owned())
}

/// Runs a scenario in the simulator and on this machine, and prints both as
/// `bentpipe run --on both` does.
pub(crate) fn both(
    scenario: &Scenario,
    seed: u64,
    stop: &Stop,
    progress: &dyn Fn(f64),
    out: &mut Output,
) -> Result<(), Failure> {
    if let Some(why) = lacking() {
        return Err(Failure::new(why));
    }
    let Ok(_one) = ONE.try_lock() else {
        return Err(Failure::new(
            "another run on this machine goes on; stop it or wait",
        ));
    };
    let machine = Machine::beside_others()?;
    let refused = machine.refusals(scenario);
    if !refused.is_empty() {
        let text = format!("this cannot run on Linux:\n  {}", refused.join("\n  "));
        return Err(Failure::new(text));
    }
    let twin = machine.as_run_on_linux(scenario);
    let simulated = Run::new(&twin).seed(seed).stop(stop.clone()).execute()?;
    let wanted = Wanted {
        seed,
        series: None,
        checkpoints: Vec::new(),
        start_jitter: Duration::ZERO,
        pcap: None,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the progress of a run in real time"
    )]
    let began = Instant::now();
    let ran = std::thread::scope(|scope| {
        let run = scope.spawn(|| machine.run(scenario, wanted));
        while !run.is_finished() {
            if stop.is_stopped() {
                machine.stop();
            }
            progress(began.elapsed().as_secs_f64());
            std::thread::sleep(EVERY);
        }
        run.join()
    });
    let ran = match ran {
        Ok(ran) => ran.map_err(Failure::new)?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    title(&ran.outcome, Some(&ran.facts.kernel), scenario, out)?;
    print_both(&twin, &simulated, &ran.outcome, &ran.facts.ran, out)?;
    super::run::remarks(&ran.facts, out)
}
