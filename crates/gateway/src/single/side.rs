//! The socket of a connection that leads to the satellite, and its options.

use crate::config::{Config, RateSource};
use crate::relay::{Buffers, Dialer, guard};
use socket2::{Domain, SockRef, Socket, Type};
use std::io;
use std::os::fd::AsFd;

/// The side of the satellite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Satellite {
    /// True if clients are beyond the satellite, false if servers are.
    toward_clients: bool,
    /// Congestion control of the kernel; `None` where the system has not got what
    /// is configured.
    control: Option<String>,
    buffers: Buffers,
}

impl Satellite {
    /// Connections that arrive at an interface of the link come over it; all
    /// others leave over it.
    pub(super) fn of(config: &Config) -> Satellite {
        let arrive = config.intercept.iter().flat_map(|it| &it.interfaces);
        let toward_clients = arrive
            .into_iter()
            .any(|name| config.link.interfaces.contains(name));
        let buffers = match config.link.rate {
            // The kernel's own sizing follows what it measures.
            RateSource::Measured => Buffers::default(),
            RateSource::Fixed(_) | RateSource::File { .. } => {
                Buffers::for_product(usize::try_from(config.link.product()).unwrap_or(usize::MAX))
            }
        };
        let control = &config.link.transport;
        Satellite {
            toward_clients,
            control: has(control).then(|| control.clone()),
            buffers,
        }
    }
}

/// Whether the kernel has a congestion control, or loads it.
fn has(control: &str) -> bool {
    let set = Socket::new(Domain::IPV4, Type::STREAM, None)
        .and_then(|socket| socket.set_tcp_congestion(control.as_bytes()));
    if let Err(error) = &set {
        tracing::error!(
            control,
            %error,
            "the kernel does not have the congestion control of `[link] transport`: \
             the system's own is used; `bentpipe kernel load` loads those of the project"
        );
    }
    set.is_ok()
}

/// Gives a listening socket what the connections that it accepts inherit.
pub(super) fn prepare(listener: &impl AsFd, satellite: &Satellite) -> io::Result<()> {
    guard(listener)?;
    if satellite.toward_clients {
        if let Some(control) = &satellite.control {
            SockRef::from(listener).set_tcp_congestion(control.as_bytes())?;
        }
        satellite.buffers.apply(listener)?;
    }
    Ok(())
}

/// How connections to servers are made.
pub(super) fn dialer(satellite: &Satellite) -> Dialer {
    let mut dialer = Dialer {
        // With the client's port as well, both connections would have the same
        // addresses and ports, and connection tracking would take them for one:
        // address translation would not be applied to it, and firewalls would
        // drop its packets as invalid.
        keep_port: false,
        ..Dialer::default()
    };
    if !satellite.toward_clients {
        dialer.control.clone_from(&satellite.control);
        dialer.buffers = satellite.buffers;
    }
    dialer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    fn satellite(intercept: &str) -> Satellite {
        let text = format!(
            "role = \"single\"\n[link]\nrate = \"20 Mbit/s\"\nrtt = \"550 ms\"\n\
             transport = \"reno\"\ninterfaces = [\"sat0\"]\n[intercept]\n{intercept}"
        );
        Satellite::of(&config_from_str(&text).unwrap())
    }

    #[test]
    fn the_side_follows_from_the_interfaces() {
        let ship = satellite("interfaces = [\"lan0\"]");
        assert!(!ship.toward_clients);
        let dialer_of_ship = dialer(&ship);
        assert_eq!(dialer_of_ship.control.as_deref(), Some("reno"));
        // Twice 20 Mbit/s times 550 ms.
        assert_eq!(dialer_of_ship.buffers.send, Some(2_750_000));

        let teleport = satellite("interfaces = [\"sat0\"]");
        assert!(teleport.toward_clients);
        let dialer_of_teleport = dialer(&teleport);
        assert_eq!(dialer_of_teleport.control, None);
        assert_eq!(dialer_of_teleport.buffers, Buffers::default());
    }

    #[test]
    fn connections_inherit_what_their_listener_got() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let teleport = satellite("interfaces = [\"sat0\"]");
        prepare(&listener, &teleport).unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let accepted = SockRef::from(&accepted);
        let control = accepted.tcp_congestion().unwrap();
        assert!(control.starts_with(b"reno\0"));
        assert_eq!(accepted.linger().unwrap(), Some(std::time::Duration::ZERO));
        assert!(accepted.tcp_nodelay().unwrap());
        drop(client);
    }

    #[test]
    fn a_control_that_the_kernel_has_not_got_is_left_out() {
        assert!(!has("no_such_control"));
        assert!(has("reno"));
    }
}
