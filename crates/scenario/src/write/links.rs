//! Links, their queues, and their timelines.

use super::{WriteError, node, plain};
use crate::model::{Link, LinkId, Offload, Scenario};
use crate::read::{jitter, slots};
use crate::schema::link::LineKeys;
use crate::schema::protection::ArqTable;
use bentpipe_document::form::word_of;
use bentpipe_document::{Form, Table, Value};
use bentpipe_link::{InFlightPolicy, Loss, Piece, Timeline, WhenDown};
use bentpipe_units::{Duration, Rate, Ratio, Time};

/// Writes every pair of links.
pub(super) fn write(top: &mut Table, scenario: &Scenario) -> Result<(), WriteError> {
    for (link, i) in scenario.links.iter().zip(0..) {
        let back = link
            .reverse
            .and_then(|id| scenario.links.get(id.0 as usize));
        let Some(back) = back.filter(|back| back.reverse == Some(LinkId(i))) else {
            return Err(WriteError::new(format!(
                "link `{}` has no way back",
                link.name
            )));
        };
        // The reverse direction is written in the table of its pair.
        if link.reverse.is_some_and(|id| id.0 < i) {
            continue;
        }
        let mut table = Table::default();
        let ends = [link.from, link.to].map(|end| node(scenario, end).into());
        table.put("between", Value::list(ends));
        if link.reports_corruption {
            table.put("reports_corruption", true);
        }
        if link.offload != Offload::default() {
            table.put("offload", word_of(&Offload::ALL, &link.offload));
        }
        direction(&mut table, link, None)?;
        if let Some(slots) = &link.slots {
            table.put("slots", slots::written(slots));
        }
        let mut reverse = Table::default();
        direction(&mut reverse, back, Some(link))?;
        table.put("reverse", Value::Table(reverse));
        top.put_in("link", plain(&link.name, "link")?, Value::Table(table));
    }
    Ok(())
}

/// The keys of a direction; the way back says what it would take from the way forth.
fn direction(table: &mut Table, link: &Link, forth: Option<&Link>) -> Result<(), WriteError> {
    table.put_all(&LineKeys::written(&link.settings));
    if link.arq.is_some() || forth.is_some_and(|forth| forth.arq.is_some()) {
        table.put("arq", ArqTable::written(&link.arq.as_deref().copied()));
    }
    if link.jitter.is_some() || forth.is_some_and(|forth| forth.jitter.is_some()) {
        table.put("jitter", jitter::written(link.jitter.as_deref()));
    }
    match &link.timeline {
        Some(line) => timeline(table, line, &link.name),
        None => Ok(()),
    }
}

fn timeline(table: &mut Table, line: &Timeline, name: &str) -> Result<(), WriteError> {
    if line.opportunities().is_some() {
        let what = format!("link `{name}` follows a trace of delivery opportunities");
        return Err(WriteError::new(what));
    }
    table.put("timeline", Value::list(line.pieces().iter().map(piece)));
    if let Some(period) = line.period() {
        table.put_as::<Duration, _>("repeat", &period);
    }
    let (when_down, in_flight) = line.rules();
    let when_down = match when_down {
        WhenDown::Lost => "lost",
        WhenDown::Waits => "waits",
    };
    let in_flight = match in_flight {
        InFlightPolicy::Delivered => "delivered",
        InFlightPolicy::Lost => "lost",
    };
    table.put("when_down", when_down);
    table.put("in_flight", in_flight);
    Ok(())
}

fn piece(piece: &Piece) -> Value {
    let Piece {
        from,
        rate,
        one_way_delay,
        sloped,
        loss,
        up,
        route,
        jitter,
    } = piece;
    let mut table = Table::default();
    table.put_as::<Duration, _>("at", &from.since(Time::ZERO));
    table.put_as::<Rate, _>("rate", rate);
    table.put_as::<Duration, _>("one_way_delay", one_way_delay);
    if *sloped {
        table.put("linear", true);
    }
    match loss {
        Loss::Channel => {}
        Loss::Packets(share) => table.put_as::<Ratio, Ratio>("packet_error_rate", share),
        Loss::Bits(share) => table.put_as::<Ratio, Ratio>("bit_error_rate", share),
    }
    table.put("up", *up);
    table.put("route", *route);
    if let Some(jitter) = jitter {
        table.put_as::<Duration, _>("jitter", jitter);
    }
    Value::Table(table)
}
