//! What runs cost: packets that cross links, which `--time` is counted in.

use super::answer::Answer;
use super::candidate::Candidate;
use super::cell::Cell;
use super::loss::PACKET;
use super::pep::Pep;
use super::race::Kind;
use super::result::RunResult;
use super::traffic::{Activity, PAGES};

/// Packets that cross a link in a second of the simulator on two cores, about: what
/// `--time` is counted in.
pub(super) const PACE: f64 = 8e6;

/// Packets that cross links for each data packet: itself, and every second acknowledgement.
const WITH_ACKS: f64 = 1.5;

/// What a packet of QUIC costs beside one of TCP: 13,000 instructions of quinn-proto to 2,300 of
/// the simulator's TCP.
const OF_QUIC: f64 = 6.0;

/// Where so many runs of every row do not fit into the time, readers read fewer pages, until
/// so many do; and the fewest pages: the first one opens the connection.
const TOO_FEW_RUNS: f64 = 4.0;
const RUNS_WITH_FEWER_PAGES: f64 = 9.0;
const FEWEST_PAGES: u32 = 2;

/// Runs of a kind that a row has.
pub(super) fn count(answer: &Answer, row: usize, kind: Kind) -> usize {
    runs_of(&answer.rows[row].cells[0], kind).len()
}

/// The runs of a kind.
pub(super) fn runs_of(cell: &Cell, kind: Kind) -> &[RunResult] {
    match kind {
        Kind::Own => &cell.runs,
        Kind::Shared => &cell.shared,
    }
}

/// What it costs until all of these rows have so many runs.
pub(super) fn missing(answer: &Answer, wanted: &[(usize, Kind)], runs: usize) -> f64 {
    let one = |(row, kind): &(usize, Kind)| {
        let lacks = runs.saturating_sub(count(answer, *row, *kind));
        lacks as f64 * cost(answer, *row, *kind)
    };
    wanted.iter().map(one).sum()
}

impl Answer {
    /// Packets that all runs so far took over links.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let runs = cells.flat_map(|cell| cell.runs.iter().chain(&cell.shared));
        runs.map(|run| run.packets).sum()
    }

    /// The same; of what else than the simulator runs, an estimate.
    pub(super) fn spent(&self) -> f64 {
        let rows = || 0..self.rows.len();
        let of = |kind| rows().map(move |row| spent(self, row, kind));
        of(Kind::Own).chain(of(Kind::Shared)).sum()
    }

    /// What a packet of a row's runs of a kind costs, on average.
    fn weight(&self, row: usize, kind: Kind) -> f64 {
        let of = |candidate: &Candidate| match candidate.transport.quic {
            Some(_) => OF_QUIC,
            None => 1.0,
        };
        let own = of(&self.candidates[self.rows[row].candidate]);
        match (kind, &self.beside) {
            (Kind::Own, None) => own,
            _ => f64::midpoint(own, of(&self.other)),
        }
    }

    pub(super) fn left(&self) -> f64 {
        self.budget - self.spent()
    }
}

/// What the runs of a row have cost so far; of what else than the simulator runs, an estimate.
fn spent(answer: &Answer, row: usize, kind: Kind) -> f64 {
    if !answer.is_simulated() {
        return count(answer, row, kind) as f64 * cost(answer, row, kind);
    }
    let cells = answer.rows[row].cells.iter();
    let runs = cells.flat_map(|cell| runs_of(cell, kind));
    let packets: u64 = runs.map(|run| run.packets).sum();
    packets as f64 * answer.weight(row, kind)
}

/// What one run more of a row costs: packets, of all sizes. Of the runs that it has, or
/// else by what the baseline's come to.
pub(super) fn cost(answer: &Answer, row: usize, kind: Kind) -> f64 {
    if kind == Kind::Shared && answer.is_alike(&answer.rows[row]) {
        // Runs of the users alone show it.
        return 0.0;
    }
    let measured = |row: usize, kind: Kind| {
        let of = |cell: &Cell| {
            let runs = runs_of(cell, kind);
            let packets: u64 = runs.iter().map(|run| run.packets).sum();
            packets as f64 / runs.len() as f64
        };
        let sum: f64 = answer.rows[row].cells.iter().map(of).sum();
        Some(sum * answer.weight(row, kind)).filter(|sum| *sum > 0.0)
    };
    measured(row, kind).unwrap_or_else(|| {
        let other = match kind {
            Kind::Own => Kind::Shared,
            Kind::Shared => Kind::Own,
        };
        let (base, of) = (answer.verdict.baseline, |row, kind| {
            volume(answer, row, kind)
        });
        let scaled = |from, kind_from| Some(measured(from, kind_from)? / of(from, kind_from));
        let scale = scaled(row, other).or_else(|| scaled(base, Kind::Own));
        scale.unwrap_or(WITH_ACKS) * of(row, kind)
    })
}

/// Data packets of a run of each size, about, each time that one crosses a link.
pub(super) fn volume(answer: &Answer, row: usize, kind: Kind) -> f64 {
    let users = match kind {
        Kind::Shared => answer.users_shared,
        Kind::Own => answer.users,
    };
    // Between the server and the gateway there is a link of its own, and another one behind
    // the terminal of two proxies.
    let server = f64::from(u8::from(answer.path.server_rtt.is_some()));
    // To several terminals packets go on over another link.
    let satellite = if answer.terminals > 1 { 2.0 } else { 1.0 };
    let links = match answer.rows[row].pep {
        Pep::None | Pep::Snoop | Pep::Split => satellite + server,
        Pep::Gateway => satellite + 1.0 + server,
    };
    let bytes = |size: usize| {
        let work = answer.work(size);
        (0..users)
            .map(|user| work.volume(user).as_f64())
            .sum::<f64>()
    };
    let all: f64 = (0..answer.sizes.len()).map(bytes).sum();
    let background = answer.background.map_or(0.0, |b| {
        let rate = b.rate(answer.path.rate).bps_f64();
        all * rate / (answer.path.rate.bps_f64() - rate).max(1.0)
    });
    // A short run has its fixed costs.
    (links * (all + background) / PACKET as f64).max(200.0) * answer.weight(row, kind)
}

/// What a run of every row costs before any was made, about.
fn price_of_all(answer: &Answer) -> f64 {
    let rows = 0..answer.rows.len();
    WITH_ACKS * rows.map(|row| volume(answer, row, Kind::Own)).sum::<f64>()
}

/// Lets readers read fewer pages where runs of all rows do not fit into the time.
pub(super) fn shorten(answer: &mut Answer) {
    let reads = answer.traffic.activities().contains(&Activity::Web);
    if !reads || TOO_FEW_RUNS * price_of_all(answer) <= answer.budget {
        return;
    }
    while answer.pages > FEWEST_PAGES
        && RUNS_WITH_FEWER_PAGES * price_of_all(answer) > answer.budget
    {
        answer.pages -= 1;
    }
}

/// The `--time` with which readers would read all pages; `None` if they do.
pub(super) fn time_for_all_pages_s(answer: &Answer) -> Option<f64> {
    (answer.pages < PAGES).then(|| {
        let mut all = answer.clone();
        all.pages = PAGES;
        TOO_FEW_RUNS * price_of_all(&all) / PACE
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use bentpipe_units::{Duration, Rate};

    #[test]
    fn readers_read_fewer_pages_where_runs_are_too_long() {
        let ask = |users: u32, ms: u64| {
            let question = Comparison::new().traffic(super::super::Traffic::Web);
            let question = question.users(users).rate(Rate::from_mbps(20));
            let question = question.transports(["cubic", "vegas"]);
            question.time(Duration::from_millis(ms)).run().unwrap()
        };
        let (all, fewer) = (ask(4, 1_000), ask(4, 50));
        assert_eq!((all.pages, fewer.pages), (PAGES, FEWEST_PAGES));
        let words = |answer: &Answer| answer.sentences().join(" ");
        assert!(words(&fewer).contains("each user reads 2 pages instead of 6"));
        assert!(!words(&all).contains("instead of 6"));
        assert!(fewer.baseline().cells[0].runs.len() > 1);
        // A run of two pages costs about a third.
        let cost_of = |answer: &Answer| cost(answer, answer.verdict.baseline, Kind::Own);
        let ratio = cost_of(&fewer) / cost_of(&all);
        assert!((0.2..0.5).contains(&ratio), "{ratio}");
    }
}
