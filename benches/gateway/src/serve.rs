//! The server: it does its part of each plan, and keeps account of how each
//! connection ended.

use crate::judge::{Allowed, Fault, Verdict, judge};
use crate::party::{End, Seen, Step, play, reset_at_close};
use crate::plan::{BANNER, EMPTY, GREETING, Kind, LENGTH, MORE, Plan, SILENT};
use crate::report::ServerReport;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Violations of a run that are kept; beyond, they are counted.
const KEPT: usize = 1000;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// The server's account of all runs.
#[derive(Debug, Default)]
struct Account {
    runs: HashMap<u32, Run>,
    empty: (u64, u64),
    nameless_ends: u64,
    nameless_resets: u64,
    bad_plans: u64,
}

#[derive(Debug, Default)]
struct Run {
    allowed: Allowed,
    report: ServerReport,
    open: HashMap<u64, Kind>,
}

/// A server that listens.
#[derive(Clone, Debug, Default)]
pub struct Server {
    account: Arc<Mutex<Account>>,
}

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Address of the server.
    pub address: IpAddr,
    /// Its first port.
    pub port: u16,
    /// More ports for many short connections.
    pub more: u16,
    /// Unix socket on which the client asks for the account.
    pub control: Option<PathBuf>,
}

impl Server {
    /// Listens, and serves until it is dropped with its runtime.
    ///
    /// # Errors
    /// That a port cannot be had.
    pub async fn start(listen: &Listen) -> io::Result<Server> {
        let server = Server::default();
        let address = |port| SocketAddr::new(listen.address, listen.port + port);
        let ports = [0, BANNER, EMPTY]
            .into_iter()
            .chain(MORE..MORE + listen.more);
        for port in ports {
            let listener = TcpListener::from_std(socket(address(port), BACKLOG)?.into())?;
            tokio::spawn(server.clone().accept(listener, port));
        }
        let silent = socket(address(SILENT), 0)?;
        let silent = TcpListener::from_std(silent.into())?;
        tokio::spawn(be_silent(silent));
        if let Some(path) = &listen.control {
            server.clone().answer(path)?;
        }
        Ok(server)
    }

    async fn accept(self, listener: TcpListener, port: u16) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(self.clone().serve(stream, port));
                }
                // Out of descriptors: they come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    async fn serve(self, mut stream: TcpStream, port: u16) {
        let start = Instant::now();
        if port == EMPTY {
            let seen = play(stream, &[Step::ReadToEnd(0)], 0, 0).await;
            let mut account = self.account();
            match seen.end {
                End::Done => account.empty.0 += 1,
                End::Reset => account.nameless_resets += 1,
                _ => account.empty.1 += 1,
            }
            return;
        }
        if port == BANNER && stream.write_all(GREETING).await.is_err() {
            return;
        }
        let mut bytes = [0; LENGTH];
        if let Err(error) = stream.read_exact(&mut bytes).await {
            let mut account = self.account();
            match error.kind() {
                io::ErrorKind::UnexpectedEof => account.nameless_ends += 1,
                _ => account.nameless_resets += 1,
            }
            return;
        }
        let Some(plan) = Plan::from_bytes(&bytes) else {
            self.account().bad_plans += 1;
            reset_at_close(&stream);
            return;
        };
        self.begin(&plan);
        let seen = play(stream, &plan.server(), plan.down_seed(), plan.up_seed()).await;
        self.end(&plan, &seen, start.elapsed().as_secs_f64());
    }

    fn begin(&self, plan: &Plan) {
        let mut account = self.account();
        let run = account.runs.entry(plan.run).or_default();
        if run.open.insert(plan.id, plan.kind).is_some() {
            let seen = Seen::without_content(End::Excess);
            let fault = Fault::new("connection opened twice", "server", plan, &seen, 0.0);
            run.report.faults.push(fault);
        }
    }

    fn end(&self, plan: &Plan, seen: &Seen, after: f64) {
        let mut account = self.account();
        let run = account.runs.entry(plan.run).or_default();
        run.open.remove(&plan.id);
        let verdict = judge(plan, seen, run.allowed);
        let kinds = &mut run.report.kinds;
        kinds
            .entry(plan.kind.words().into())
            .or_default()
            .add(verdict, &seen.end);
        if let Verdict::Violation(words) = verdict
            && run.report.faults.len() < KEPT
        {
            let fault = Fault::new(words, "server", plan, seen, after);
            run.report.faults.push(fault);
        }
    }

    /// Answers on the Unix socket at `path`.
    fn answer(self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = self.clone();
                tokio::spawn(async move { server.converse(stream).await });
            }
        });
        Ok(())
    }

    async fn converse(&self, stream: UnixStream) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        while let Some(line) = lines.next_line().await? {
            let words: Vec<&str> = line.split_whitespace().collect();
            let answer = match words.as_slice() {
                ["begin", run, cuts] => {
                    self.forget(run.parse().unwrap_or(0), *cuts == "cuts");
                    String::from("{}")
                }
                ["report", run] => self.report(run.parse().unwrap_or(0)),
                _ => String::from("{\"error\": \"begin or report\"}"),
            };
            writer.write_all(format!("{answer}\n").as_bytes()).await?;
        }
        Ok(())
    }

    fn forget(&self, run: u32, cuts: bool) {
        let mut account = self.account();
        let allowed = Allowed { cuts, early: false };
        *account = Account {
            runs: [(
                run,
                Run {
                    allowed,
                    ..Run::default()
                },
            )]
            .into(),
            ..Account::default()
        };
    }

    fn report(&self, run: u32) -> String {
        let account = self.account();
        let mut report = account
            .runs
            .get(&run)
            .map_or_else(ServerReport::default, |run| {
                let mut report = run.report.clone();
                let open = run.open.iter().take(KEPT);
                report.open = open.map(|(&id, kind)| (kind.words().into(), id)).collect();
                report
            });
        let empty = report.kinds.entry(Kind::Empty.words().into()).or_default();
        empty.as_planned = account.empty.0;
        empty.violations = account.empty.1;
        report.nameless_ends = account.nameless_ends;
        report.nameless_resets = account.nameless_resets;
        report.bad_plans = account.bad_plans;
        serde_json::to_string(&report).unwrap_or_default()
    }

    fn account(&self) -> std::sync::MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn socket(address: SocketAddr, backlog: i32) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Fills the queue of `listener`, which accepts nothing, so that the kernel drops
/// every further SYN.
async fn be_silent(listener: TcpListener) {
    let mut filling = Vec::new();
    if let Ok(mut address) = listener.local_addr() {
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip([127, 0, 0, 1].into()),
            IpAddr::V6(ip) if ip.is_unspecified() => {
                address.set_ip(std::net::Ipv6Addr::LOCALHOST.into());
            }
            _ => {}
        }
        for _ in 0..3 {
            let wait = Duration::from_millis(200);
            filling.push(tokio::time::timeout(wait, TcpStream::connect(address)).await);
        }
    }
    std::future::pending::<()>().await;
    drop((filling, listener));
}
