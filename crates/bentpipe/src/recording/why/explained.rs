//! A row of an answer, explained by one of its runs.

use super::facts::{self, Facts};
use super::{End, Part, TimeSpent, Why};
use crate::Error;
use crate::compare::Answer;
use crate::recording::{Detail, Recording};
use bentpipe_units::Bytes;

/// Data packets of a run that is recorded, at most: losses, retransmissions and the load
/// of the link are kept for each.
const MOST_PACKETS: u64 = 5_000_000;

/// Bytes of a data packet, about.
const PACKET: u64 = 1448;

/// One run of a row, and why it took as long as it did.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Explained {
    /// Index into [`Answer::rows`].
    pub row: usize,
    /// Index into [`Answer::sizes`].
    pub size: usize,
    /// What the table calls the row.
    pub name: String,
    /// The run, as one of its users experienced it.
    pub recording: Recording,
    /// What the sender did, in words.
    pub why: Why,
    /// Where the time went; `None` of a bound that is computed.
    pub spent: Option<TimeSpent>,
    /// What was measured over the whole run.
    pub whole: Facts,
}

impl Explained {
    /// What packets waited in queues in a round trip on average: how far the mean RTT lies
    /// above the propagation, seconds. `None` without an RTT sample, and where the
    /// propagation changes.
    #[must_use]
    pub fn queueing_s(&self, answer: &Answer) -> Option<f64> {
        let rtt = self.whole.rtt?;
        let propagation = self.recording.rtt.as_secs();
        answer
            .path
            .profile
            .is_none()
            .then(|| (rtt.mean - propagation).max(0.0))
    }
}

impl Answer {
    /// Runs the typical run of a row again ([`Cell::typical`](crate::compare::Cell::typical))
    /// and explains it; of a row in which no run ended, the first run.
    ///
    /// # Errors
    /// If the run is too long to be recorded or hits a bound, or if it was none of the
    /// simulator.
    pub fn explain(&self, row: usize, size: usize) -> Result<Explained, Error> {
        let cell = self.rows[row].cells.get(size);
        let typical = cell.and_then(|cell| cell.typical());
        let (seed, user) = typical.map_or((self.seed, 0), |(run, user)| (run.seed, user));
        self.explain_run(row, size, (seed, user))
    }

    /// Explains the typical run of the first row, and of the others the run with the same
    /// seed and user: both have the same draws of losses, starts and pages. A row without
    /// such a run that ended is explained by its own typical run.
    ///
    /// # Errors
    /// As [`explain`](Answer::explain).
    pub fn explain_beside(&self, rows: &[usize], size: usize) -> Result<Vec<Explained>, Error> {
        let Some((first, others)) = rows.split_first() else {
            return Ok(Vec::new());
        };
        let first = self.explain(*first, size)?;
        let (seed, user) = (first.recording.seed, first.recording.user);
        let mut explained = vec![first];
        for row in others {
            let runs = self.rows[*row].cells.get(size).map(|cell| &cell.runs);
            let run = runs.into_iter().flatten().find(|run| run.seed == seed);
            let ended = run.is_some_and(|run| {
                let mut own = run.own.iter();
                own.any(|own| own.user == user && own.time_s.is_some())
            });
            explained.push(match ended {
                true => self.explain_run(*row, size, (seed, user))?,
                false => self.explain(*row, size)?,
            });
        }
        Ok(explained)
    }

    /// Runs a row again with this seed, and explains what one user's transport did.
    fn explain_run(
        &self,
        row: usize,
        size: usize,
        (seed, user): (u64, u32),
    ) -> Result<Explained, Error> {
        self.check_recordable(size)?;
        let index = row;
        let row = &self.rows[index];
        let detail = Detail {
            seed: Some(seed),
            user,
            stop: self.stop_of_runs(),
            ..Detail::default()
        };
        let recording = self.record(row, size, &detail)?;
        let why = recording.why(self);
        let spent = recording.time_spent(self);
        let whole = Part {
            phases: Vec::new(),
            from: recording.started_at,
            to: spent.as_ref().map_or(recording.end(), |spent| spent.to),
            first: 0,
            last: recording.series.sender.len(),
            end: End::Cut,
        };
        let whole = facts::of(&recording, self, &whole);
        Ok(Explained {
            row: index,
            size,
            name: self.row_name(row),
            recording,
            why,
            spent,
            whole,
        })
    }

    /// Data packets of a run, about; `size` is an index into [`Answer::sizes`]. Pages and
    /// videos are few.
    #[must_use]
    pub fn packets_of_run(&self, size: usize) -> u64 {
        let bytes = self.sizes.get(size).map_or(0, |size: &Bytes| size.get());
        let users = self.users.max(self.users_shared);
        (bytes / PACKET).saturating_mul(u64::from(users)).max(1)
    }

    /// Refuses what takes too much memory to record.
    ///
    /// # Errors
    /// [`Error::Row`] for runs of more than five million packets, and of others than the
    /// simulator.
    pub fn check_recordable(&self, size: usize) -> Result<(), Error> {
        if !self.is_simulated() {
            return Err(Error::Row(
                "only runs of the simulator can be recorded".to_owned(),
            ));
        }
        match self.packets_of_run(size) > MOST_PACKETS {
            true => Err(Error::Row(
                "a run of so many packets is too long to be recorded; choose a smaller size or \
                 fewer users"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }
}
