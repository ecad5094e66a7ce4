//! Poisson traffic over a medium.

use bentpipe_link::medium::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler, SharedLink,
};
use bentpipe_link::{Limit, PacketMeta, QueueSettings, Verdict};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Rate, Time};

pub(crate) const HOP: Duration = Duration::from_millis(250);

/// 2 Mbit/s, frames of 24 ms. A slot takes 250 bytes if there are `24` of them
/// and nothing else in the frame: 1 ms.
pub(crate) fn frame(slots: u32, minislot: u64) -> FrameSettings {
    FrameSettings {
        length: Duration::from_millis(24),
        slots,
        overhead: Bytes::ZERO,
        minislot: Bytes::new(minislot),
    }
}

pub(crate) fn medium(access: AccessSettings) -> MediumSettings {
    MediumSettings {
        rate: Rate::from_mbps(2),
        one_way_delay: HOP,
        access,
    }
}

pub(crate) fn cf_dama(scheduler: Scheduler, requests: Requests) -> MediumSettings {
    let frame = frame(24, 10);
    medium(AccessSettings::CfDama {
        frame,
        scheduler,
        requests,
    })
}

pub(crate) fn on_board() -> Scheduler {
    Scheduler::OnBoard {
        to_satellite: HOP / 2,
    }
}

pub(crate) fn slotted(retransmissions: u32) -> MediumSettings {
    medium(AccessSettings::Aloha(AlohaSettings {
        slot: Some(Duration::from_millis(1)),
        retransmissions,
        ..AlohaSettings::NS2
    }))
}

pub(crate) fn unslotted(retransmissions: u32) -> MediumSettings {
    medium(AccessSettings::Aloha(AlohaSettings {
        retransmissions,
        ..AlohaSettings::NS2
    }))
}

/// Every rule once.
pub(crate) fn all() -> Vec<MediumSettings> {
    let mut all = vec![
        medium(AccessSettings::Tdma {
            frame: frame(24, 0),
        }),
        medium(AccessSettings::Dama {
            frame: frame(24, 10),
            scheduler: Scheduler::Ground,
        }),
        slotted(3),
        unslotted(3),
    ];
    for requests in [
        Requests::Preassigned,
        Requests::Piggyback,
        Requests::Random { minislots: 4 },
    ] {
        all.push(cf_dama(Scheduler::Ground, requests));
        all.push(cf_dama(on_board(), requests));
    }
    all
}

pub(crate) fn shared(settings: &MediumSettings, terminals: usize, seed: u64) -> SharedLink<u64> {
    let queue = QueueSettings::drop_tail(Limit::Packets(100_000));
    SharedLink::new(settings, &queue, Bytes::ZERO, terminals, seed, "uplink")
}

pub(crate) fn at(secs: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(secs)
}

/// Offers `packets`, each of a slot's bytes (250 with ALOHA: 1 ms), at `load`
/// times the rate of the medium, as a Poisson stream over the terminals in turn (`by_turns`, which
/// keeps each of many idle most of the time) or at random, and runs dry.
pub(crate) fn poisson(
    settings: &MediumSettings,
    terminals: usize,
    load: f64,
    packets: u64,
    by_turns: bool,
) -> (SharedLink<u64>, Time) {
    let mut link = shared(settings, terminals, 7);
    let mut stream = Stream::new(7, "poisson");
    let bytes = match settings.slot_payload(terminals).get() {
        0 => 250,
        payload => payload as u32,
    };
    let gap = f64::from(bytes) * 8.0 / settings.rate.bps_f64() / load;
    let mut now = Time::ZERO;
    for n in 0..packets {
        now += Duration::from_secs_f64(stream.exponential(gap));
        drain(&mut link, now, |_, _, _| {});
        let terminal = if by_turns {
            n as usize % terminals
        } else {
            (stream.uniform() * terminals as f64) as usize
        };
        link.offer(now, terminal, n, PacketMeta::plain(bytes));
    }
    let end = now;
    drain(&mut link, Time::MAX, |_, _, _| {});
    (link, end)
}

/// Looks at the medium whenever it wants up to `until`; calls `arrived` with
/// the time, the terminal and the packet of each arrival. Returns the packets
/// that were lost.
pub(crate) fn drain(
    link: &mut SharedLink<u64>,
    until: Time,
    mut arrived: impl FnMut(Time, usize, u64),
) -> Vec<u64> {
    let mut lost = Vec::new();
    while let Some(at) = link.next_event().filter(|at| *at <= until) {
        if let Some((terminal, packet)) = link.deliver_due(at) {
            arrived(at, terminal, packet);
        }
        while let Some((_, packet, verdict)) = link.poll_verdict() {
            assert_eq!(verdict, Verdict::ChannelLoss);
            lost.push(packet);
        }
    }
    lost
}
