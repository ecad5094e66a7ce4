//! `bentpipe gateway new`: the files of two boxes that know each other.

use crate::args::gateway::GatewayNew;
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use bentpipe_gateway::config::{
    Bind, HUB, HubAddress, INTERFACE, LINK, MOST_WANS, PORT, Pair, TERMINAL, is_interface,
};
use bentpipe_gateway::tunnel::keys::Identity;
use bentpipe_outcome::write_whole;
use std::path::Path;

/// Writes a configuration and a key for each box.
pub(super) fn main(args: &GatewayNew, out: &mut Output) -> Result<Status, Failure> {
    let pair = pair(args)?;
    let folder = &args.folder;
    let files = [HUB, TERMINAL].map(|name| folder.join(format!("{name}.toml")));
    if let Some(file) = files.iter().find(|file| file.exists() && !args.force) {
        return Err(Failure::new(format!(
            "`{}` exists; --force replaces it, and keeps the keys",
            file.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, e))?;
    let [hub, terminal] = [key(folder, HUB)?, key(folder, TERMINAL)?];
    let texts = [
        pair.hub_file(terminal.public()),
        pair.terminal_file(hub.public()),
    ];
    for (file, text) in files.iter().zip(&texts) {
        write_whole(file, text.as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
    }
    let [hub, terminal] = files.map(|file| file.display().to_string());
    out.line(format_args!(
        "wrote {hub} and {terminal}, and a key beside each"
    ))?;
    let root = if args.socks { "" } else { "sudo " };
    talk(format_args!(
        "take {HUB}.toml and {HUB}.key to the box on the Internet's side, the others to the users', \
         then\n  there: bentpipe gateway {HUB}.toml\n  here:  {root}bentpipe gateway {terminal}\n\
         `bentpipe gateway doctor FILE` says what does not work"
    ));
    Ok(Status::Done)
}

fn pair(args: &GatewayNew) -> Result<Pair, Failure> {
    let hub: HubAddress = args.hub.parse().map_err(|_| {
        Failure::new(format!(
            "--hub {}: expected the hub's address or name, with a port unless it is {PORT}, such as \
             203.0.113.7, [2001:db8::7]:443 or hub.example",
            args.hub
        ))
    })?;
    let is_no_box = |at: std::net::SocketAddr| at.ip().is_unspecified() || at.ip().is_multicast();
    if hub.address().is_some_and(is_no_box) {
        return Err(Failure::new(format!(
            "--hub {}: no box has this address; expected the one at which the terminal reaches the \
             hub",
            args.hub
        )));
    }
    if args.rtt.is_zero() {
        return Err(Failure::new("--rtt 0 s: expected a time above zero"));
    }
    if args.rate.bps() == 0 || args.return_rate.is_some_and(|rate| rate.bps() == 0) {
        return Err(Failure::new("the rates must be above zero"));
    }
    if let Some(name) = args.interface.iter().find(|name| !is_interface(name)) {
        return Err(Failure::new(format!(
            "--interface {name}: expected {INTERFACE}"
        )));
    }
    let wans = wans(&args.wan, hub.port())?;
    let fifth = bentpipe_units::Rate::from_bps((args.rate.bps() / 5).max(1));
    Ok(Pair {
        hub,
        rate: args.rate,
        return_rate: args.return_rate.unwrap_or(fifth),
        rtt: args.rtt,
        interfaces: args.interface.clone(),
        socks: args.socks,
        wans,
    })
}

/// The further WANs; they have the ports after the hub's.
fn wans(given: &[String], port: u16) -> Result<Vec<(String, Bind)>, Failure> {
    if given.len() > MOST_WANS {
        return Err(Failure::new(format!(
            "--wan is given {} times: expected at most {MOST_WANS}",
            given.len()
        )));
    }
    if given.len() > usize::from(u16::MAX - port) {
        return Err(Failure::new(format!(
            "--hub: there is no port after {port} for each --wan; expected a lower one"
        )));
    }
    let mut wans: Vec<(String, Bind)> = Vec::new();
    for text in given {
        let parts = text.split_once('=').filter(|(name, _)| is_interface(name));
        let wan = parts.and_then(|(name, bind)| Some((name.to_owned(), bind.parse().ok()?)));
        let wan = wan.ok_or_else(|| {
            Failure::new(format!(
                "--wan {text}: expected a name and the interface or the address of the terminal by \
                 which it leaves, such as 5g=wwan0"
            ))
        })?;
        if wan.0 == LINK || wans.iter().any(|(name, _)| *name == wan.0) {
            return Err(Failure::new(format!(
                "--wan {text}: `{}` is the name of another WAN",
                wan.0
            )));
        }
        wans.push(wan);
    }
    Ok(wans)
}

/// The key of a box; one that exists is kept.
fn key(folder: &Path, name: &str) -> Result<Identity, Failure> {
    let file = folder.join(format!("{name}.key"));
    if file.exists() {
        return Ok(Identity::read(&file)?);
    }
    let identity = Identity::generate()?;
    identity.write_new(&file)?;
    Ok(identity)
}
