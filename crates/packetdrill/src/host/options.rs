//! Options of sockets and descriptors.

use super::{Host, Returned, Role};
use crate::connection::Connection;
use crate::script::{Call, Expression};
use bentpipe_tcp::ConnectionState;
use bentpipe_units::Time;

impl Host {
    pub(super) fn control(
        &mut self,
        fd: i64,
        command: &Expression,
        value: &Expression,
    ) -> Returned {
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        match command.name() {
            Some("F_GETFL") => Returned::Value(match socket.options.non_blocking {
                true => 0o4002,
                false => 2,
            }),
            Some("F_SETFL") => {
                socket.options.non_blocking = value.has("O_NONBLOCK");
                Returned::Value(0)
            }
            _ => Returned::NotModelled("a command of `fcntl`".to_owned()),
        }
    }

    pub(super) fn ioctl(&mut self, fd: i64, request: &Expression, value: &Expression) -> Returned {
        let Some((connection, _)) = self.of(fd) else {
            return Returned::NotModelled("`ioctl` without a connection".to_owned());
        };
        let found = match request.name() {
            Some("SIOCINQ" | "FIONREAD") => connection.readable(),
            Some("SIOCOUTQ" | "TIOCOUTQ") => {
                connection.written - connection.endpoint.acknowledged().get()
            }
            _ => return Returned::NotModelled("a request of `ioctl`".to_owned()),
        };
        given(value, i64::try_from(found).unwrap_or(i64::MAX))
    }

    pub(super) fn set_option(&mut self, now: Time, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let Some(option) = argument(2).name().map(str::to_owned) else {
            return Returned::NotModelled("a socket option without a name".to_owned());
        };
        let number = argument(3).integer();
        let on = number.unwrap_or(0) != 0;
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        match option.as_str() {
            "SO_REUSEADDR" | "SO_REUSEPORT" | "SO_PRIORITY" | "SO_KEEPALIVE" | "IP_TOS"
            | "IP_MTU_DISCOVER" | "IPV6_TCLASS" => {}
            "TCP_NODELAY" => socket.options.no_delay = on,
            "TCP_CORK" => socket.options.cork = on,
            "TCP_MAXSEG" => {
                let Some(mss) = number.and_then(|n| u16::try_from(n).ok()) else {
                    return Returned::Error("EINVAL");
                };
                if matches!(socket.role, Role::Connection(_)) {
                    return Returned::NotModelled("`TCP_MAXSEG` on an open connection".to_owned());
                }
                socket.options.max_segment = Some(mss);
            }
            "SO_SNDBUF" => {
                let asked = number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
                socket.options.send_buffer = Some((2 * asked).max(4608));
            }
            "TCP_CONGESTION" => {
                let name = match argument(3) {
                    Expression::Text(name) => name.clone(),
                    Expression::List(items) => match items.first() {
                        Some(Expression::Text(name)) => name.clone(),
                        _ => String::new(),
                    },
                    _ => String::new(),
                };
                if matches!(socket.role, Role::Connection(_)) {
                    return Returned::NotModelled(
                        "`TCP_CONGESTION` on an open connection".to_owned(),
                    );
                }
                socket.options.congestion_control = Some(name);
            }
            name => return Returned::NotModelled(format!("the socket option `{name}`")),
        }
        let options = socket.options.clone();
        if let Role::Listens(_) = socket.role {
            self.listening = Some(options.clone());
        }
        if let Some((connection, _)) = self.of(fd) {
            connection.holding.no_delay = options.no_delay;
            connection.holding.cork = options.cork;
            // Both send what was held back at once.
            let sends = (option == "TCP_NODELAY" && on) || (option == "TCP_CORK" && !on);
            if sends && connection.is_open() {
                let mut holding = connection.holding;
                holding.no_delay = true;
                holding.cork &= option != "TCP_NODELAY";
                connection.hold(now, holding);
            }
        }
        Returned::Value(0)
    }

    pub(super) fn get_option(&mut self, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let Some(socket) = self.sockets.get(&fd) else {
            return Returned::Error("EBADF");
        };
        let connection = match socket.role {
            Role::Connection(index) => self.connections.get(index),
            _ => None,
        };
        let options = &socket.options;
        let found = match argument(2).name() {
            Some("TCP_MAXSEG") => match connection {
                Some(connection) => i64::from(connection.wire.mss),
                None => i64::from(options.max_segment.unwrap_or(536)),
            },
            Some("SO_ERROR") => match connection.map(Connection::state) {
                Some(ConnectionState::Reset) => {
                    return Returned::NotModelled("the error of a reset connection".to_owned());
                }
                _ => 0,
            },
            Some("SO_SNDBUF") if options.send_buffer.is_some() => {
                i64::try_from(options.send_buffer.unwrap_or(0)).unwrap_or(i64::MAX)
            }
            Some("TCP_NODELAY") => i64::from(options.no_delay),
            Some("TCP_CORK") => i64::from(options.cork),
            Some(name) => {
                return Returned::NotModelled(format!("reading the socket option `{name}`"));
            }
            None => return Returned::NotModelled("a socket option without a name".to_owned()),
        };
        given(argument(3), found)
    }
}

/// A call that gave `found`, where the script expects `expected`.
fn given(expected: &Expression, found: i64) -> Returned {
    match expected.integer() {
        Some(number) if number != found => {
            Returned::Otherwise(format!("[{number}]"), format!("[{found}]"))
        }
        _ => Returned::Value(0),
    }
}
