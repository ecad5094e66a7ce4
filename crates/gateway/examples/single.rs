//! One box without its rules and its control socket, for measuring and profiling
//! the relay: `single FILE ADDRESS...`, where nftables TPROXY leads connections to
//! the addresses. It runs until its standard input ends.

use bentpipe_gateway::config::Config;
use bentpipe_gateway::entry::{Kind, Listener};
use bentpipe_gateway::operate::Board;
use bentpipe_gateway::single::Single;
use std::error::Error;
use std::io::Read as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which configuration file?")?;
    let text = std::fs::read_to_string(&file)?;
    let config = Config::read(Path::new(&file), &text).map_err(|error| error.to_string())?;
    let listeners = arguments.map(|address| {
        let address = address.parse()?;
        Ok(Listener::bind(Kind::Transparent, address)?)
    });
    let listeners: Result<Vec<_>, Box<dyn Error>> = listeners.collect();
    let board = Board::new(&config);
    let single = Single::start(&board, listeners?)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    single.stop();
    Ok(())
}
