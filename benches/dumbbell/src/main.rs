//! A dumbbell of three links for speed comparisons with other simulators:
//! `sender - R1 - R2 - receiver`, one pair of hosts per flow, persistent SACK
//! flows. Prints one line of JSON.
//!
//! ```text
//! cargo run --release -p dumbbell -- --flows 10 --rate 10Mbit/s --loss 0.01 --duration 60s
//! ```

#![allow(clippy::print_stdout, reason = "the result goes to standard output")]

use bentpipe_cc::Parameters;
use bentpipe_link::{
    ChannelSettings, Limit, LinkSettings, Loss, Piece, QueueSettings, Timeline, TimelineError,
};
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, HostProfile, Pacing, Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use std::sync::Arc;

struct Setting {
    flows: u32,
    rate: Rate,
    loss: Ratio,
    duration: Duration,
    /// A constant window instead of a congestion control, segments.
    window: Option<f64>,
    /// The bottleneck follows a timeline with pieces of this length, in which
    /// its delay moves by a millisecond up and down and all else stays.
    timeline: Option<Duration>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut setting = Setting {
        flows: 1,
        rate: Rate::from_mbps(10),
        loss: Ratio::ZERO,
        duration: Duration::from_secs(60),
        window: None,
        timeline: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--flows" => setting.flows = value.parse()?,
            "--rate" => setting.rate = value.parse()?,
            "--loss" => setting.loss = value.parse()?,
            "--duration" => setting.duration = value.parse()?,
            "--window" => setting.window = Some(value.parse()?),
            "--timeline" => setting.timeline = Some(value.parse()?),
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    let before = cpu_seconds();
    let scenario = dumbbell(&setting)?;
    let options = Options {
        queueing_delays: false,
        ..Options::default()
    };
    let set_up = cpu_seconds();
    let outcome = run(&scenario, &options)?;
    let done = cpu_seconds();
    let acks: u64 = outcome.flows.iter().map(|f| f.acks_received).sum();
    let data: u64 = outcome.flows.iter().map(|f| f.packets_sent).sum();
    let goodput: f64 = outcome
        .flows
        .iter()
        .map(|f| f.acknowledged.as_f64() * 8e-6)
        .sum::<f64>()
        / setting.duration.as_secs();
    println!(
        "{{\"peer\":\"bentpipe\",\"flows\":{},\"rate_mbps\":{},\"loss\":{},\"data_packets\":{data},\
         \"ack_packets\":{acks},\"packet_hops\":{},\"events\":{},\"setup_cpu_s\":{:.6},\
         \"run_cpu_s\":{:.6},\"goodput_mbps\":{goodput:.6}}}",
        setting.flows,
        setting.rate.bps_f64() / 1e6,
        setting.loss.get(),
        outcome.packet_hops,
        outcome.events,
        set_up - before,
        done - set_up,
    );
    Ok(())
}

/// CPU seconds of this process so far, user and system.
fn cpu_seconds() -> f64 {
    // From libc: a direct look at the vDSO fails under valgrind.
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(0.0, |t| t.tv_sec() as f64 + t.tv_nsec() as f64 * 1e-9)
}

fn transport(setting: &Setting) -> Transport {
    let congestion_control = if setting.window.is_some() {
        "fixed-window"
    } else {
        "newreno"
    };
    let mut parameters = Parameters::new();
    if let Some(window) = setting.window {
        parameters = parameters.with("window", window);
    }
    Transport {
        name: "sack".into(),
        congestion_control: CongestionControlChoice::Named(congestion_control.into()),
        parameters,
        profile: HostProfile::Rfc,
        recovery: Recovery::Sack,
        mss: 1460,
        initial_window: setting.window.unwrap_or(10.0),
        initial_ssthresh: None,
        send_buffer: Bytes::MAX,
        receive_buffer: Bytes::new(4_000_000_000),
        delayed_ack: DelayedAck {
            count: 1,
            timer: Duration::from_millis(100),
            quick_acks: 0,
        },
        timestamps: false,
        limited_transmit: true,
        recovery_fix: false,
        undo: false,
        pacing: Pacing::Off,
        ecn: false,
        minimum_rto: None,
        polling: bentpipe_tcp::Polling::default(),
        kernel: bentpipe_tcp::KernelSettings::DEFAULT,
        quic: None,
        tls: None,
    }
}

/// Two pieces between which the delay moves, again and again.
fn timeline(rate: Rate, length: Duration) -> Result<Timeline, TimelineError> {
    let piece = |from, ms| Piece {
        from,
        rate,
        one_way_delay: Duration::from_millis(ms),
        sloped: true,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    };
    let pieces = vec![piece(Time::ZERO, 290), piece(Time::ZERO + length, 291)];
    Timeline::new(pieces)?.repeating(length * 2)
}

fn dumbbell(setting: &Setting) -> Result<Scenario, Box<dyn std::error::Error>> {
    let rtt = Duration::from_millis(600);
    let bdp = setting.rate.bytes_in(rtt).get() / 1500;
    let queue = |packets| QueueSettings::drop_tail(Limit::Packets(packets));
    let settings = |rate, ms, packets, channel| LinkSettings {
        channel,
        ..LinkSettings::new(rate, Duration::from_millis(ms), queue(packets))
    };
    let access_rate = Rate::from_bps(setting.rate.bps() * 10);
    let lossy = ChannelSettings::Uniform {
        packet_error_rate: setting.loss,
    };
    let perfect = ChannelSettings::Perfect;
    let mut builder = Scenario::builder("dumbbell");
    builder.duration(setting.duration);
    let (r1, r2) = (builder.node("r1"), builder.node("r2"));
    let bottleneck = |channel| settings(setting.rate, 290, bdp as u32, channel);
    match setting.timeline {
        None => {
            builder.asymmetric_link("bottleneck", r1, r2, bottleneck(lossy), bottleneck(perfect));
        }
        Some(length) => {
            let timeline = Arc::new(timeline(setting.rate, length)?);
            let both = [timeline.clone(), timeline];
            builder.link_with_timeline("bottleneck", r1, r2, bottleneck(lossy), both);
        }
    }
    for i in 1..=setting.flows {
        let sender = builder.node(format!("sender[{i}]"));
        let receiver = builder.node(format!("receiver[{i}]"));
        let access = settings(access_rate, 5, 1_000_000, perfect);
        builder.link(format!("up[{i}]"), sender, r1, access.clone());
        builder.link(format!("down[{i}]"), r2, receiver, access);
        let start = u64::from(i - 1) * 1_000_000_000 / u64::from(setting.flows);
        builder
            .flow(
                format!("flow[{i}]"),
                sender,
                receiver,
                Application::Persistent,
            )
            .transport(transport(setting))
            .start(Time::from_nanos(start));
    }
    Ok(builder.build()?)
}
