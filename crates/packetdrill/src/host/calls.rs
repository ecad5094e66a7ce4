//! System calls that make connections, and that write and read.

use super::{Host, Options, Returned, Role, Socket};
use crate::connection::Connection;
use crate::script::{Call, Expression};
use bentpipe_tcp::ConnectionState;
use bentpipe_units::Time;

/// Bytes in a send buffer at most.
const MOST_WRITTEN: u64 = 64 << 20;

impl Host {
    pub(super) fn socket(&mut self, call: &Call, kind: &Expression) -> Returned {
        if kind.name() != Some("SOCK_STREAM") && !kind.has("SOCK_STREAM") {
            return Returned::NotModelled("sockets of other protocols than TCP".to_owned());
        }
        let Some(fd) = call.returns.integer().filter(|fd| *fd >= 0) else {
            return Returned::NotModelled("a socket that cannot be made".to_owned());
        };
        let socket = Socket {
            role: Role::Fresh,
            options: Options {
                non_blocking: kind.has("SOCK_NONBLOCK"),
                ..Options::default()
            },
        };
        self.sockets.insert(fd, socket);
        // Descriptors are the script's own.
        Returned::Value(fd)
    }

    pub(super) fn accept(&mut self, fd: i64, call: &Call) -> Returned {
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        let mut options = socket.options.clone();
        let Role::Listens(queue) = &mut socket.role else {
            return Returned::Error("EINVAL");
        };
        let Some(index) = queue.pop_front() else {
            return match options.non_blocking {
                true => Returned::Error("EAGAIN"),
                false => Returned::Blocks,
            };
        };
        let Some(new) = call.returns.integer().filter(|fd| *fd >= 0) else {
            let expected = call.error.clone().unwrap_or_default();
            return Returned::Otherwise(expected, "a connection".to_owned());
        };
        options.non_blocking = call.arguments.iter().any(|a| a.has("SOCK_NONBLOCK"));
        if let Some(connection) = self.connections.get_mut(index) {
            connection.holding.no_delay = options.no_delay;
        }
        let socket = Socket {
            role: Role::Connection(index),
            options,
        };
        self.sockets.insert(new, socket);
        self.under_test = Some(index);
        Returned::Value(new)
    }

    pub(super) fn connect(&mut self, now: Time, fd: i64, waits: bool) -> Returned {
        let Some(socket) = self.sockets.get(&fd) else {
            return Returned::Error("EBADF");
        };
        let options = socket.options.clone();
        if let Role::Connection(index) = socket.role {
            let connection = &self.connections[index];
            return match connection.state() {
                ConnectionState::SynSent if waits => Returned::Blocks,
                ConnectionState::SynSent => Returned::Error("EALREADY"),
                ConnectionState::Reset => Returned::Error("ECONNREFUSED"),
                _ if waits || options.non_blocking => Returned::Value(0),
                _ => Returned::Error("EISCONN"),
            };
        }
        let offers = self.offers(&options);
        let mut wire = self.wire(&options, &offers, &offers);
        wire.mss = u32::from(Host::announced_mss(&options));
        let transport = match self.transport(&options, &wire) {
            Ok(transport) => transport,
            Err(reason) => return Returned::NotModelled(reason),
        };
        let mut connection = match Connection::connect(&transport, wire, offers, now) {
            Ok(connection) => connection,
            Err(error) => return Returned::NotModelled(error.to_string()),
        };
        connection.holding.no_delay = options.no_delay;
        connection.holding.cork = options.cork;
        let index = self.add(connection, true);
        if let Some(socket) = self.sockets.get_mut(&fd) {
            socket.role = Role::Connection(index);
        }
        match options.non_blocking {
            true => Returned::Error("EINPROGRESS"),
            false => Returned::Blocks,
        }
    }

    /// The connection of a descriptor, and its options.
    pub(super) fn of(&mut self, fd: i64) -> Option<(&mut Connection, &Options)> {
        let socket = self.sockets.get(&fd)?;
        let Role::Connection(index) = socket.role else {
            return None;
        };
        Some((self.connections.get_mut(index)?, &socket.options))
    }

    pub(super) fn write(&mut self, now: Time, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let (bytes, more) = if call.name == "sendmsg" {
            (vector_bytes(argument(1)), argument(2))
        } else {
            (argument(2).integer(), argument(3))
        };
        let unknown = ["MSG_FASTOPEN", "MSG_ZEROCOPY", "MSG_EOR", "MSG_OOB"];
        if let Some(flag) = unknown.iter().find(|flag| more.has(flag)) {
            return Returned::NotModelled(format!("the flag `{flag}`"));
        }
        if call.name == "sendmsg" && has_control(argument(1)) {
            return Returned::NotModelled("control messages of `sendmsg`".to_owned());
        }
        let more = more.has("MSG_MORE");
        let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Returned::NotModelled("a write of no known length".to_owned());
        };
        let Some((connection, options)) = self.of(fd) else {
            return Returned::Error("EPIPE");
        };
        if connection.is_shut || connection.state() == ConnectionState::Reset {
            return Returned::Error("EPIPE");
        }
        if connection.state() == ConnectionState::SynSent {
            return match options.non_blocking {
                true => Returned::Error("EAGAIN"),
                false => Returned::NotModelled("a write before the handshake ends".to_owned()),
            };
        }
        let queued = connection.written - connection.endpoint.acknowledged().get();
        if options
            .send_buffer
            .is_some_and(|size| queued.saturating_add(bytes) > size)
        {
            return Returned::NotModelled(
                "a write that waits for room in the send buffer".to_owned(),
            );
        }
        if queued.saturating_add(bytes) > MOST_WRITTEN {
            return Returned::NotModelled("more than 64 MB in a send buffer".to_owned());
        }
        connection.write(now, bytes, more);
        Returned::Value(i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    pub(super) fn read(&mut self, fd: i64, bytes: &Expression) -> Returned {
        let Some(bytes) = bytes.integer().and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Returned::NotModelled("a read of no known length".to_owned());
        };
        let Some((connection, options)) = self.of(fd) else {
            return Returned::Error("ENOTCONN");
        };
        let taken = connection.read(bytes);
        if taken > 0 || bytes == 0 || connection.endpoint.is_finished() || connection.is_deaf {
            return Returned::Value(i64::try_from(taken).unwrap_or(i64::MAX));
        }
        match (connection.state(), options.non_blocking) {
            (ConnectionState::Reset, _) => Returned::Error("ECONNRESET"),
            (_, true) => Returned::Error("EAGAIN"),
            (_, false) => Returned::Blocks,
        }
    }

    pub(super) fn shutdown(&mut self, now: Time, fd: i64, how: &Expression) -> Returned {
        let Some((connection, _)) = self.of(fd) else {
            return Returned::Error("ENOTCONN");
        };
        match how.name() {
            Some("SHUT_RD") => connection.is_deaf = true,
            Some("SHUT_WR") => connection.shut(now),
            Some("SHUT_RDWR") => {
                connection.is_deaf = true;
                connection.shut(now);
            }
            _ => return Returned::Error("EINVAL"),
        }
        Returned::Value(0)
    }

    pub(super) fn close(&mut self, now: Time, fd: i64) -> Returned {
        let Some(socket) = self.sockets.remove(&fd) else {
            return Returned::Error("EBADF");
        };
        match socket.role {
            Role::Fresh => {}
            Role::Listens(_) => {
                self.listening = None;
            }
            Role::Connection(index) => {
                if let Some(connection) = self.connections.get_mut(index) {
                    connection.close(now);
                }
            }
        }
        Returned::Value(0)
    }
}

/// Bytes of the vectors in a message.
fn vector_bytes(message: &Expression) -> Option<i64> {
    let Expression::Struct(fields) = message else {
        return None;
    };
    let vectors = fields.iter().find_map(|field| match field {
        Expression::Field(name, value) => match (&**name, &**value) {
            (Expression::Apply(name, _), Expression::List(items)) if name == "msg_iov" => {
                Some(items)
            }
            _ => None,
        },
        _ => None,
    })?;
    let length = |vector: &Expression| match vector {
        Expression::Struct(parts) => parts.get(1)?.integer(),
        _ => None,
    };
    vectors
        .iter()
        .map(length)
        .try_fold(0i64, |sum, n| sum.checked_add(n?))
}

fn has_control(message: &Expression) -> bool {
    let Expression::Struct(fields) = message else {
        return false;
    };
    fields.iter().any(|field| match field {
        Expression::Field(name, _) => match &**name {
            Expression::Name(name) | Expression::Apply(name, _) => name == "msg_control",
            _ => false,
        },
        _ => false,
    })
}
