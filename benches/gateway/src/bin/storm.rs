//! A small load for measuring relays: short connections as fast as they go, or
//! idle ones that stay.
//!
//! - `storm serve ADDRESS...` answers each connection with 100 bytes and closes it;
//!   one that sends `stay` stays open, without an answer.
//! - `storm rate AT_ONCE SECONDS ADDRESS...` opens, asks, reads to the end and
//!   closes; prints one line of JSON.
//! - `storm idle COUNT ADDRESS...` opens connections that stay, prints how many
//!   stand, and holds them until its standard input ends.
#![allow(clippy::print_stdout, reason = "the result goes to standard output")]
#![allow(clippy::disallowed_methods, reason = "it measures in real time")]

use std::error::Error;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ASK: &[u8] = &[b'a'; 100];
const STAY: &[u8] = b"stay";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next().unwrap_or_default();
    let mut number = || -> Result<usize> { Ok(arguments.next().ok_or("a number")?.parse()?) };
    match role.as_str() {
        "serve" => serve(addresses(arguments)?).await,
        "rate" => {
            let (at_once, seconds) = (number()?, number()?);
            rate(at_once, seconds as u64, addresses(arguments)?).await
        }
        "idle" => {
            let count = number()?;
            idle(count, addresses(arguments)?).await
        }
        _ => Err("storm serve | rate | idle".into()),
    }
}

fn addresses(arguments: impl Iterator<Item = String>) -> Result<Vec<SocketAddr>> {
    let all: std::result::Result<Vec<_>, _> = arguments.map(|it| it.parse()).collect();
    Ok(all?)
}

async fn serve(addresses: Vec<SocketAddr>) -> Result<()> {
    let mut listening = JoinSet::new();
    for address in addresses {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(8192)?;
        listening.spawn(async move {
            loop {
                if let Ok((tcp, _)) = listener.accept().await {
                    tokio::spawn(answer(tcp));
                }
            }
        });
    }
    listening.join_all().await;
    Ok(())
}

async fn answer(mut tcp: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 128];
    let mut got = 0;
    while got < ASK.len() && !buffer[..got].starts_with(STAY) {
        match tcp.read(&mut buffer[got..]).await? {
            0 => return Ok(()),
            more => got += more,
        }
    }
    if buffer[..got].starts_with(STAY) {
        tcp.write_all(b"+").await?;
        // It stays until the other end goes.
        while tcp.read(&mut buffer).await? > 0 {}
    } else {
        tcp.write_all(ASK).await?;
    }
    Ok(())
}

async fn ask(address: SocketAddr) -> io::Result<()> {
    let mut tcp = TcpStream::connect(address).await?;
    tcp.write_all(ASK).await?;
    let mut buffer = [0; 256];
    let mut got = 0;
    loop {
        match tcp.read(&mut buffer[got..]).await? {
            0 if got == ASK.len() => return Ok(()),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => got += more,
        }
    }
}

async fn rate(at_once: usize, seconds: u64, addresses: Vec<SocketAddr>) -> Result<()> {
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds);
    let failed = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for first in 0..at_once {
        let (addresses, failed) = (addresses.clone(), Arc::clone(&failed));
        clients.spawn(async move {
            let mut times = Vec::new();
            for address in addresses.iter().cycle().skip(first % addresses.len()) {
                let begun = Instant::now();
                if begun >= end {
                    break;
                }
                match ask(*address).await {
                    Ok(()) => times.push(begun.elapsed()),
                    Err(_) => {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            times
        });
    }
    let mut times: Vec<Duration> = clients.join_all().await.into_iter().flatten().collect();
    let took = begin.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len().saturating_sub(1)) as f64 * share;
        times
            .get(index as usize)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    println!(
        r#"{{"connections": {}, "per_second": {:.0}, "failed": {}, "p50_ms": {:.2}, "p99_ms": {:.2}}}"#,
        times.len(),
        times.len() as f64 / took,
        failed.load(Ordering::Relaxed),
        at(0.5),
        at(0.99),
    );
    Ok(())
}

async fn idle(count: usize, addresses: Vec<SocketAddr>) -> Result<()> {
    let mut held = Vec::new();
    for address in addresses.iter().cycle().take(count) {
        let stand = async {
            let mut tcp = TcpStream::connect(address).await?;
            tcp.write_all(STAY).await?;
            let mut answer = [0];
            tcp.read_exact(&mut answer).await?;
            io::Result::Ok(tcp)
        };
        match tokio::time::timeout(Duration::from_secs(5), stand).await {
            Ok(Ok(tcp)) => held.push(tcp),
            _ => break,
        }
    }
    println!(r#"{{"open": {}}}"#, held.len());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
