//! Applications in which `to` asks and `from` answers, one exchange after the
//! other: each is a state machine that says what is asked for and when.

use crate::Application;
use crate::web::{Pages, PagesReport};
use bentpipe_units::{Bytes, Duration, Time};

/// What is sent for one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes of the request.
    pub request: Bytes,
    /// Bytes of the response.
    pub response: Bytes,
}

/// What follows a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next request goes out then.
    At(Time),
    /// It was the last.
    Done,
}

/// The side that asks. Its owner calls [`Requester::request`] at the start of
/// the flow, sends what that returns, calls [`Requester::responded`] when the
/// response has arrived in whole, and asks again at the time that it returns.
#[derive(Clone, Debug)]
pub enum Requester {
    /// Exchanges of one size.
    Fixed(Fixed),
    /// A reader of pages.
    Pages(Box<Pages>),
}

/// What the side that asks has experienced, beyond what connections count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientReport {
    /// Nothing.
    None,
    /// The pages of a reader.
    Pages(PagesReport),
}

impl Requester {
    /// The side that asks of the flow called `name` in the run with seed
    /// `seed`; `None` for applications that do not ask.
    #[must_use]
    pub fn new(application: &Application, seed: u64, name: &str) -> Option<Requester> {
        match application {
            Application::RequestResponse {
                request,
                response,
                count,
                think_time,
            } => Some(Requester::Fixed(Fixed {
                exchange: Exchange {
                    request: *request,
                    response: *response,
                },
                left: *count,
                think_time: *think_time,
            })),
            Application::Web(settings) => {
                let pages = Pages::new(settings, seed, name);
                Some(Requester::Pages(Box::new(pages)))
            }
            Application::Transfer { .. }
            | Application::Persistent
            | Application::ConstantRate { .. }
            | Application::OnOff { .. } => None,
        }
    }

    /// What is asked for at `now`.
    pub fn request(&mut self, now: Time) -> Exchange {
        match self {
            Requester::Fixed(fixed) => fixed.exchange,
            Requester::Pages(pages) => pages.request(now),
        }
    }

    /// The response has arrived in whole at `now`.
    pub fn responded(&mut self, now: Time) -> Next {
        match self {
            Requester::Fixed(fixed) => fixed.responded(now),
            Requester::Pages(pages) => pages.responded(now),
        }
    }

    /// What has been experienced by `now`.
    #[must_use]
    pub fn report(&self, _now: Time) -> ClientReport {
        match self {
            Requester::Fixed(_) => ClientReport::None,
            Requester::Pages(pages) => ClientReport::Pages(pages.report()),
        }
    }
}

/// Exchanges of one size with a pause between them.
#[derive(Clone, Debug)]
pub struct Fixed {
    exchange: Exchange,
    left: u32,
    think_time: Duration,
}

impl Fixed {
    fn responded(&mut self, now: Time) -> Next {
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => Next::Done,
            _ => Next::At(now + self.think_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lies_between_exchanges_and_none_after_the_last() {
        let application = Application::RequestResponse {
            request: Bytes::new(100),
            response: Bytes::new(9000),
            count: 2,
            think_time: Duration::from_secs(1),
        };
        let mut requester = Requester::new(&application, 1, "f").unwrap();
        let now = Time::from_nanos(5);
        assert_eq!(requester.request(now).response, Bytes::new(9000));
        let next = now + Duration::from_secs(1);
        assert_eq!(requester.responded(now), Next::At(next));
        assert_eq!(requester.responded(next), Next::Done);
        assert_eq!(requester.report(next), ClientReport::None);
        assert!(Requester::new(&Application::Persistent, 1, "f").is_none());
    }
}
