//! Hosts of today: Linux 6, its congestion controls, and those that bentpipe puts
//! into its kernel.

use super::candidate::{Availability, Candidate, DEFAULT};
use super::setting::Setting;
use bentpipe_cc::Described;
use bentpipe_tcp::{Buffers, HostProfile, TransportSettings, find_transport};
use bentpipe_units::Bytes;

/// Window that stock Linux advertises at most.
pub(super) const STOCK_WINDOW: Bytes = Buffers::STOCK_WINDOW;

/// Those that every Linux kernel has without a module.
const BUILT_IN: [&str; 2] = [DEFAULT, "reno"];

/// It answers marks of routers that a satellite link does not have.
const NEEDS_MARKS: &str = "dctcp";

/// What Linux runs that needs nothing but its own modules, and what bentpipe
/// loads into it, without refinements.
pub(super) fn all() -> Vec<Candidate> {
    let mut modules: Vec<&'static Described> = bentpipe_cc::list()
        .filter(|control| control.module.is_some() && !is_ours(control.name))
        .collect();
    modules.sort_by_key(|control| {
        let name = control.module.unwrap_or("");
        (name != DEFAULT, name)
    });
    let modules = modules.into_iter().filter_map(stock);
    let ours = bentpipe_bpf::CONTROLS.iter().filter_map(|control| {
        let about = control.summary.to_owned();
        candidate(control.name, control.name, about, Availability::Kernel)
    });
    let own = bentpipe_cc::own::registered();
    let own = own.iter().filter_map(|control| {
        let name = control.name();
        let about = control.described().summary.to_owned();
        candidate(name, name, about, Availability::Absent)
    });
    modules.chain(ours).chain(own).collect()
}

fn is_ours(name: &str) -> bool {
    bentpipe_bpf::find(name).is_some()
}

fn stock(control: &'static Described) -> Option<Candidate> {
    let name = control.module?;
    let availability = match name {
        DEFAULT => Availability::Default,
        NEEDS_MARKS => Availability::Reference,
        _ => Availability::Module,
    };
    let about = match name {
        DEFAULT => "the default of Linux".to_owned(),
        "bbr" => "BBR version 1, as in Linux; paced".to_owned(),
        _ => control.summary.to_owned(),
    };
    candidate(name, control.name, about, availability)
}

fn candidate(
    name: &str,
    transport: &'static str,
    about: String,
    availability: Availability,
) -> Option<Candidate> {
    let below = find_transport(transport)?.settings();
    let above = TransportSettings {
        profile: Some(HostProfile::Linux),
        send_buffer: Some(Bytes::MAX),
        receive_buffer: Some(STOCK_WINDOW),
        ..TransportSettings::default()
    };
    Some(Candidate {
        name: name.to_owned(),
        setting: Setting::of(name),
        about,
        availability,
        transport: above.over(below).resolve(name),
        base: Some(transport),
        own: None,
        room: None,
        clamp: None,
        preset: Vec::new(),
    })
}

/// The module to load before it can be chosen.
pub(super) fn module(control: &str) -> Option<String> {
    (!BUILT_IN.contains(&control)).then(|| format!("tcp_{control}"))
}
