//! `bentpipe explore`: the laboratory as a page in the browser.

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
    use crate::api;
    use crate::args::Explore;
    use crate::exit::{Failure, Status};
    use crate::output::Output;
    use bentpipe::compare::{Answer, Comparison};
    use bentpipe::outcome::Outcome;
    use bentpipe::report::plot::Chart;
    use bentpipe::scenario::Scenario;
    use bentpipe::{Paper, Reproduction, Selection};
    use bentpipe_explore::{Laboratory, OptionHelp, Server, Settings};
    use serde_json::Value;
    use std::sync::Arc;

    pub(crate) fn main(args: &Explore, out: &mut Output) -> Result<Status, Failure> {
        let failed = |error: bentpipe_explore::ServerError| Failure::new(error.to_string());
        let settings = Settings {
            port: args.port.unwrap_or(0),
            token: None,
            open: args.open.clone(),
            page: args.page.clone(),
        };
        let server = Server::listen(settings, Arc::new(Command)).map_err(failed)?;
        out.line(server.address())?;
        out.flush()?;
        crate::exit::talk("open this address in a browser; Ctrl-C ends it");
        server.serve().map_err(failed)?;
        Ok(Status::Done)
    }

    /// What this command reads, prints and draws.
    struct Command;

    impl Laboratory for Command {
        fn options(&self) -> Vec<OptionHelp> {
            let options = api::options("compare").into_iter();
            options
                .map(|option| OptionHelp {
                    name: option.name,
                    help: option.help,
                    value: option.value,
                    several: option.several,
                })
                .collect()
        }

        fn comparison(&self, options: &[(String, String)]) -> Result<Comparison, String> {
            api::comparison(options).map_err(|error| error.to_string())
        }

        fn answer(&self, answer: &Answer) -> Value {
            crate::compare::json::document(answer, crate::compare::BUILD)
        }

        fn answer_chart(&self, answer: &Answer) -> Option<Chart> {
            api::answer_chart(answer)
        }

        fn answer_curves(&self, answer: &Answer, all: bool) -> Result<Chart, String> {
            api::answer_curves(answer, all).map_err(|error| error.to_string())
        }

        fn answer_page(&self, answer: &Answer, question: &str) -> String {
            api::answer_page(answer, question)
        }

        fn outcome(&self, outcome: &Outcome, scenario: &Scenario) -> Result<Value, String> {
            let text = api::outcome_json(outcome, scenario).map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|error| error.to_string())
        }

        fn outcome_chart(&self, outcome: &Outcome, scenario: &Scenario) -> Option<Chart> {
            api::outcome_chart(outcome, scenario)
        }

        fn figures(&self, made: &Reproduction) -> Vec<(String, String, Chart)> {
            api::reproduction_charts(made)
        }

        fn transports(&self) -> Value {
            crate::transports::all()
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
