//! Congestion controls from files, in runs.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod c;
mod crates;

use bentpipe_cc::OwnControl;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Document, Scenario};
use bentpipe_sim::{Options, RunError};

/// A download of 3 MB over a lossy geostationary link by the transport `tried`, whose
/// table is `transport`; `control.own` is the control, if there is one.
fn run(transport: &str, own: Option<&OwnControl>) -> Result<Outcome, RunError> {
    let options = Options {
        series: Some(bentpipe_units::Duration::ZERO),
        ..Options::default()
    };
    bentpipe_sim::run(&scenario(transport, own), &options)
}

/// What [`run`] runs.
fn scenario(transport: &str, own: Option<&OwnControl>) -> Scenario {
    let control = own.map_or("", |_| "[control.own]\nfile = \"own\"\n");
    let text = format!(
        "name = \"tried\"\nduration = \"300 s\"\n[node.server]\n[node.client]\n\
         [link.satellite]\nbetween = [\"server\", \"client\"]\nrate = \"10 Mbit/s\"\n\
         round_trip_delay = \"600 ms\"\nqueue = \"200 packets\"\n\
         channel = {{ kind = \"uniform\", packet_error_rate = \"0.2%\" }}\n\
         [transport.tried]\n{transport}\n{control}\
         [flow.download]\nfrom = \"server\"\nto = \"client\"\ntransport = \"tried\"\n\
         application = {{ kind = \"transfer\", size = \"3 MB\" }}\n"
    );
    let mut document = Document::parse("tried.toml", &text).unwrap();
    if let Some(own) = own {
        document.give_control("own", "own", Ok(own.clone()));
    }
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}
