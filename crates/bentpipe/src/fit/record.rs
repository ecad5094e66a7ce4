//! A fit as a document.

use super::{Estimate, Fit, Score};
use bentpipe_outcome::record;

record! {
    /// An estimate with its interval of 95%.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EstimateRecord of Estimate {
        /// The estimate.
        gauge value: f64 = |e| e.value;
        /// The lower end of its interval.
        gauge low: f64 = |e| e.low;
        /// The upper end; null where the capture shows only that it is at least the value.
        gauge high: Option<f64> = |e| Some(e.high).filter(|high| high.is_finite());
    }
}

record! {
    /// What a capture shows of a connection, its link and its sender.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FitRecord of Fit {
        /// The file.
        key file: String = |fit| fit.file.to_string_lossy().into_owned();
        /// The connection's number, by payload, from 1.
        key flow: usize = |fit| fit.flow;
        /// TCP connections in the capture.
        key flows: usize = |fit| fit.flows;
        /// Address and port of the sender.
        key from: String = |fit| fit.from.to_string();
        /// Address and port of the receiver.
        key to: String = |fit| fit.to.to_string();
        /// Data packets, those that were sent again included.
        key packets: u64 = |fit| fit.packets;
        /// Data packets that were sent again.
        key resent: u64 = |fit| fit.resent;
        /// Payload, each byte counted once.
        key payload_bytes: u64 = |fit| fit.payload.get();
        /// From the first data packet to the last acknowledgement, seconds.
        key duration_s: f64 = |fit| fit.duration.as_secs();
        /// Payload of a full segment, bytes.
        key mss_bytes: u32 = |fit| fit.mss;
        /// Rate of the link at the IP layer, bit/s.
        key rate_bps: EstimateRecord = |fit| EstimateRecord::of(&fit.link.rate);
        /// Round trip without queues, seconds.
        key rtt_s: EstimateRecord = |fit| EstimateRecord::of(&fit.link.rtt);
        /// Packets that the channel lost.
        key lost_packets: u64 = |fit| fit.link.losses.channel.count;
        /// Packets that this is a share of.
        key counted_packets: u64 = |fit| fit.link.losses.channel.of;
        /// Share of the packets that the channel loses.
        key loss_share: EstimateRecord = |fit| EstimateRecord::of(&fit.link.losses.channel.share);
        /// Packets lost in a row on average; null where they are lost independently.
        key burst_packets: Option<EstimateRecord> =
            |fit| fit.link.losses.burst.as_ref().map(EstimateRecord::of);
        /// Packets that the queue dropped.
        key dropped_packets: u64 = |fit| fit.link.losses.dropped;
        /// What the queue before the link holds, bytes.
        key queue_bytes: EstimateRecord = |fit| EstimateRecord::of(&fit.link.queue);
        /// The longest wait in the queue, seconds.
        key longest_wait_s: f64 = |fit| fit.link.longest_wait;
        /// The receive window that limited the sender, bytes; null if none did.
        key window_bytes: Option<u64> = |fit| fit.link.window;
        /// The congestion control by its name in Linux; null if it is unknown.
        key control: Option<String> = |fit| fit.control.clone();
        /// Why the control is unknown.
        key doubt: Option<String> = |fit| fit.doubt.clone();
        /// How far the candidates are from the capture, the nearest first.
        key scores: Vec<Score> = |fit| fit.scores.clone();
        /// What there is to know about the capture.
        key notes: Vec<String> = |fit| fit.notes.clone();
    }
}
