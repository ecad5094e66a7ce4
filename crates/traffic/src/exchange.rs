//! Exchanges of a request and a response, and the application of equal ones.

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

/// Exchanges of one size with a pause between them.
#[derive(Clone, Debug)]
pub struct Fixed {
    pub(crate) exchange: Exchange,
    pub(crate) left: u32,
    pub(crate) think_time: Duration,
}

impl Fixed {
    pub(crate) fn responded(&mut self, now: Time) -> Next {
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
    use crate::{Application, ClientReport, Requester};

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
