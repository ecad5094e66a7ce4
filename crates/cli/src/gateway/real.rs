//! The subcommands, in a build that has the gateway.

use super::file::read;
use super::{check, doctor, keys, new, status};
use crate::args::gateway::{
    Gateway, GatewayCommand, GatewayRate, GatewayRules, GatewayRun, GatewaySchema, RulesAction,
};
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use bentpipe_document::reference;
use bentpipe_gateway::config::{control_folder, schema};
use bentpipe_gateway::gateway::{Options, run};
use bentpipe_gateway::intercept::{self, Plan};
use bentpipe_gateway::operate::client::AskError;
use bentpipe_present::schema::print_section;

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// Runs a gateway or a subcommand.
pub(crate) fn main(args: &Gateway, out: &mut Output) -> Result<Status, Failure> {
    match &args.command {
        None => start(&args.run),
        Some(GatewayCommand::Run(args)) => start(args),
        Some(GatewayCommand::New(args)) => new::main(args, out),
        Some(GatewayCommand::Check(args)) => check::main(args, out),
        Some(GatewayCommand::Keys(args)) => keys::main(args, out),
        Some(GatewayCommand::Status(args)) => status::main(args, out),
        Some(GatewayCommand::Doctor(args)) => doctor::main(args, out),
        Some(GatewayCommand::Rules(args)) => rules(args, out),
        Some(GatewayCommand::Rate(args)) => rate(args, out),
        Some(GatewayCommand::Schema(args)) => print_schema(args, out),
    }
}

fn start(args: &GatewayRun) -> Result<Status, Failure> {
    let Some(file) = &args.file else {
        return Err(Failure::new("which configuration? `bentpipe gateway FILE`"));
    };
    let options = Options {
        file: file.clone(),
        take_over: args.take_over,
    };
    run(&options)?;
    Ok(Status::Done)
}

fn rate(args: &GatewayRate, out: &mut Output) -> Result<Status, Failure> {
    let socket = status::socket(args.which.as_deref())?;
    let now = bentpipe_gateway::operate::client::set_rate(&socket, &args.rate)?;
    out.line(format_args!("the rate of the link is {now}"))?;
    Ok(Status::Done)
}

fn rules(args: &GatewayRules, out: &mut Output) -> Result<Status, Failure> {
    let config = read(&args.file)?;
    let failed = |error: intercept::Error| Failure::new(error.to_string());
    let Some(plan) = Plan::of(&config) else {
        talk("the configuration has no [intercept]: there are no rules");
        return Ok(Status::Done);
    };
    match args.action {
        RulesAction::Print => out.text(&intercept::print(&plan))?,
        RulesAction::Remove => {
            let (table, mut removed) = (plan.table(), false);
            for left in intercept::left(&control_folder()).map_err(failed)? {
                if left.table == table && left.here {
                    intercept::remove(&left).map_err(failed)?;
                    removed = true;
                }
            }
            out.line(match removed {
                true => "the rules are removed",
                false => "there are no rules of this gateway",
            })?;
        }
    }
    Ok(Status::Done)
}

fn print_schema(args: &GatewaySchema, out: &mut Output) -> Result<Status, Failure> {
    if args.json {
        let title = "A configuration of the gateway of bentpipe";
        out.json(&reference::json_schema(schema(), title))?;
    } else if args.markdown {
        out.text(&bentpipe_gateway::config::reference())?;
    } else {
        for section in schema().all() {
            print_section(section, out)?;
            out.line("")?;
        }
    }
    Ok(Status::Done)
}
