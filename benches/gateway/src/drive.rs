//! The client: it draws plans, does its part of each, and sums up what both ends
//! saw.

use crate::content::mix;
use crate::judge::{Allowed, Count, Fault, Verdict, judge};
use crate::party::{End, Seen, play};
use crate::plan::{GREETING, Kind, MORE, Plan};
use crate::proxy::{Way, open};
use crate::report::{ServerReport, Summary, Times};
use bentpipe_random::Stream;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc};

/// A run of the client.
#[derive(Clone, Debug)]
pub struct Drive {
    /// How it reaches the servers.
    pub ways: Vec<Way>,
    /// First port of the same server, by each of its addresses.
    pub servers: Vec<SocketAddr>,
    /// The server's Unix socket; without it only this end is judged.
    pub control: Option<PathBuf>,
    /// Connections of the run.
    pub transfers: u64,
    /// Connections at a time.
    pub at_once: usize,
    /// New connections a second, at most.
    pub pace: Option<f64>,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// Weights of the kinds.
    pub kinds: Vec<(Kind, f64)>,
    /// The largest ordinary transfer, bytes.
    pub largest: u64,
    /// A [`Kind::BigDown`] or [`Kind::BigUp`], bytes.
    pub big: u64,
    /// Bytes a second of slow readers.
    pub slow: u64,
    /// The pause of [`Kind::Idle`].
    pub hold: Duration,
    /// A connection that takes longer hangs.
    pub patience: Duration,
    /// A connection to the port that does not answer is given up.
    pub silence: Duration,
    /// More ports of the server.
    pub more: u16,
    /// Share of the connections through a proxy that send their first bytes
    /// before the proxy has answered.
    pub eager: f64,
    /// What the run may contain beyond the plans.
    pub allowed: Allowed,
}

/// What became of one connection.
struct Outcome {
    plan: Plan,
    seen: Seen,
    seconds: f64,
}

impl Drive {
    /// Runs it; every violation goes to `tell` as it is found.
    ///
    /// # Errors
    /// That the server's account cannot be had.
    pub async fn run(self, mut tell: impl FnMut(&Fault)) -> io::Result<Summary> {
        let run = u32::try_from(mix(self.seed ^ u64::from(std::process::id())) >> 32).unwrap_or(1);
        let cuts = if self.allowed.cuts { "cuts" } else { "none" };
        self.ask(&format!("begin {run} {cuts}")).await?;
        let start = Instant::now();
        let this = Arc::new(self);
        let (sender, mut outcomes) = mpsc::channel(1024);
        tokio::spawn(Arc::clone(&this).open_all(run, sender));
        let mut summary = Summary::default();
        let mut times: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        while let Some(outcome) = outcomes.recv().await {
            let Outcome {
                plan,
                seen,
                seconds,
            } = outcome;
            let verdict = judge(&plan, &seen, this.allowed);
            let words = plan.kind.words();
            let count = summary.client.entry(words.into()).or_default();
            count.add(verdict, &seen.end);
            if let Verdict::Violation(violation) = verdict {
                tell(&Fault::new(violation, "client", &plan, &seen, seconds));
            }
            summary.transfers += 1;
            summary.bytes += seen.received;
            #[expect(clippy::cast_possible_truncation, reason = "times need no more digits")]
            times.entry(words.into()).or_default().push(seconds as f32);
        }
        let of = |select: fn(&Count) -> u64| summary.client.values().map(select).sum::<u64>();
        summary.as_planned = of(|count| count.as_planned);
        summary.cut = of(|count| count.cut);
        summary.violations = of(|count| count.violations);
        summary.seconds = start.elapsed().as_secs_f64();
        if this.control.is_some() {
            this.compare(run, &mut summary, &mut tell).await?;
        }
        let times = times.into_iter();
        summary.times = times.map(|(kind, all)| (kind, Times::of(all))).collect();
        Ok(summary)
    }

    async fn open_all(self: Arc<Self>, run: u32, outcomes: mpsc::Sender<Outcome>) {
        let places = Arc::new(Semaphore::new(self.at_once));
        let mut random = Stream::new(self.seed, "plans");
        let mut next = tokio::time::Instant::now();
        for id in 0..self.transfers {
            let plan = self.draw(&mut random, run, id);
            let way = self.ways[choose(&mut random, self.ways.len())];
            let mut server = self.servers[choose(&mut random, self.servers.len())];
            let port = match plan.kind.port() {
                0 if self.more > 0 => {
                    let more = choose(&mut random, usize::from(self.more));
                    MORE + u16::try_from(more).unwrap_or(0)
                }
                port => port,
            };
            server.set_port(server.port() + port);
            let eager = way != Way::Direct && random.chance(self.eager);
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            if let Some(pace) = self.pace {
                tokio::time::sleep_until(next).await;
                next += Duration::from_secs_f64(1.0 / pace);
            }
            let (this, outcomes) = (Arc::clone(&self), outcomes.clone());
            tokio::spawn(async move {
                let start = Instant::now();
                let seen = this.transfer(&plan, way, server, eager).await;
                drop(place);
                let seconds = start.elapsed().as_secs_f64();
                // It fails only when the run was given up.
                let _ = outcomes
                    .send(Outcome {
                        plan,
                        seen,
                        seconds,
                    })
                    .await;
            });
        }
    }

    fn draw(&self, random: &mut Stream, run: u32, id: u64) -> Plan {
        let all: f64 = self.kinds.iter().map(|&(_, weight)| weight).sum();
        let mut left = random.uniform() * all;
        let found = self.kinds.iter().find(|&&(_, weight)| {
            left -= weight;
            left < 0.0
        });
        let kind = found.map_or(Kind::ServerCloses, |&(kind, _)| kind);
        let (up, down) = (self.size(random), self.size(random));
        let (up, down) = match kind {
            Kind::Zero => (0, 0),
            Kind::One => (1, 1),
            Kind::BigDown => (100, self.big),
            Kind::BigUp => (self.big, 100),
            // What a slow reader reads takes it four seconds at most.
            Kind::SlowClient | Kind::SlowServer => (up.min(4 * self.slow), down.min(4 * self.slow)),
            _ => (up, down),
        };
        let whole = if kind == Kind::ServerResets { down } else { up };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a size drawn between two others"
        )]
        let cut = (random.uniform() * whole as f64) as u64;
        let pause = if kind == Kind::Idle {
            u64::try_from(self.hold.as_millis()).unwrap_or(u64::MAX)
        } else {
            // Some resets follow the bytes at once, others come later.
            [0, 20, 200, 1000][choose(random, 4)]
        };
        Plan {
            run,
            kind,
            id,
            up,
            down,
            seed: random.bits(),
            cut,
            rate: self.slow,
            pause,
        }
    }

    /// Sizes spread evenly over the orders of magnitude.
    fn size(&self, random: &mut Stream) -> u64 {
        let shift = random.uniform() * f64::from(64 - self.largest.leading_zeros());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of bits below 64"
        )]
        let bits = shift as u32;
        let most = (2_u64 << bits) - 1;
        (random.bits() % most + 1).min(self.largest)
    }

    async fn transfer(&self, plan: &Plan, way: Way, server: SocketAddr, eager: bool) -> Seen {
        let patience = match plan.kind {
            Kind::Silent => self.silence,
            _ => self.patience,
        };
        let all = self.attempt(plan, way, server, eager);
        tokio::time::timeout(patience, all)
            .await
            .unwrap_or_else(|_| Seen::without_content(End::Hung))
    }

    async fn attempt(&self, plan: &Plan, way: Way, server: SocketAddr, eager: bool) -> Seen {
        let bytes = plan.bytes();
        let begins = !matches!(plan.kind, Kind::Banner | Kind::Empty);
        let first: &[u8] = if eager && begins { &bytes } else { &[] };
        let mut stream = match open(way, server, first).await {
            Ok(stream) => stream,
            Err(end) => return Seen::without_content(end),
        };
        if plan.kind == Kind::Banner {
            let mut greeting = [0; GREETING.len()];
            match stream.read_exact(&mut greeting).await {
                Ok(_) if &greeting == GREETING => {}
                Ok(_) => {
                    return Seen {
                        wrong: Some(0),
                        ..Seen::without_content(End::Done)
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Seen::without_content(End::Short);
                }
                Err(error) => return Seen::without_content(End::from_io(&error)),
            }
        }
        if plan.kind != Kind::Empty
            && first.is_empty()
            && let Err(error) = stream.write_all(&bytes).await
        {
            let refusal = matches!(plan.kind, Kind::Refused | Kind::Silent);
            return Seen::without_content(match End::from_io(&error) {
                End::Reset if refusal => End::Done,
                other => other,
            });
        }
        play(stream, &plan.client(), plan.up_seed(), plan.down_seed()).await
    }

    async fn compare(
        &self,
        run: u32,
        summary: &mut Summary,
        tell: &mut impl FnMut(&Fault),
    ) -> io::Result<()> {
        // What was in flight arrives; a link under test may be slow.
        let end = Instant::now() + self.patience;
        let report = loop {
            let line = self.ask(&format!("report {run}")).await?;
            let report: ServerReport = serde_json::from_str(&line).map_err(io::Error::other)?;
            if report.open.is_empty() && !self.missing_empty(summary, &report)
                || Instant::now() > end
            {
                break report;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        for fault in &report.faults {
            tell(fault);
        }
        summary.violations += report
            .kinds
            .values()
            .map(|count| count.violations)
            .sum::<u64>();
        let hung = report
            .open
            .iter()
            .map(|(kind, id)| (kind.clone(), *id, "never ended"));
        let mut more: Vec<(String, u64, &str)> = hung.collect();
        let whole = |count: u64, words| (0..count).map(move |_| (String::new(), 0, words));
        more.extend(whole(
            report.nameless_ends,
            "clean end before the plan had come",
        ));
        more.extend(whole(report.bad_plans, "bytes of the plan differ"));
        if self.missing_empty(summary, &report) {
            more.push((
                Kind::Empty.words().into(),
                0,
                "not as many as the client ended",
            ));
        }
        for (kind, id, words) in more {
            summary.violations += 1;
            tell(&Fault {
                violation: words.into(),
                side: "server".into(),
                kind,
                id,
                end: String::new(),
                sent: 0,
                received: 0,
                up: 0,
                down: 0,
                cut: 0,
                wrong: None,
                after: summary.seconds,
            });
        }
        summary.server = report.kinds;
        Ok(())
    }

    fn missing_empty(&self, summary: &Summary, report: &ServerReport) -> bool {
        let words = Kind::Empty.words();
        let of = |kinds: &BTreeMap<String, Count>| kinds.get(words).map_or(0, |c| c.as_planned);
        !self.allowed.cuts && of(&summary.client) != of(&report.kinds)
    }

    async fn ask(&self, line: &str) -> io::Result<String> {
        let Some(path) = &self.control else {
            return Ok(String::new());
        };
        ask(path, line).await
    }
}

async fn ask(path: &Path, line: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(path).await?;
    stream.write_all(format!("{line}\n").as_bytes()).await?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).await?;
    Ok(answer)
}

fn choose(random: &mut Stream, of: usize) -> usize {
    usize::try_from(random.bits() % of.max(1) as u64).unwrap_or(0)
}
