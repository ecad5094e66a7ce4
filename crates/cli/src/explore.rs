//! `bentpipe explore`: the laboratory as a page in the browser.

#[cfg(feature = "explore")]
mod asked;
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
    use super::state::State;
    use super::{asked, browser};
    use crate::api;
    use crate::args::Explore;
    use crate::args::explore::PORT;
    use crate::compare::print;
    use crate::exit::{Failure, Status, talk};
    use crate::output::Output;
    use bentpipe::compare::{Answer, Comparison};
    use bentpipe::outcome::Outcome;
    use bentpipe::report::plot::Chart;
    use bentpipe::report::table::Table;
    use bentpipe::scenario::space::ExpandedConstellations;
    use bentpipe::scenario::{Link, Scenario};
    use bentpipe::sim::Stop;
    use bentpipe::units::{Duration, Time};
    use bentpipe::{Paper, Reproduction, Selection};
    use bentpipe_explore::{
        Drawing, Laboratory, OptionHelp, Printed, Refused, Server, ServerError, Settings, Shown,
    };
    use serde_json::Value;
    use std::sync::Arc;

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
        let listen = |port| Server::listen(settings(port), Arc::new(Command));
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

    /// What this command reads, prints and draws.
    struct Command;

    /// Rows of a table of a run in the page, at most.
    const ROWS: usize = 200;

    impl Laboratory for Command {
        fn options(&self) -> Vec<OptionHelp> {
            asked::options()
        }

        fn comparison(&self, options: &[(String, String)]) -> Result<Comparison, Refused> {
            api::asked(options).map_err(asked::refused)
        }

        fn command(&self, options: &[(String, String)]) -> String {
            asked::command(options)
        }

        fn python(&self, options: &[(String, String)]) -> String {
            asked::python(options)
        }

        fn question(&self, answer: &Answer) -> Vec<String> {
            print::question(answer)
        }

        fn verdict(&self, answer: &Answer) -> Value {
            crate::compare::json::verdict(answer, crate::compare::BUILD)
        }

        fn table(&self, answer: &Answer) -> Shown {
            let table = print::table_of(answer, true, "");
            let texts = |row: Vec<&str>| row.into_iter().map(str::to_owned).collect();
            let headings = texts(table.headings());
            let rows = table.texts().into_iter().map(texts).collect();
            (headings, rows, print::words(answer))
        }

        fn time(&self, seconds: f64) -> String {
            print::decimal(seconds)
        }

        fn change(&self, share: f64) -> String {
            print::signed(share)
        }

        fn answer(&self, answer: &Answer) -> Value {
            crate::compare::json::document(answer, crate::compare::BUILD)
        }

        fn answer_chart(&self, answer: &Answer) -> Option<Chart> {
            api::answer_chart(answer)
        }

        fn answer_page(&self, answer: &Answer, question: &str) -> String {
            api::answer_page(answer, question)
        }

        fn outcome_tables(
            &self,
            outcome: &Outcome,
            scenario: &Scenario,
        ) -> Result<Printed, String> {
            let printed = api::outcome_tables(outcome, scenario, ROWS);
            let (tables, rest) = printed.map_err(|error| error.to_string())?;
            Ok(Printed { tables, rest })
        }

        fn lacking(&self) -> Option<String> {
            crate::live::beside::lacking()
        }

        fn on_both(
            &self,
            scenario: &Scenario,
            seed: u64,
            stop: &Stop,
            progress: &dyn Fn(f64),
        ) -> Result<Printed, String> {
            let print =
                |out: &mut Output| crate::live::beside::both(scenario, seed, stop, progress, out);
            let printed = Output::tables_of(ROWS, print);
            let (tables, rest) =
                printed.map_err(|failure| api::Error::from(failure).to_string())?;
            Ok(Printed { tables, rest })
        }

        fn outcome_spread(&self, outcomes: &[Outcome]) -> Table {
            crate::run::spread::table(outcomes)
        }

        fn series_interval(&self, scenario: &Scenario) -> Duration {
            api::series_interval(scenario)
        }

        fn checked(&self, scenario: &Scenario) -> Value {
            crate::check::document(scenario)
        }

        fn arrange(&self, drawing: &mut Drawing) {
            crate::map::network::arrange::arrange(drawing);
        }

        fn link_words(&self, scenario: &Scenario, link: &Link) -> Vec<String> {
            crate::map::network::arrange::words(scenario, link)
        }

        fn quantities(&self) -> Vec<(&'static str, &'static str)> {
            crate::help::QUANTITIES.to_vec()
        }

        fn figures(&self, made: &Reproduction) -> Vec<(String, String, Chart)> {
            api::reproduction_charts(made)
        }

        fn map_picture(
            &self,
            scenario: &Scenario,
            space: &ExpandedConstellations,
            at: Time,
        ) -> String {
            crate::map::picture(scenario, space, at)
        }

        fn papers(&self) -> Result<Value, String> {
            let text = api::papers_json().map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|error| error.to_string())
        }

        fn paper(&self, name: &str, item: Option<&str>) -> Result<(Paper, Selection), String> {
            api::paper(name, item).map_err(|error| error.to_string())
        }
    }
}

pub(crate) use real::main;
