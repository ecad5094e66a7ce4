//! Which transports carry which applications.

use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::{Application, PageConnection};

/// Why a transport cannot carry an application that runs over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The ideal bound knows no pauses.
    Pauses,
    /// The imitated agents of ns-2 know one connection.
    Connections,
}

/// What keeps `transport` from carrying `application`.
pub(crate) fn misfit(transport: &Transport, application: &Application) -> Option<Misfit> {
    let ideal = transport.congestion_control == CongestionControlChoice::Ideal;
    match application {
        Application::OnOff { .. } | Application::Web(_) if ideal => Some(Misfit::Pauses),
        Application::Web(web) => {
            let one_way = transport.profile.rules().stack.is_ns2();
            let several = web.connection == PageConnection::Page;
            (one_way && several).then_some(Misfit::Connections)
        }
        _ => None,
    }
}
