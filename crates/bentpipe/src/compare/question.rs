//! What is asked, declared once: the link, the users, what is compared.

use super::argument::Choice;
use super::background::Background;
use super::candidate::Hosts;
use super::comparison::Comparison;
use super::fade::{Coding, Decibels, Fade};
use super::jitter::Jitter;
use super::loss::Loss;
use super::options::{
    self, OptionSpec, Options, option_part, option_rule, option_setter, option_spec, options,
};
use super::pep::Pep;
use super::problem::QuestionError;
use super::queue::{self, Queue};
use super::traffic::{Activity, MOST_OBJECTS, Traffic};
use bentpipe_link::ModCod;
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Most users.
pub(super) const MOST_USERS: i64 = 1_000;

options! {
    /// What is asked of a link: the options of `bentpipe compare` that change its answer.
    ///
    /// Without any they describe one user who downloads 10 MB over 10 Mbit/s with a round
    /// trip of 600 ms, 0.1% loss and a queue of one bandwidth-delay product, and servers
    /// with Linux.
    pub Question;

    /// Rate of the satellite link towards the users
    rate: Rate, or "10 Mbit/s, or what a terminal of the constellation has",
        group(Link), slider(1e4..1e9), set(Comparison),
        excludes(trace: "is not for a trace, which has its own");
    /// Round-trip propagation time, without queueing
    rtt: Duration, or "600 ms",
        group(Link), slider(1e-3..3.0), set(Comparison),
        excludes(orbit: "is not for an orbit, which has its own");
    /// Satellites of the path, instead of --rtt: geo, iridium, teledesic,
    /// starlink (with slots as measured), starlink-2023 (with the delays over inter-satellite
    /// links, too), starlink-geometry, or a file of TLE or OMM
    orbit: String, optional,
        group(Link), kind(Orbit, orbits), metavar("ORBIT"), needs(from, to);
    /// Where the server is: a city, such as Berlin, `Portland, Oregon` or
    /// `London, Canada`, or degrees north and east, such as 37.9,-122.3
    from: Site, optional, group(Link), needs(orbit);
    /// Where the users are
    to: Site, optional, group(Link), needs(orbit);
    /// A capture (pcap, pcapng) of a connection over the link, made at its sender: --rate,
    /// --rtt, --loss and --queue are what `bentpipe fit` estimates from it, unless they are set,
    /// and what the sender runs is compared as well
    capture: PathBuf, optional,
        group(Link), metavar("FILE"), set(Comparison),
        excludes(orbit, trace: "is not for an orbit or a trace: give one of the two");
    /// A trace of the link, instead of --rate: a file of mahimahi or TheaterQ,
    /// or LeoReplayer's two, `RATE,DELAYS`
    trace: PathBuf, several optional,
        group(Link), metavar("FILES"),
        excludes(orbit: "is not for an orbit: give one of the two");
    /// Start at regular intervals over this much of the orbit or the trace, such
    /// as 24h, and show rate, delay and times by start time
    over: Duration, optional,
        group(Link), set(Comparison),
        needs_any(orbit, trace: "needs an orbit or a trace: nothing else changes over time");
    /// Longitude of the geo satellite, degrees east
    slot: f64, or "midway between the two places",
        group(Link), metavar("LON"), needs(orbit);
    /// Packets that the channel loses: `0.1%`, each independently, or `5% in
    /// bursts of 8 packets` on average
    loss: Loss, or "0.1%; over an orbit or a trace 0", group(Link), slider(1e-5..0.3);
    /// Deviation of the one-way delay, each way: `5 ms`, with a shape, as in `pareto 5 ms` or
    /// `uniform 5 ms`, and how long a draw holds, as in `5 ms held 15 ms`. Packets keep their
    /// order
    jitter: Jitter, optional, group(Link), set(Comparison);
    /// A fade: its depth, how long it stays, when it begins after the first start and how
    /// long it rises and falls, as in `10 dB for 30 s at 20 s, ramps of 5 s`
    fade: Fade, optional, group(Link), set(Comparison),
        excludes(orbit, trace: "is not for an orbit or a trace, which change in their own way");
    /// ModCod of DVB-S2 under a clear sky, at which the link has its --rate
    modcod: ModCod, or "16APSK 3/4", group(Link), set(Comparison), needs(fade);
    /// What the clear sky leaves above what the ModCod needs
    margin: Decibels, or "1 dB", group(Link), set(Comparison), needs(fade);
    /// What the modem does in a fade: acm (steps down to a ModCod that closes the link) or
    /// ccm (keeps its ModCod: beyond the margin the link is down)
    coding: Coding, or "acm", group(Link), set(Comparison), needs(fade);
    /// Queue before the link: `1 BDP`, `100 packets`, `64 kB`, `100 ms`, or codel, fq-codel,
    /// pie or red, set for the link, or `codel 1000 packets target 30 ms`. Several to
    /// compare; the first is the one that the link has today
    queue: Queue, several or "1 BDP",
        group(Link), metavar("QUEUES"), slider(0.05..10.0), kind(Length, queue::choices);
    /// Rate of the way back, for acknowledgements
    return_rate: Rate, or "a fifth of --rate",
        group(Link), slider(1e3..1e9), set(Comparison);
    /// Users that share the link; several numbers to see where the advice changes
    users: u32, several or "one at each terminal; with mixed traffic as few as have each activity",
        group(Users), range(1..=MOST_USERS), slider(1.0..100.0);
    /// Terminals that the users are spread over evenly: all share the link towards them, and
    /// each has a return link of its own, with --return-rate
    terminals: u32, default "1",
        group(Users), range(1..=MOST_USERS), slider(1.0..100.0), set(Comparison);
    /// What each user does: download, web (reads pages), video (watches a
    /// minute), mixed (a third each), or a mix of these, upload and call:
    /// `web 60%,video 30%,download 10%`
    traffic: Traffic, default "download", group(Users), set(Comparison);
    /// Size of a download, or of a page on average; several to see where the
    /// advice changes
    size: Bytes, several or "10 MB; a page 2 MB",
        group(Users), metavar("SIZES"), slider(1e4..1e9);
    /// Objects that a page divides into: the document, and when that is there all that it
    /// names at once; the first fifth of them is what a browser waits for to draw
    page_objects: u32, default "1",
        group(Users), range(1..=MOST_OBJECTS), slider(1.0..200.0), set(Comparison);
    /// A name is looked up before each connection: a query over UDP to a resolver beside the server,
    /// and its answer. The times of users count it
    dns: bool, default "no", group(Users), set(Comparison);
    /// Time over which the users' starts are spread
    stagger: Duration, or "half of what the link needs for all downloads; 10 s for web and video",
        group(Users), set(Comparison);
    /// What others run: half of the users run it, the other half the compared
    /// transport
    beside: String, optional, group(Users), kind(Transport, transports);
    /// Other traffic without congestion control: `20%` of the rate, `2 Mbit/s`,
    /// or `20% in bursts`
    background: Background, optional, group(Users), set(Comparison);
    /// Transports to compare, by the names in the table; `all` for every one
    transport: String, several or "a selection",
        group(Comparison), kind(Transport, transports), metavar("NAMES");
    /// Whose TCP: linux, or rfc for the papers' variants on idealised hosts,
    /// which no real host offers
    hosts: Hosts, default "linux", group(Comparison), set(Comparison);
    /// Proxies at the gateway to compare: none, split (the transports run from
    /// the gateway to the users), snoop (repairs losses of the link), gateway
    /// (one on each side of the satellite; a prediction)
    pep: Pep, several default "none", group(Comparison), metavar("KINDS");
    /// Round-trip time between server and gateway
    server_rtt: Duration,
        or "50 ms where proxies are compared; else the server is at the link",
        group(Comparison), slider(1e-3..0.5), set(Comparison);
    /// Runs of each transport, each with different losses
    runs: u32, or "as many as the decision needs; 4 in real time",
        group(Comparison), range(1..=100_000), set(Comparison);
    /// How long to look for an answer that holds, about: it is counted in packets, 8
    /// million for a second, so that the same question has the same answer everywhere
    time: Duration, or "5 s",
        group(Comparison), slider(1.0..600.0), set(Comparison),
        excludes(runs: "is not for --runs, which says how many there are");
    /// Ask as well for half and twice the loss, the queue and the users, and from which value
    /// on the advice turns; takes up to ten times as long
    robust: bool, default "no", group(Comparison), set(Comparison);
    /// Seed of the first run; the same seed gives the same output
    seed: u64, default "1", group(Comparison), set(Comparison);
}

impl Question {
    /// What is known of each option, in the order of the help.
    pub const OPTIONS: &'static [OptionSpec<Question>] = <Question as Options>::OPTIONS;

    /// Reads options, each a name as on the command line and a text. One that takes
    /// several values may come several times, or have commas between them.
    ///
    /// ```
    /// use bentpipe::compare::Question;
    ///
    /// let question = Question::read(&[("rate", "2 Mbit/s"), ("pep", "none,split")])?;
    /// assert_eq!(question.pep.len(), 2);
    /// let error = Question::read(&[("rtt", "600")]).unwrap_err();
    /// assert_eq!(error.option, Some("rtt"));
    /// # Ok::<(), bentpipe::compare::QuestionError>(())
    /// ```
    ///
    /// # Errors
    /// The first option that is unknown, cannot be read, or does not go with the others.
    pub fn read(given: &[(impl AsRef<str>, impl AsRef<OsStr>)]) -> Result<Question, QuestionError> {
        options::read(given)
    }

    /// The sizes in order, by default one that suits the traffic.
    pub(super) fn sizes(&self) -> Vec<Bytes> {
        let mut sizes = match self.size.is_empty() {
            true => vec![self.traffic.default_size()],
            false => self.size.clone(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The queues, each once; the first is the one that the link has `today`.
    pub(super) fn queues(&self, today: Queue) -> Vec<Queue> {
        let mut queues = Vec::new();
        if self.queue.is_empty() {
            queues.push(today);
        }
        for queue in &self.queue {
            if !queues.contains(queue) {
                queues.push(*queue);
            }
        }
        queues
    }

    /// The proxies, each once.
    pub(super) fn peps(&self) -> Vec<Pep> {
        let mut peps = Vec::new();
        for pep in &self.pep {
            if !peps.contains(pep) {
                peps.push(*pep);
            }
        }
        peps
    }

    /// The fewest users: as many as the traffic needs, and one at each terminal.
    pub(super) fn least_users(&self) -> u32 {
        self.traffic.least_users().max(self.terminals)
    }

    /// The numbers of users in order, by default the fewest.
    pub(super) fn user_counts(&self) -> Vec<u32> {
        let mut counts = match self.users.is_empty() {
            true => vec![self.least_users()],
            false => self.users.clone(),
        };
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Users; the fewest of several numbers.
    pub(super) fn user_count(&self) -> u32 {
        self.user_counts()[0]
    }

    /// Refuses what makes no sense, whatever the path is.
    pub(super) fn check(&self) -> Result<(), QuestionError> {
        Options::check(self)?;
        let wrong = |option, why: String| Err(QuestionError::setting(option, why));
        if self.size.iter().any(|size| size.get() == 0) {
            return wrong("size", "must be above zero".to_owned());
        }
        let sized = [Activity::Download, Activity::Web];
        let has_sizes = |of: &Activity| match self.traffic {
            // Pages of a mix have the usual size.
            Traffic::Mix(_) => *of == Activity::Download,
            _ => sized.contains(of),
        };
        if !self.size.is_empty() && !self.traffic.activities().iter().any(has_sizes) {
            let why = match self.traffic {
                Traffic::Mix(_) => "is that of downloads, of which this mix has none",
                _ => "is for downloads and pages; a video lasts a minute",
            };
            return wrong("size", why.to_owned());
        }
        if self.page_objects > 1 && !self.traffic.activities().contains(&Activity::Web) {
            let traffic = self.traffic;
            let why = format!("is for pages, of which {traffic} traffic has none");
            return wrong("page-objects", why);
        }
        let least = self.traffic.least_users();
        if self.user_count() < least {
            let traffic = self.traffic;
            let why = format!("must be from {least} to {MOST_USERS} with {traffic} traffic");
            return wrong("users", why);
        }
        if self.user_count() < self.terminals {
            let terminals = self.terminals;
            let why =
                format!("must be at least {terminals}, one at each of the {terminals} terminals");
            return wrong("users", why);
        }
        if self.pep.is_empty() {
            return wrong("pep", "names no proxy, and not `none` either".to_owned());
        }
        Ok(())
    }
}

/// The transports of Linux.
fn transports() -> Vec<Choice> {
    let candidates = Hosts::Linux.candidates();
    let choice = |found: &super::Candidate| Choice::new(&found.name, &found.about);
    candidates.iter().map(choice).collect()
}

/// The orbits that have a name.
fn orbits() -> Vec<Choice> {
    super::orbit::names()
        .map(|name| Choice::new(name, ""))
        .collect()
}
