//! Transports that run over QUIC: what QUIC does not have or cannot carry.

use crate::quic::refused_over_quic;
use crate::schema::transport::TransportTable;
use bentpipe_document::{Diagnostic, OneNamed, Place, Reported};
use bentpipe_quic::SMALLEST_PAYLOAD;
use bentpipe_tcp::{Ciphers, CongestionControlChoice, NOT_OF_QUIC, Resumption, TransportSettings};

/// Payload of UDP in a packet at most, bytes: an IP packet has 65,535.
const LARGEST_PAYLOAD: u32 = 65_000;

/// Keys that TCP does not have.
const OF_QUIC_ALONE: [&str; 4] = ["resumption", "opener", "ciphers", "initial_receive_window"];

/// Reports what only QUIC has, in a transport that runs TCP.
pub(super) fn unneeded(
    table: &TransportTable,
    settings: &TransportSettings,
) -> Result<(), Reported> {
    let context = &table.context;
    let given = OF_QUIC_ALONE
        .iter()
        .filter(|key| **key != "resumption" || settings.tls != Some(true))
        .find_map(|key| Some((key, context.table.get(key)?)));
    let Some((key, entry)) = given else {
        return Ok(());
    };
    let (of, add) = match *key {
        "resumption" => ("QUIC and TLS", "`protocol = \"quic\"` or `tls = true`"),
        _ => ("QUIC", "`protocol = \"quic\"`"),
    };
    let what = &context.what;
    let message = format!("`{key}` is a setting of {of}, and {what} runs TCP");
    let error = Diagnostic::new(entry.key_place, message).label("not used");
    Err(context.report(error.help(format!("add {add}, or remove the key"))))
}

/// Reports what QUIC does not have or cannot carry.
pub(super) fn check(
    one: &OneNamed<TransportTable>,
    table: &TransportTable,
    settings: &TransportSettings,
) -> Result<(), Reported> {
    let context = &table.context;
    let refuse = |place: Place, message: String, label: &str, help: &str| {
        let error = Diagnostic::new(place, message).label(label.to_owned());
        Err(context.report(error.help(help.to_owned())))
    };
    let given = NOT_OF_QUIC
        .iter()
        .find_map(|key| Some((key, context.table.get(key)?)));
    if let Some((key, entry)) = given {
        let message = format!(
            "`{key}` is a setting of TCP, and {} runs QUIC",
            context.what
        );
        return refuse(entry.key_place, message, "not used", "remove the key");
    }
    if settings.ciphers == Some(Ciphers::Tls) {
        let resumes = settings.resumption.is_some_and(|it| it != Resumption::None);
        let at = |key| context.table.get(key).map(|entry| entry.key_place);
        let place = at("ciphers").unwrap_or(context.at);
        if !bentpipe_quic::HAS_TLS {
            let message = "this build has no ciphers for QUIC".to_owned();
            let help = "build bentpipe with the feature `tls`, or remove the key: times and lengths are the same";
            return refuse(place, message, "needs them", help);
        }
        if resumes {
            let message =
                "with `ciphers = \"tls\"` there is no earlier connection to resume".to_owned();
            let place = at("resumption").unwrap_or(place);
            return refuse(place, message, "resumes one", "remove one of the two keys");
        }
    }
    let ack = table.delayed_ack.as_ref().map_err(|reported| *reported)?;
    if let Some(quick) = ack.as_ref().and_then(|ack| {
        let quick = ack.value.quick_acks.as_ref().ok()?.as_ref()?;
        Some(quick.place)
    }) {
        let message = format!(
            "`quick_acks` is a setting of TCP, and {} runs QUIC",
            context.what
        );
        return refuse(quick, message, "not used", "remove the key");
    }
    let place_of = |key: &str| context.table.get(key).map_or(one.place, |e| e.item.place);
    match settings.mss {
        Some(mss) if mss < u32::from(SMALLEST_PAYLOAD) => {
            let message = "a QUIC packet has 1200 bytes of UDP payload or more".to_owned();
            let help = "RFC 9000, section 14: every path carries them";
            return refuse(place_of("mss"), message, "expected `1200 B` or more", help);
        }
        Some(mss) if mss > LARGEST_PAYLOAD => {
            let message = "a UDP datagram has no room for such a QUIC packet".to_owned();
            let help = "an Ethernet frame carries `1472 B`";
            return refuse(place_of("mss"), message, "expected `65000 B` or less", help);
        }
        _ => {}
    }
    let transport = settings.clone().resolve(&one.name);
    if transport.congestion_control == CongestionControlChoice::Ideal {
        let message = "the ideal bound is one of TCP".to_owned();
        let help = "choose a congestion control";
        return refuse(place_of("base"), message, "has no packets of QUIC", help);
    }
    match refused_over_quic(&transport) {
        None => Ok(()),
        Some(message) => {
            let place = match context.has("congestion_control") {
                true => place_of("congestion_control"),
                false => place_of("base"),
            };
            let help = "QUIC runs `newreno`, `cubic`, `bbr`, `hybla` and most others";
            refuse(place, message, "cannot run over QUIC", help)
        }
    }
}
