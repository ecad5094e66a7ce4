//! What a snapshot tells about loss repair, and the windows of the handshake.

use crate::pipe::plain;
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{
    CongestionState, DelayedAck, Endpoint, HostProfile, Packet, Recovery, Transport,
};
use bentpipe_units::{Bytes, Duration, Time};

const MSS: u64 = 1000;

/// An end of a Linux host, and a peer that the test plays.
struct Peer {
    end: Endpoint,
    now: Time,
    /// What the end sent since the last look: sequence numbers.
    sent: Vec<u64>,
}

fn linux(recovery: Recovery) -> Transport {
    Transport {
        profile: HostProfile::Linux,
        recovery,
        initial_window: 10.0,
        limited_transmit: true,
        timestamps: false,
        delayed_ack: DelayedAck {
            count: 1,
            ..plain().delayed_ack
        },
        ..plain()
    }
}

impl Peer {
    fn of(transport: &Transport) -> Peer {
        let end = Endpoint::new(transport, transport.controller().unwrap(), 1);
        Peer {
            end,
            now: Time::ZERO,
            sent: Vec::new(),
        }
    }

    fn open(transport: &Transport) -> Peer {
        let mut peer = Peer::of(transport);
        peer.end.assume_open();
        peer
    }

    fn note(&mut self, out: &[Packet]) {
        let data = out.iter().filter(|p| p.payload > 0);
        self.sent.extend(data.map(|p| p.sequence / MSS));
    }

    fn write(&mut self, segments: u64) {
        let mut out = Vec::new();
        self.end
            .write(self.now, Bytes::new(segments * MSS), &mut out);
        self.note(&out);
    }

    fn receive(&mut self, packet: &Packet) -> Vec<Packet> {
        self.now += Duration::from_millis(10);
        let mut out = Vec::new();
        self.end.on_packet(self.now, packet, &mut out);
        self.note(&out);
        out
    }

    fn packet(flags: u8, acknowledgement: u64, window: u32) -> Packet {
        let mut packet = Packet::new(0);
        packet.flags = flags;
        (packet.acknowledgement, packet.window, packet.bytes) = (acknowledgement, window, 40);
        packet
    }

    /// An ACK of `segments`, with a selective one of those from `sacked.0` to below
    /// `sacked.1`; what it let the end send.
    fn ack(&mut self, segments: u64, sacked: Option<(u64, u64)>) -> Vec<u64> {
        let mut packet = Peer::packet(flags::ACK, segments * MSS, 1 << 20);
        if let Some((from, to)) = sacked {
            packet.sack[0] = bentpipe_tcp::packet::SackBlock {
                start: ((from - segments) * MSS) as u32,
                end: ((to - segments) * MSS) as u32,
            };
            packet.sack_count = 1;
        }
        self.sent.clear();
        self.receive(&packet);
        std::mem::take(&mut self.sent)
    }

    /// State, sacked, lost, retransmitted, flight.
    fn sees(&self) -> (CongestionState, u32, u32, u32, usize) {
        let s = self.end.snapshot();
        (
            s.congestion_state,
            s.sacked,
            s.lost,
            s.retransmitted,
            s.flight,
        )
    }

    fn wait_for_timer(&mut self) {
        self.now = self.end.deadline();
        let mut out = Vec::new();
        self.end.on_deadline(self.now, &mut out);
        self.note(&out);
    }
}

#[test]
fn a_snapshot_shows_a_recovery_of_linux() {
    let mut peer = Peer::open(&linux(Recovery::Rack));
    peer.write(100);
    peer.ack(0, None);
    assert_eq!(peer.sees(), (CongestionState::Open, 0, 0, 0, 10));
    assert_eq!(peer.end.snapshot().reordering, 3);
    peer.ack(0, Some((1, 3)));
    let (state, sacked, lost, ..) = peer.sees();
    assert_eq!((state, sacked, lost), (CongestionState::Disorder, 2, 0));
    // The third above the hole: it is lost and goes again.
    let sent = peer.ack(0, Some((1, 4)));
    assert!(sent.contains(&0), "{sent:?}");
    let (state, sacked, lost, again, flight) = peer.sees();
    assert_eq!(
        (state, sacked, lost, again),
        (CongestionState::Recovery, 3, 1, 1)
    );
    let outstanding = 10 + sent.len() - 1 + 2;
    assert_eq!(flight, outstanding - 3, "lost once and sent again once");
    // What overtook four and is acknowledged late was reordered.
    peer.ack(12, None);
    assert_eq!(peer.sees().0, CongestionState::Open);
}

#[test]
fn a_snapshot_shows_reordering() {
    let mut peer = Peer::open(&linux(Recovery::Rack));
    peer.write(100);
    peer.ack(0, Some((8, 9)));
    peer.ack(1, Some((8, 9)));
    // From the first segment to the end of the ninth.
    assert_eq!(peer.end.snapshot().reordering, 9);
}

#[test]
fn a_snapshot_shows_a_timeout_and_an_ecn_echo() {
    let mut peer = Peer::open(&linux(Recovery::Rack));
    peer.write(4);
    while peer.sees().0 != CongestionState::Loss {
        peer.wait_for_timer();
        assert!(peer.now < Time::ZERO + Duration::from_secs(10));
    }
    let (_, sacked, lost, again, _) = peer.sees();
    assert_eq!((sacked, lost, again), (0, 4, 1));
    let mut peer = Peer::open(&Transport {
        ecn: true,
        ..linux(Recovery::Rack)
    });
    peer.write(100);
    let mut echo = Peer::packet(flags::ACK | flags::ECE, MSS, 1 << 20);
    echo.bytes = 40;
    peer.receive(&echo);
    assert_eq!(peer.sees().0, CongestionState::Cwr);
}

#[test]
fn without_sack_duplicates_count_as_arrived() {
    for profile in [HostProfile::Linux, HostProfile::Rfc] {
        let mut peer = Peer::open(&Transport {
            profile,
            ..linux(Recovery::NewReno)
        });
        peer.write(100);
        peer.ack(1, None);
        for duplicates in 1..=2 {
            assert_eq!(peer.ack(1, None).len(), 1, "limited transmit");
            let (state, sacked, lost, ..) = peer.sees();
            assert_eq!(
                (state, sacked, lost),
                (CongestionState::Disorder, duplicates, 0)
            );
        }
        assert_eq!(peer.ack(1, None)[0], 1, "the third: fast retransmit");
        let (state, sacked, lost, again, _) = peer.sees();
        assert_eq!(
            (state, sacked, lost, again),
            (CongestionState::Recovery, 3, 1, 1)
        );
    }
}

/// `tcp_add_reno_sack` and `tcp_remove_reno_sacks`: in recovery without SACK duplicate ACKs count,
/// and a partial ACK takes back those of the segments that it acknowledges beside the hole.
#[test]
fn in_recovery_without_sack_a_partial_ack_takes_back_what_duplicates_counted() {
    for profile in [HostProfile::Linux, HostProfile::Rfc] {
        let mut peer = Peer::open(&Transport {
            profile,
            initial_window: 20.0,
            limited_transmit: false,
            ..linux(Recovery::NewReno)
        });
        peer.write(20);
        // It brings the window.
        peer.ack(0, None);
        // 0 and 6 are lost: 1 to 5 and 7 to 19 each bring a duplicate.
        for _ in 0..10 {
            peer.ack(0, None);
        }
        assert_eq!(peer.sees().0, CongestionState::Recovery);
        assert_eq!(peer.sees().1, 10);
        for _ in 10..18 {
            peer.ack(0, None);
        }
        assert_eq!(peer.sees().1, 18);
        // The hole and five of the eighteen.
        peer.ack(6, None);
        assert_eq!(peer.sees().0, CongestionState::Recovery);
        assert_eq!(peer.sees().1, 13);
        // All that is left besides the second hole; a duplicate cannot be of more.
        peer.ack(6, None);
        assert_eq!(peer.sees().1, 13);
        peer.ack(20, None);
        assert_eq!((peer.sees().0, peer.sees().1), (CongestionState::Open, 0));
    }
}

/// `tcp_reset_reno_sack`: a timeout forgets the duplicates; those of what is sent again needlessly
/// do not count, those of new data do (`tcp_process_loss`), and Linux sends for them.
#[test]
fn after_a_timeout_without_sack_only_duplicates_of_new_data_count() {
    for (profile, clocks_out) in [(HostProfile::Linux, 1), (HostProfile::Rfc, 0)] {
        let mut peer = Peer::open(&Transport {
            profile,
            limited_transmit: false,
            ..linux(Recovery::NewReno)
        });
        peer.write(100);
        // The first one brings the window.
        for _ in 0..3 {
            peer.ack(0, None);
        }
        assert_eq!(peer.sees().1, 2);
        peer.wait_for_timer();
        assert_eq!((peer.sees().0, peer.sees().1), (CongestionState::Loss, 0));
        peer.ack(0, None);
        assert_eq!(peer.sees().1, 0);
        // Slow start sends all of it again, and then something new.
        let mut acked = 0;
        while peer.end.snapshot().flight as u64 + acked <= 10 {
            acked += 1;
            peer.ack(acked, None);
            assert_eq!(peer.sees().1, 0);
        }
        let sent = peer.ack(acked, None).len();
        assert_eq!((peer.sees().0, peer.sees().1), (CongestionState::Loss, 1));
        assert_eq!(sent, clocks_out, "{profile:?}");
        peer.ack(acked + 1, None);
        assert_eq!(peer.sees().1, 0);
    }
}

/// RFC 6582, section 3.2, step 3: the window shrinks by what a partial ACK acknowledges less one
/// segment, whatever the duplicates had added. One that takes back all of them leaves ssthresh.
#[test]
fn a_partial_ack_that_takes_back_all_duplicates_leaves_ssthresh_in_flight() {
    for profile in [HostProfile::Linux, HostProfile::Rfc] {
        let mut peer = Peer::open(&Transport {
            profile,
            initial_window: 12.0,
            limited_transmit: false,
            ..linux(Recovery::NewReno)
        });
        peer.write(100);
        // The first one brings the window.
        for _ in 0..4 {
            peer.ack(0, None);
        }
        let (state, .., flight) = peer.sees();
        assert_eq!((state, flight), (CongestionState::Recovery, 12));
        let ssthresh = peer.end.snapshot().ssthresh as usize;
        assert_eq!(ssthresh, 6);
        // The hole and eight above it, of which three were known: nine less one are gone.
        let sent = peer.ack(9, None);
        assert_eq!(peer.sees().4, ssthresh, "{profile:?}: {sent:?}");
    }
}

/// `tcp_limit_reno_sacked`: of a single segment outstanding a duplicate ACK cannot tell that
/// it has arrived.
#[test]
fn linux_without_sack_lends_nothing_for_the_only_segment() {
    let with = |profile| {
        let mut peer = Peer::open(&Transport {
            profile,
            initial_window: 1.0,
            ..linux(Recovery::NewReno)
        });
        peer.write(10);
        // The first one brings the window.
        assert_eq!(peer.ack(0, None), []);
        peer.ack(0, None).len()
    };
    assert_eq!(with(HostProfile::Linux), 0);
    // RFC 3042 says nothing about it.
    assert_eq!(with(HostProfile::Rfc), 1);
}

#[test]
fn a_closed_window_in_the_answer_to_a_syn_is_honoured() {
    let mut peer = Peer::of(&linux(Recovery::Rack));
    let mut out = Vec::new();
    peer.end.open(peer.now, &mut out);
    peer.write(10);
    peer.receive(&Peer::packet(flags::SYN | flags::ACK, 0, 0));
    assert_eq!(peer.sent, [], "the window is closed");
    // The end probes it, and an answer opens it.
    peer.wait_for_timer();
    peer.sent.clear();
    peer.receive(&Peer::packet(flags::ACK, 0, 4 * MSS as u32));
    assert_eq!(peer.sent, [0, 1, 2, 3]);
}

/// The window of the third packet of the handshake: the first duplicate ACK repeats it, and
/// counts.
#[test]
fn the_window_of_the_third_packet_is_learnt() {
    let mut peer = Peer::of(&linux(Recovery::NewReno));
    peer.receive(&Peer::packet(flags::SYN, 0, 65_535));
    peer.receive(&Peer::packet(flags::ACK, 0, 5 * MSS as u32));
    peer.write(100);
    assert_eq!(peer.sent, [0, 1, 2, 3, 4], "five segments fit");
    let mut peer = Peer::of(&linux(Recovery::NewReno));
    peer.receive(&Peer::packet(flags::SYN, 0, 65_535));
    peer.receive(&Peer::packet(flags::ACK, 0, 30_000));
    peer.write(100);
    peer.sent.clear();
    peer.receive(&Peer::packet(flags::ACK, 0, 30_000));
    assert_eq!(peer.sent, [10], "limited transmit on the first duplicate");
    assert_eq!(peer.sees().0, CongestionState::Disorder);
}
