//! What a transport over QUIC runs: the settings of its endpoints, and the controls that it cannot;
//! and the handshake of TLS that one over TCP has.

use bentpipe_quic::session::{Ciphers as Protection, Flights, Resumption as Ticket};
use bentpipe_quic::{Pacing, Settings};
use bentpipe_tcp::{Ciphers, Resumption, Transport};

/// The settings of the endpoints of a QUIC connection with this transport.
#[must_use]
pub fn quic_settings(transport: &Transport) -> Settings {
    let quic = transport.quic;
    let pacing = match quic.and_then(|quic| quic.pacing) {
        None => Pacing::Quinn,
        Some(bentpipe_tcp::Pacing::Off) => Pacing::Off,
        Some(bentpipe_tcp::Pacing::Window { gain, .. }) => Pacing::Window(gain),
    };
    let mtu = quic.and_then(|quic| quic.mtu);
    let defaults = Settings::default();
    Settings {
        mtu: mtu.map(|mtu| u16::try_from(mtu).unwrap_or(u16::MAX)),
        initial_window: transport.initial_window,
        initial_ssthresh: transport.initial_ssthresh,
        pacing,
        batch: if quic.is_some_and(|quic| quic.batches) {
            defaults.batch
        } else {
            1
        },
        acks: quic.and_then(|quic| quic.acks),
        send_window: transport.send_buffer,
        receive_window: transport.receive_buffer,
        initial_receive_window: quic.and_then(|quic| quic.initial_receive_window),
        ecn: transport.ecn,
        resumption: ticket(quic.map(|quic| quic.resumption).unwrap_or_default()),
        ciphers: match quic.map(|quic| quic.ciphers).unwrap_or_default() {
            Ciphers::None => Protection::None,
            Ciphers::Tls => Protection::Tls,
        },
        ..defaults
    }
}

/// What the handshake of TLS takes that this transport has between TCP and the data, if it has one.
#[must_use]
pub fn tls_flights(transport: &Transport) -> Option<Flights> {
    let resumption = ticket(transport.tls?);
    Some(Flights::new(resumption, Settings::default().lengths))
}

fn ticket(resumption: Resumption) -> Ticket {
    match resumption {
        Resumption::None => Ticket::None,
        Resumption::OneRtt => Ticket::OneRtt,
        Resumption::ZeroRtt => Ticket::ZeroRtt,
    }
}

/// Why QUIC cannot carry the congestion control of `transport`, as a sentence; `None` where it can,
/// and for a control that cannot be built at all.
#[must_use]
pub fn refused_over_quic(transport: &Transport) -> Option<String> {
    let control = transport.controller().ok()?;
    let name = control.name().to_owned();
    if control.needs_path() {
        let needs = "needs the rate of the link, which nobody tells a QUIC connection";
        return Some(format!("`{name}` {needs}"));
    }
    bentpipe_quic::controller::refused(&name, control).map(|refusal| refusal.to_string())
}
