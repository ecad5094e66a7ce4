//! The cost of one acknowledgement in a window of many segments, half of the
//! holes of which are known.

#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use bentpipe_cc::Parameters;
use bentpipe_tcp::packet::SackBlock;
use bentpipe_tcp::{
    CongestionControlChoice, DelayedAck, Endpoint, HostProfile, Pacing, Packet, Recovery, Transport,
};
use bentpipe_units::{Bytes, Duration, Time};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const MSS: u32 = 1448;

fn sender(window: u32, profile: HostProfile, recovery: Recovery) -> (Endpoint, Vec<Packet>) {
    let transport = Transport {
        name: "bench".into(),
        congestion_control: CongestionControlChoice::Named("fixed-window".into()),
        parameters: Parameters::new().with("window", f64::from(window)),
        profile,
        recovery,
        mss: MSS,
        initial_window: f64::from(window),
        initial_ssthresh: None,
        send_buffer: Bytes::MAX,
        receive_buffer: Bytes::new(4_000_000_000),
        delayed_ack: DelayedAck {
            count: 1,
            timer: Duration::from_millis(40),
            quick_acks: 0,
        },
        timestamps: false,
        limited_transmit: false,
        recovery_fix: false,
        undo: false,
        pacing: Pacing::Off,
        ecn: false,
        minimum_rto: None,
        polling: bentpipe_tcp::Polling::default(),
        quic: None,
        tls: None,
        kernel: bentpipe_tcp::KernelSettings::DEFAULT,
    };
    let Ok(controller) = transport.controller() else {
        unreachable!("fixed-window is built in")
    };
    let mut endpoint = Endpoint::new(&transport, controller, 1);
    endpoint.assume_open();
    let mut out = Vec::new();
    endpoint.write(Time::ZERO, Bytes::MAX, &mut out);
    (endpoint, out)
}

/// Selective acknowledgements of a window with every hundredth segment lost.
fn acks(window: u32) -> Vec<Packet> {
    (1..window)
        .filter(|i| i % 100 != 0)
        .map(|i| {
            let mut ack = Packet::new(0);
            ack.flags = bentpipe_tcp::packet::flags::ACK;
            ack.window = 4_000_000_000;
            let first = (i / 100 * 100 + 1) * MSS;
            ack.sack[0] = SackBlock {
                start: first,
                end: (i + 1) * MSS,
            };
            ack.sack_count = 1;
            ack
        })
        .collect()
}

fn selective_acknowledgements(c: &mut Criterion) {
    let hosts = [
        ("sack", HostProfile::Rfc, Recovery::Sack),
        ("rack", HostProfile::Linux, Recovery::Rack),
    ];
    for (name, profile, recovery) in hosts {
        recovery_by(c, name, profile, recovery);
    }
}

fn recovery_by(c: &mut Criterion, name: &str, profile: HostProfile, recovery: Recovery) {
    let mut group = c.benchmark_group(format!("one SACK, 1% lost, {name}"));
    for window in [100u32, 10_000, 100_000] {
        let acks = acks(window);
        group.throughput(Throughput::Elements(acks.len() as u64));
        group.bench_function(format!("window of {window}"), |b| {
            b.iter_batched(
                || sender(window, profile, recovery),
                |(mut endpoint, mut out)| {
                    for ack in &acks {
                        out.clear();
                        endpoint.on_packet(Time::from_nanos(600_000_000), ack, &mut out);
                    }
                    endpoint
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = selective_acknowledgements
}
criterion_main!(benches);
