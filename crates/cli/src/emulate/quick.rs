//! A link by flags, without a file: that of `bentpipe compare`.

use crate::args;
use crate::exit::Failure;
use bentpipe::compare::{Comparison, Loss};
use bentpipe_scenario::Scenario;
use bentpipe_units::{Duration, Rate};

/// The scenario that the flags describe.
pub(super) fn scenario(args: &args::Emulate) -> Result<Scenario, Failure> {
    let mut comparison = Comparison::new()
        .rate(args.rate.unwrap_or(Rate::from_mbps(10)))
        .rtt(args.rtt.unwrap_or(Duration::from_millis(600)))
        .loss(args.loss.unwrap_or(Loss::NONE))
        .queue(args.queue.unwrap_or_default());
    if let Some(rate) = args.return_rate {
        comparison = comparison.return_rate(rate);
    }
    if let Some(jitter) = &args.jitter {
        comparison = comparison.jitter(jitter.clone());
    }
    let path = comparison.path()?;
    // Which transport does not matter: programs bring their own.
    let cubic = bentpipe::transport("cubic");
    let cubic = cubic.ok_or_else(|| Failure::new("there is no transport `cubic`"))?;
    let mut scenario = path.link(&cubic)?;
    scenario.name = format!("a link of {}, {}", path.rate, path.rtt);
    scenario.description = String::new();
    for link in scenario.links.iter_mut().skip(1) {
        link.name = "return".to_owned();
    }
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use bentpipe_link::ChannelSettings;
    use clap::Parser as _;

    #[test]
    fn nothing_is_lost_unless_it_is_asked_for() {
        let channel = |arguments: &[&str]| {
            let words = [&["bentpipe", "emulate"][..], arguments].concat();
            let Command::Emulate(args) = Cli::parse_from(words).command else {
                panic!("it is `emulate`");
            };
            scenario(&args).unwrap().links[0].settings.channel
        };
        let link = ["--rate", "2 Mbit/s", "--rtt", "511 ms"];
        assert_eq!(channel(&link), ChannelSettings::Perfect);
        let lossy = channel(&[&link[..], &["--loss", "1%"]].concat());
        assert_ne!(lossy, ChannelSettings::Perfect);
    }

    #[test]
    fn both_ways_vary() {
        let words = "bentpipe emulate --rate 2Mbit/s --jitter".split(' ');
        let Command::Emulate(args) = Cli::parse_from(words.chain(["pareto 5 ms"])).command else {
            panic!("it is `emulate`");
        };
        let scenario = scenario(&args).unwrap();
        let jitter = args.jitter.unwrap().settings();
        let expected = Some(&jitter);
        assert!(
            scenario
                .links
                .iter()
                .all(|link| link.jitter.as_deref() == expected)
        );
    }
}
