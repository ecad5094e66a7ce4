//! The parts that a role needs, from start to end.

use super::RunError;
use crate::config::Role;
use crate::entry::{self, Arrival, Kind, Listener, Serving, Settings};
use crate::hub::Hub;
use crate::operate::Board;
use crate::terminal::Terminal;
use std::future::Future;
use std::sync::Arc;

/// The running parts.
pub(super) struct Engines {
    /// The listeners; draining drops them.
    ways_in: Vec<Serving>,
    carrier: Carrier,
}

/// What carries the connections.
enum Carrier {
    Terminal(Arc<Terminal>),
    Hub(Hub),
}

impl Engines {
    /// Starts what the configuration asks for.
    pub(super) async fn start(board: &Arc<Board>, take_over: bool) -> Result<Engines, RunError> {
        let _ = take_over;
        let config = board.config();
        let failed = |what: &'static str| move |error| RunError::start(what, error);
        match config.role {
            Role::Hub => {
                let hub = Hub::start(&config, Arc::clone(board)).map_err(failed("the hub"))?;
                Ok(Engines {
                    ways_in: Vec::new(),
                    carrier: Carrier::Hub(hub),
                })
            }
            Role::Terminal => {
                let terminal = Terminal::start(&config, Arc::clone(board));
                let terminal = Arc::new(terminal.map_err(failed("the terminal"))?);
                let carrying = Arc::clone(&terminal);
                let carry = move |arrival: Arrival| {
                    let terminal = Arc::clone(&carrying);
                    async move {
                        let _ = terminal.serve(arrival).await;
                    }
                };
                Ok(Engines {
                    ways_in: listen(board, carry)?,
                    carrier: Carrier::Terminal(terminal),
                })
            }
            Role::Single => Err(RunError::start("one box", "not in this build")),
        }
    }

    /// Takes no more connections; those that exist go on.
    pub(super) fn stop_accepting(&mut self) {
        self.ways_in.clear();
        if let Carrier::Hub(hub) = &self.carrier {
            hub.refuse();
        }
    }

    /// Ends everything; connections that exist are reset.
    pub(super) async fn stop(self) {
        drop(self.ways_in);
        match self.carrier {
            Carrier::Terminal(terminal) => terminal.stop().await,
            Carrier::Hub(hub) => hub.stop().await,
        }
    }
}

/// Listens for clients that ask.
fn listen<H, F>(board: &Arc<Board>, carry: H) -> Result<Vec<Serving>, RunError>
where
    H: Fn(Arrival) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let config = board.config();
    let asked = [
        (Kind::Socks, "SOCKS5", &config.socks),
        (Kind::Connect, "HTTP CONNECT", &config.connect),
    ];
    let mut serving = Vec::new();
    for (kind, what, settings) in asked {
        let Some(settings) = settings else { continue };
        let failed = |error: std::io::Error| {
            RunError::start(format!("{what} at {}", settings.listen), error)
        };
        let listener = Listener::bind(kind, settings.listen).map_err(failed)?;
        let settings = Settings {
            answer: settings.answer,
            users: None,
        };
        serving.push(entry::serve(listener, settings, carry.clone()).map_err(failed)?);
    }
    Ok(serving)
}
