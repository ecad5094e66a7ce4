//! A link by flags, without a file: that of `bentpipe compare`.

use crate::args::{self, Pep, QueueLength};
use crate::compare::setup::Path;
use crate::exit::Failure;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::find_transport;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// The scenario that the flags describe.
pub(super) fn scenario(args: &args::Emulate) -> Result<Scenario, Failure> {
    let rate = args.rate.unwrap_or(Rate::from_mbps(10));
    let path = Path {
        rate,
        return_rate: args
            .return_rate
            .unwrap_or_else(|| Rate::from_bps((rate.bps() / 5).max(1))),
        rtt: args.rtt.unwrap_or(Duration::from_millis(600)),
        size: Bytes::new(10_000_000),
        loss: args
            .loss
            .unwrap_or(Ratio::new(0.001).unwrap_or(Ratio::ZERO)),
        queue: args.queue.unwrap_or(QueueLength::Bdp(1.0)),
        server_rtt: None,
        pep: Pep::None,
        orbit: None,
    };
    path.check()?;
    // Which transport does not matter: programs bring their own.
    let cubic = find_transport("cubic").map(|t| t.transport());
    let cubic = cubic.ok_or_else(|| Failure::new("there is no transport `cubic`"))?;
    Ok(Scenario {
        name: format!("a link of {}, {}", path.rate, path.rtt),
        description: String::new(),
        ..path.scenario(&[&cubic])
    })
}
