//! `bentpipe explore`: the laboratory as a page in the browser.

#[cfg(feature = "explore")]
mod browser;
#[cfg(feature = "explore")]
mod state;

#[cfg(not(feature = "explore"))]
mod real {
    //! A build without the explorer says so.

    use crate::args::Explore;
    use crate::exit::{Failure, Status};
    use crate::output::Output;

    pub(crate) fn main(_: &Explore, _: &mut Output) -> Result<Status, Failure> {
        Err(Failure::new(
            "this build has no explorer\n  build it with `make`, which needs npm for the page",
        ))
    }
}

#[cfg(feature = "explore")]
mod real {
    use super::browser;
    use super::state::State;
    use crate::args::Explore;
    use crate::args::explore::PORT;
    use crate::compare::BUILD;
    use crate::exit::{Failure, Status, talk};
    use crate::live::beside;
    use crate::output::Output;
    use bentpipe_explore::{RealHosts, Server, ServerError, Settings};

    /// Ports that are tried from the first on.
    const PORTS: u16 = 20;

    pub(crate) fn main(args: &Explore, out: &mut Output) -> Result<Status, Failure> {
        if args.page.is_none() && !bentpipe_explore::is_built() {
            return Err(Failure::new(
                "this build has the server of the explorer and not its page\n  \
                 build it with `make`, which needs npm for the page",
            ));
        }
        let state = State::find();
        let token = state.as_ref().and_then(|state| match state.token() {
            Ok(token) => Some(token),
            Err(error) => {
                let text = "open tabs will not go on after a restart: cannot keep the token in";
                talk(format_args!("{text} `{}`: {error}", state.path().display()));
                None
            }
        });
        let settings = |port| Settings {
            port,
            token: token.clone(),
            open: args.open.clone(),
            page: args.page.clone(),
            build: BUILD,
            real_hosts: REAL_HOSTS,
        };
        let server = listen(args.port, settings)?;
        let address = server.address();
        out.line(&address)?;
        out.flush()?;
        if !args.no_open && browser::open(&address, state.as_ref()) {
            talk("the page opens in your browser; Ctrl-C ends it");
        } else {
            talk("open this address in a browser; Ctrl-C ends it");
        }
        server.serve().map_err(failed)?;
        Ok(Status::Done)
    }

    fn failed(error: ServerError) -> Failure {
        Failure::new(error.to_string())
    }

    /// A server on the port that was asked for, or on the first that is free.
    fn listen(asked: Option<u16>, settings: impl Fn(u16) -> Settings) -> Result<Server, Failure> {
        let listen = |port| Server::listen(settings(port));
        if let Some(port) = asked {
            return listen(port).map_err(|error| match error.is_taken() {
                true => Failure::new(format!(
                    "port {port} is taken, perhaps by another `bentpipe explore`\n  \
                     without --port, one that is free is found"
                )),
                false => failed(error),
            });
        }
        for port in PORT..PORT + PORTS {
            match listen(port) {
                Err(error) if error.is_taken() => {}
                listening => return listening.map_err(failed),
            }
        }
        listen(0).map_err(failed)
    }

    /// What the page takes from the command.
    const REAL_HOSTS: RealHosts = RealHosts {
        lacking: beside::lacking,
        on_both: |scenario, seed, stop, progress| {
            let print = |out: &mut Output| beside::both(scenario, seed, stop, progress, out);
            Output::tables_of(ROWS, print).map_err(|failure| failure.text())
        },
    };

    /// Rows of a table of a run in the page, at most.
    const ROWS: usize = 200;
}

pub(crate) use real::main;
