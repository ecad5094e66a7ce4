//! `poll`: which descriptors are ready.

use super::{Host, Returned, Role};
use crate::script::{Call, Expression};
use bentpipe_tcp::ConnectionState;

/// Events that are known here.
const EVENTS: [&str; 6] = [
    "POLLIN",
    "POLLOUT",
    "POLLRDHUP",
    "POLLHUP",
    "POLLERR",
    "POLLPRI",
];

/// Events that come unasked.
const UNASKED: [&str; 2] = ["POLLHUP", "POLLERR"];

impl Host {
    /// `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 0) = 1`.
    pub(super) fn poll(&self, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let Expression::List(items) = argument(0) else {
            return Returned::NotModelled("`poll` of no list".to_owned());
        };
        let mut ready = 0;
        for item in items {
            let Some(fd) = field(item, "fd").and_then(Expression::integer) else {
                return Returned::NotModelled("`poll` without a descriptor".to_owned());
            };
            let (events, revents) = (field(item, "events"), field(item, "revents"));
            let happened: Vec<&str> = (self.events_of(fd).into_iter())
                .filter(|name| {
                    UNASKED.contains(name) || events.is_some_and(|events| events.has(name))
                })
                .collect();
            ready += i64::from(!happened.is_empty());
            let expected: Option<Vec<&str>> = revents.map(|revents| {
                let known = EVENTS.into_iter();
                known.filter(|name| revents.has(name)).collect()
            });
            if let Some(expected) = expected
                && expected != happened
                && !happened.is_empty()
            {
                return Returned::Otherwise(shown(&expected), shown(&happened));
            }
        }
        match (ready, argument(2).integer()) {
            // A timeout of zero looks and returns.
            (0, Some(timeout)) if timeout != 0 => Returned::Blocks,
            _ => Returned::Value(ready),
        }
    }

    /// What has happened at a descriptor, in the order of the table above.
    fn events_of(&self, fd: i64) -> Vec<&'static str> {
        let Some(socket) = self.sockets.get(&fd) else {
            return Vec::new();
        };
        let connection = match &socket.role {
            Role::Fresh => return vec!["POLLOUT", "POLLHUP"],
            Role::Listens(queue) if queue.is_empty() => return Vec::new(),
            Role::Listens(_) => return vec!["POLLIN"],
            Role::Connection(index) => self.connections.get(*index),
        };
        let Some(connection) = connection else {
            return Vec::new();
        };
        let state = connection.state();
        let reset = state == ConnectionState::Reset;
        let over = connection.endpoint.is_finished() || connection.is_deaf;
        let both = over && connection.is_shut;
        let opens = state == ConnectionState::SynSent;
        let happened = [
            ("POLLIN", connection.readable() > 0 || over || reset),
            ("POLLOUT", !opens),
            ("POLLRDHUP", over || reset),
            ("POLLHUP", both || reset),
            ("POLLERR", reset),
        ];
        let happened = happened.into_iter().filter(|(_, yes)| *yes);
        happened.map(|(name, _)| name).collect()
    }
}

/// A field of a struct.
fn field<'a>(item: &'a Expression, wanted: &str) -> Option<&'a Expression> {
    let Expression::Struct(fields) = item else {
        return None;
    };
    fields.iter().find_map(|field| match field {
        Expression::Field(name, value) if name.name() == Some(wanted) => Some(&**value),
        _ => None,
    })
}

fn shown(events: &[&str]) -> String {
    match events.is_empty() {
        true => "revents=0".to_owned(),
        false => format!("revents={}", events.join("|")),
    }
}
