//! The comparison as text: recommendation, table, what the numbers rest on.

use crate::exit::Failure;
use crate::output::{Output, digits3, percent, seconds};
use bentpipe::compare::{DEFAULT, GIVEN_UP, Ranking, TransportResult};
use bentpipe_cc::{DefaultValue, find};
use bentpipe_report::table::{Cell, Column, Table, Tone};

/// Prints everything.
pub(super) fn all(comparison: &Ranking, out: &mut Output) -> Result<(), Failure> {
    let path = &comparison.path;
    out.line(format_args!(
        "{} over {}, RTT {}, loss {}, queue {} ({} when full); {}",
        path.size,
        path.rate,
        path.rtt,
        path.loss,
        path.queue,
        seconds(path.full_queue_delay().as_secs()),
        match comparison.seeds.len() {
            1 => "1 run each".to_owned(),
            n => format!("{n} runs each"),
        },
    ))?;
    if let Some(rtt) = path.server_rtt {
        out.line(format_args!(
            "{}; server and gateway {rtt} apart",
            path.pep.describe()
        ))?;
    }
    if let Some(orbit) = &path.orbit {
        let [least, _, most] = orbit.rtt.map(|rtt| digits3(rtt.as_secs() * 1e3));
        let rtt = match least == most {
            true => format!("{least} ms"),
            false => format!("{least} to {most} ms"),
        };
        out.line(format_args!("over {}", orbit.text))?;
        out.line(format_args!(
            "RTT {rtt}, {} changes of path an hour, a path for {} of the time",
            orbit.changes,
            percent(orbit.availability),
        ))?;
    }
    out.line("")?;
    recommendation(comparison, out)?;
    out.line("")?;
    out.table(&table(comparison))?;
    out.line("")?;
    legend(comparison, out)?;
    out.line("")?;
    basis(comparison, out)
}

fn recommendation(comparison: &Ranking, out: &mut Output) -> Result<(), Failure> {
    out.strong(format_args!("Recommended: {}", comparison.headline()))?;
    let Some(pick) = comparison.recommended() else {
        return out.paragraph(
            2,
            &format!(
                "None of the downloads ended within {:.0} hours of simulated time. Are --rate, \
                 --size and --loss what you mean?",
                GIVEN_UP.as_secs() / 3600.0,
            ),
        );
    };
    for line in comparison.reasons() {
        out.paragraph(2, &line)?;
    }
    let (text, commands) = comparison.switch_on();
    out.paragraph(2, &text)?;
    for command in commands {
        out.command(6, command)?;
    }
    if let Some((text, commands)) = comparison.on_stock_linux() {
        out.paragraph(2, &text)?;
        for command in commands {
            out.command(6, command)?;
        }
    }
    if comparison.risks.is_empty() {
        out.paragraph(2, &no_risks(comparison, pick))?;
    } else {
        out.line("  What it risks:")?;
        for risk in &comparison.risks {
            out.point(&risk.explain(&pick.name))?;
        }
    }
    if comparison.path.loss.get() > 0.0 && comparison.seeds.len() < 5 {
        out.paragraph(
            2,
            "Few runs on a lossy link: chance decides much here; use --runs 20.",
        )?;
    }
    Ok(())
}

fn no_risks(comparison: &Ranking, pick: &TransportResult) -> String {
    let wait = format!(
        "others would wait {} at the link (95th percentile), {} of packets are sent again",
        seconds(pick.p95_queueing_delay_s),
        percent(pick.resent_share),
    );
    match &comparison.sharing {
        Some(_) => format!(
            "These runs show no risk against {DEFAULT}: {wait}, and a {DEFAULT} download beside \
             it is not slowed down more than by its own kind."
        ),
        None => format!("These runs show no particular risk: {wait}."),
    }
}

fn table(comparison: &Ranking) -> Table {
    let mut table = Table::new([
        Column::text("transport"),
        Column::number("time [s]"),
        Column::number("±95%").optional(5),
        Column::number("Mbit/s").optional(4),
        Column::number("of ideal").optional(2),
        Column::number("resent").optional(3),
        Column::number("RTOs").optional(6),
        Column::number("wait [ms]"),
        Column::number("range [s]").optional(1),
        Column::bars("time"),
    ]);
    let longest = longest_bar(comparison);
    let scale = Scale {
        decimals: decimals(comparison.ideal.as_secs()),
    };
    let bits = comparison.path.size.as_f64() * 8e-6;
    if comparison.ideal < GIVEN_UP {
        let ideal = comparison.ideal.as_secs();
        let cells = [
            "(ideal bound)".to_owned(),
            scale.time(ideal),
            String::new(),
            format!("{:.2}", bits / ideal),
            "100%".to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
        ];
        let bar = Cell::bar(ideal, longest);
        let cells = cells.into_iter().map(Cell::new).chain([bar]);
        table.row(cells.map(|c| c.tone(Tone::Faint)));
    }
    let pick = comparison.recommendation.as_ref().map(|a| a.pick);
    for (i, m) in comparison.results.iter().enumerate() {
        let tone = if Some(i) == pick {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let cells = row(m, Some(i) == pick, &scale);
        let bar = m.times.map(|times| Cell::bar(times.mean, longest));
        let cells = cells.into_iter().map(Cell::new).chain(bar);
        table.row(cells.map(|c| c.tone(tone)));
    }
    table
}

/// What all rows share.
struct Scale {
    decimals: usize,
}

impl Scale {
    fn time(&self, seconds: f64) -> String {
        format!("{seconds:.*}", self.decimals)
    }
}

/// The time that fills a bar: the longest, but no outlier that would leave the
/// others without one.
fn longest_bar(comparison: &Ranking) -> f64 {
    let times = comparison
        .results
        .iter()
        .filter_map(|m| m.times.map(|t| t.mean));
    let times: Vec<f64> = times.collect();
    let longest = times
        .iter()
        .copied()
        .fold(comparison.ideal.as_secs(), f64::max);
    // They are sorted by time, but for those that did not end.
    let median = times.get(times.len() / 2).copied().unwrap_or(longest);
    longest.min(4.0 * median)
}

/// Decimals that show differences of a percent.
fn decimals(seconds: f64) -> usize {
    match seconds {
        s if s < 1.0 => 3,
        s if s < 5.0 => 2,
        _ => 1,
    }
}

fn row(m: &TransportResult, picked: bool, scale: &Scale) -> [String; 9] {
    let name = if picked {
        format!("{} <--", m.name)
    } else {
        m.name.clone()
    };
    let rest = [
        percent(m.resent_share),
        format!("{:.1}", m.timeouts_per_transfer),
        format!("{:.0}", 1e3 * m.p95_queueing_delay_s),
    ];
    let [resent, timeouts, wait] = rest;
    let Some(times) = m.times else {
        let none = || "-".to_owned();
        let time = "no end".to_owned();
        return [
            name,
            time,
            none(),
            none(),
            none(),
            resent,
            timeouts,
            wait,
            none(),
        ];
    };
    let range = if times.n > 1 && times.max > times.min {
        format!("{}-{}", scale.time(times.min), scale.time(times.max))
    } else {
        String::new()
    };
    let range = if m.unfinished > 0 {
        format!("{range} ({} no end)", m.unfinished)
    } else {
        range
    };
    [
        name,
        scale.time(times.mean),
        times.ci95.map_or_else(String::new, |ci| scale.time(ci)),
        format!("{:.2}", m.goodput_bps / 1e6),
        format!("{:.0}%", 100.0 * m.share_of_ideal),
        resent,
        timeouts,
        wait,
        range,
    ]
}

fn legend(comparison: &Ranking, out: &mut Output) -> Result<(), Failure> {
    out.paragraph(
        0,
        "Mean over the runs. of ideal: time of the bound / time. resent: share of packets sent \
         again. RTOs: timeouts per download. wait: what packets of others would wait at the link \
         while the download runs, 95th percentile.",
    )?;
    out.line("")?;
    let width = comparison
        .results
        .iter()
        .map(|m| m.name.len())
        .max()
        .unwrap_or(0);
    let mut rows: Vec<&TransportResult> = comparison.results.iter().collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    for m in rows {
        let text = format!("{}: {}", m.availability.name(), m.about);
        out.entry(2, &m.name, width, &text)?;
    }
    Ok(())
}

/// The values that make results incomparable if they differ.
fn basis(comparison: &Ranking, out: &mut Output) -> Result<(), Failure> {
    let path = &comparison.path;
    out.paragraph(
        0,
        "Compare these numbers only with others that share these values:",
    )?;
    for point in points(comparison) {
        out.point(&point)?;
    }
    let seed = comparison.seeds.first().copied().unwrap_or(0);
    out.paragraph(
        0,
        &format!(
            "Simulated: one download alone on the link, seed {seed}, {} on the way back.",
            path.return_rate,
        ),
    )
}

/// Those values, in words.
pub(super) fn points(comparison: &Ranking) -> Vec<String> {
    let (path, candidates) = (&comparison.path, &comparison.candidates);
    let transports = || candidates.iter().map(|c| &c.transport);
    let bdp = path.bdp();
    let windows = |t: &bentpipe_tcp::Transport| t.receive_buffer.as_f64() / bdp.as_f64().max(1.0);
    let mut iw: Vec<u64> = transports().map(|t| t.initial_window as u64).collect();
    iw.sort_unstable();
    iw.dedup();
    let iw: Vec<String> = iw.iter().map(u64::to_string).collect();
    let (low, high) = transports()
        .map(windows)
        .fold((f64::INFINITY, 0.0_f64), |(l, h), w| (l.min(w), h.max(w)));
    let windows = if low < high {
        format!("windows from {} to {}", digits3(low), digits3(high))
    } else {
        format!("window of {}", digits3(low))
    };
    let mut points = vec![
        format!(
            "initial windows of {} segments (MSS 1448 with timestamps)",
            iw.join(", ")
        ),
        format!(
            "receive {windows} BDP (one BDP: {bdp}, {} packets); queue {} BDP",
            path.bdp_segments(),
            digits3(path.queue_bytes().as_f64() / bdp.as_f64().max(1.0)),
        ),
    ];
    if let Some(t) = candidates.first().map(|c| &c.transport) {
        points.push(format!(
            "delayed ACKs: one per {} segments, at the latest after {}; smallest RTO {}; host \
             profile `{}`",
            t.delayed_ack.count,
            t.delayed_ack.timer,
            t.minimum_rto.unwrap_or(t.profile.rules().minimum_rto),
            t.profile.name(),
        ));
    }
    points.push(
        "growth per segment acknowledged for what comes with Linux (but Hybla), per ACK for the \
         papers' proposals"
            .to_owned(),
    );
    if candidates.iter().any(|c| c.name.starts_with("hybla"))
        && let Some(rtt0) = reference_rtt()
    {
        points.push(format!("RTT0 of Hybla: {rtt0} (ns-3 has 50 ms)"));
    }
    points.push(format!(
        "time runs from the first data segment to the last ACK; opening a connection takes {} more",
        path.rtt
    ));
    points
}

fn reference_rtt() -> Option<String> {
    let parameter = find("hybla")?
        .parameters
        .iter()
        .find(|p| p.name == "rtt0")?;
    match parameter.default {
        DefaultValue::Duration(rtt0) => Some(rtt0.to_string()),
        _ => None,
    }
}
