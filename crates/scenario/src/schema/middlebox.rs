//! Middleboxes.

use bentpipe_document::schema::{FACTOR, Kind, SPAN, integer};
use bentpipe_document::{Item, kinds, table};
use bentpipe_middlebox::split::{
    Accept, Alone, Discovery, KnownRate, Pool, ProxyControl, Symptom, Tunnel,
};
use bentpipe_middlebox::{ReconstructionSettings, SnoopSettings, SnoopVariant, SpoofSettings};
use bentpipe_units::{Bytes, Duration};

table! {
    /// where a box stands that acts on one link
    pub(crate) BoxKeys at "middlebox.NAME", called "the place of";
    /// where it stands; it sees what passes through, not what begins or ends there
    node: Item [Kind::Name("node")], required;
    /// the link of its node on whose far side it helps; counted links: all of them
    toward: String [Kind::Name("link")], required;
}

table! {
    /// what a snoop agent does
    pub(crate) SnoopKeys at "middlebox.NAME", called "middlebox";
    /// packets of a connection that it keeps, at most
    cache: u32 [integer(1, 1_000_000)], default 100;
    /// duplicate ACKs that pass before one makes it retransmit
    threshold: u32 [integer(0, 100)], default 1;
    /// the shortest timer
    tick: Duration [SPAN], default "100 ms";
    /// smoothed round trip of the link before the first sample
    srtt: Duration, default "100 ms";
    /// its mean deviation before the first sample; the timer is srtt + 4 rttvar
    rttvar: Duration, default "250 ms";
    /// gain of both averages
    gain: f64 [FACTOR], default 0.125;
    /// local retransmissions of one packet, at most
    retransmissions: u32 [integer(0, 1000)], default 10;
    /// ns-2: with the quirks of ns-2.35
    variant: SnoopVariant { all SnoopVariant::ALL }, default "standard";
    /// repairs flows under IPsec, too, by a hash in their packets or a table of its own
    identifies_ipsec: bool, default false;
    => [()] SnoopSettings {
        cache, threshold, tick, srtt, rttvar, gain, retransmissions, variant, identifies_ipsec,
    }
}

table! {
    /// what a spoofing box does
    pub(crate) SpoofKeys at "middlebox.NAME", called "middlebox";
    /// packets of a connection that it keeps, at most; it advertises no more
    cache: u32 [integer(1, 1_000_000)], default 1000;
    /// duplicate ACKs that it ignores before one makes it retransmit
    threshold: u32 [integer(0, 100)], default 1;
    /// the shortest timer
    tick: Duration [SPAN], default "100 ms";
    => [()] SpoofSettings { cache, threshold, tick }
}

table! {
    /// how ACKs are reconstructed
    pub(crate) ReconstructionKeys at "middlebox.NAME", called "middlebox";
    /// segments from one ACK to the next
    threshold: u32 [integer(1, 1000)], default 2;
    /// time from one ACK to the next
    spacing: Duration, or "by the rate at which ACKs arrive";
    /// weight of a new sample in the mean time between arriving ACKs
    gain: f64 [FACTOR], default 0.125;
    /// a longer time between two ACKs is a pause of the sender, and no sample
    pause: Duration [SPAN], default "200 ms";
    => [()] ReconstructionSettings { threshold, spacing, gain, pause }
}

table! {
    /// what a PEP is that ends connections
    pub(crate) SplitKeys at "middlebox.NAME", called "middlebox";
    /// where it stands; it splits what passes through, not what begins or ends there
    node: Item [Kind::Name("node")], required;
    /// the link of its node that split flows cross; the leg on that side has the transport
    toward: String [Kind::Name("link")], or "any";
    /// the TCP of the leg on the side of `toward`, else of that towards the flow's `to`
    transport: Item [Kind::Name("transport")], or "the flow's";
    /// gateway: together with the next such PEP, one QUIC association between the two, as
    /// `bentpipe gateway` has it: no round trip to open, one sender at the link's rate
    tunnel: Tunnel { all Tunnel::ALL }, default "none";
    /// with a tunnel, what its sender knows of the link: reported: its rate at any time, as from a
    /// modem; verified: the rate at the start, which the box holds against what the other receives
    rate: KnownRate { all KnownRate::ALL }, default "reported";
    /// what decides how much goes over the leg to the next such PEP: the window of its
    /// transport, or grants of the receiving PEP at the known rate of the link, which losses do
    /// not reduce (PETRA)
    proxy_control: ProxyControl { all ProxyControl::ALL }, default "window";
    /// with grants, instead of the buffers: bytes that it holds for its next leg, in each
    /// direction; it grants no more than the room that is left
    backlog: Bytes, or "four bandwidth-delay products of the flow's way at the rate of the leg";
    /// bytes relayed that the onward leg has not acknowledged, at most, each direction
    buffer: Bytes, or "1 MB; 16 MB with a tunnel";
    /// bytes that have arrived and wait for room in the relay: the window that it offers
    receive_buffer: Bytes, or "as `buffer`";
    /// shared: one room of `buffer` bytes for what waits, what is relayed and the window
    pool: Pool { all Pool::ALL }, default "separate";
    /// a SYN is answered at once, or when the onward leg is open
    accept: Accept { all Accept::ALL }, default "early";
    /// syn-option: an option on the SYN, which another PEP on the way answers; SYNs are then
    /// answered late
    discovery: Discovery { all Discovery::ALL }, default "none";
    /// what it does where no other answers: splits, or lets the connection pass
    alone: Alone { all Alone::ALL }, default "integrated";
    /// the receiver's host confirms each so many bytes to the sender's, through the PEPs
    /// (PETRA); a transfer's time ends with the last confirmation
    confirms: Bytes, or "not at all";
    /// when it fails, with all that it holds
    fails_at: Duration, or "never";
    /// from when on it splits new connections again
    recovers_at: Duration, or "never";
    /// what the ends see of a failure: a RST for their next packet, or nothing
    failure: Symptom { all Symptom::ALL }, default "reset";
    /// a host gives up a connection that is silent for this long
    gives_up: Duration [SPAN], default "100 s";
    /// the flows that are split
    flows: Vec<String> [Kind::Names("flow")], or "all TCP flows that pass";
}

kinds! {
    /// a box on a node that touches packets
    pub(crate) MiddleboxTable at "middlebox.NAME", called "middlebox";
    /// repairs losses of a link from a cache, and keeps duplicate ACKs from the sender
    Snoop "snoop",
        example "[middlebox.cache]\nkind = \"snoop\"\nnode = \"gateway\"\ntoward = \"satellite\"",
        with place: BoxKeys, with keys: SnoopKeys {}
    /// acknowledges for the receiver, keeps what it has acknowledged, and sends it again as often
    /// as it takes
    Spoof "spoof",
        example "[middlebox.spoofer]\nkind = \"spoof\"\nnode = \"gateway\"\ntoward = \"satellite\"",
        with place: BoxKeys, with keys: SpoofKeys {}
    /// fills the gaps that an ACK filter has left between the ACKs that come back over a link, and
    /// spaces them (RFC 3449, section 5.2.2)
    AckReconstruction "ack-reconstruction",
        example "[middlebox.acks]\nkind = \"ack-reconstruction\"\nnode = \"gateway\"\n\
                 toward = \"satellite\"",
        with place: BoxKeys, with keys: ReconstructionKeys {}
    /// a PEP that ends connections and opens others onwards: each leg has its own window, losses
    /// and transport
    Split "split",
        example "[middlebox.pep]\nkind = \"split\"\nnode = \"gateway\"\ntransport = \"hybla\"",
        with keys: SplitKeys {}
}
