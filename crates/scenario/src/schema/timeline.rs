//! Properties of a link that change with time.

use bentpipe_document::schema::{Kind, SPAN, number};
use bentpipe_document::table;
use bentpipe_link::{InFlightPolicy, WhenDown};
use bentpipe_units::{Duration, Rate, Ratio};

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    Mahimahi,
    Theaterq,
    LeoReplayer,
}

table! {
    /// what a direction has that changes with time
    pub(crate) TimeKeys at "link.NAME", called "a direction of";
    /// what changes with time, in pieces
    timeline: Vec<PieceTable>, or "nothing changes; on the way back as forth";
    /// files that say what changes, instead of `timeline`
    trace: TraceTable, or "none; on the way back as forth";
    /// a rain fade against which the coding is adapted, instead of `timeline`
    fade: FadeTable, or "none; on the way back as forth";
    /// what changes does so again and again, every this long
    repeat: Duration [SPAN], or "the last piece stays";
    /// while the link is down, what is sent is lost, or the transmitter waits and the queue holds
    /// what comes
    when_down: WhenDown {
        "lost" => WhenDown::Lost,
        "waits" => WhenDown::Waits,
    }, or "lost; on the way back as forth";
    /// what becomes of packets that propagate when the link goes down or its `route` changes
    in_flight: InFlightPolicy {
        "delivered" => InFlightPolicy::Delivered,
        "lost" => InFlightPolicy::Lost,
    }, or "delivered; on the way back as forth";
}

impl TimeKeys {
    /// Whether a trace has delays. One that cannot be read is taken for one that has.
    pub(crate) fn has_delays(&self) -> bool {
        let Ok(trace) = self.trace.as_ref() else {
            return true;
        };
        let format = trace.as_ref().map(|trace| trace.value.format.as_ref());
        format.is_some_and(|format| {
            format.map_or(true, |format| format.value != TraceFormat::Mahimahi)
        })
    }
}

table! {
    /// what the link is like from some time on; what is not written stays as it was
    pub(crate) PieceTable at "link.NAME.timeline", called "a piece of",
        example "[link.satellite]\ntimeline = [{ at = \"10 s\", up = false }, { at = \"12 s\", \
                 up = true, one_way_delay = \"30 ms\", route = 1 }]";
    /// from when on; with `repeat`, since the start of the period
    at: Duration, required;
    /// transmission rate
    rate: Rate, or "as before";
    /// propagation delay at `at`
    one_way_delay: Duration, or "as before";
    /// the delay goes in a straight line to that of the next piece
    linear: bool, default false;
    /// share of packets that are lost, instead of what the channel loses
    packet_error_rate: Ratio, or "as before";
    /// share of wrong bits, instead of what the channel loses
    bit_error_rate: Ratio, or "as before";
    /// false while the link is down; true at the start
    up: bool, or "as before";
    /// number of the route that the link stands for; only where it changes may packets overtake.
    /// 0 at the start
    route: u32, or "as before";
    /// the delay varies evenly within this on both sides, instead of by the link's `jitter`
    jitter: Duration, or "as before, at the start as the link's `jitter`";
}

table! {
    /// a trace of a link in the format of an emulator; `bentpipe trace` writes them
    pub(crate) TraceTable at "link.NAME.trace", called "the trace of",
        example "[link.satellite]\ntrace = { format = \"leoreplayer\", rate = \"cell.trace\", \
                 delay = \"cell.delay\", interval = \"10 ms\" }";
    /// its path, relative to the scenario
    file: String [Kind::File], or "required of mahimahi and theaterq";
    /// delivery opportunities in mahimahi's format
    rate: String [Kind::File], or "required of leoreplayer";
    /// one-way delays, ms, a line for each interval
    delay: String [Kind::File], or "required of leoreplayer";
    /// how long each delay holds
    interval: Duration [SPAN], or "required of leoreplayer";
    /// mahimahi: delivery opportunities instead of the rate; theaterq: rate, delay, loss and
    /// route; leoreplayer: delivery opportunities and delays, in two files
    format: TraceFormat {
        "mahimahi" => TraceFormat::Mahimahi,
        "theaterq" => TraceFormat::Theaterq,
        "leoreplayer" => TraceFormat::LeoReplayer,
    }, required;
    /// it begins again after its end
    wraps: bool, default true;
}

table! {
    /// an attenuation that rises in a straight line, stays and falls
    pub(crate) FadeTable at "link.NAME.fade", called "the fade of",
        example "[link.satellite.fade]\ndepth_db = 9\nbegins = \"60 s\"\nslope = \"20 s\"\n\
                 stays = \"40 s\"\ncoding = [{ up_to_db = 3 }, { up_to_db = 10, code_rate = 0.5 }]";
    /// greatest attenuation, dB
    depth_db: f64 [number(0.001, 200.0)], required;
    /// when it begins; with `repeat`, since the start of the period
    begins: Duration, required;
    /// how long it rises, and falls
    slope: Duration, required;
    /// how long it stays at `depth_db`
    stays: Duration, default "0 s";
    /// the codings, by what they stand; beyond the last one the link is down
    coding: Vec<ModeTable>, or "those of DVB-S2, from `modcod` down";
    /// ModCod of DVB-S2 under a clear sky, such as `16APSK 3/4`, at which the link has its rate; in
    /// the fade the modem uses the most efficient that still closes the link
    modcod: String, or "the codings are those of `coding`";
    /// what the clear sky leaves above what the ModCod needs, dB
    margin_db: f64 [number(0.0, 100.0)], or "1, with `modcod`";
}

table! {
    /// a coding and modulation that stands some attenuation
    pub(crate) ModeTable at "link.NAME.fade.coding", called "a coding of";
    /// it is used up to this attenuation, dB
    up_to_db: f64 [number(0.001, 200.0)], required;
    /// rate on the channel
    rate: Rate, or "the link's";
    /// share of `rate` that is left for packets
    code_rate: Ratio, default 1;
    /// share of packets that are lost
    packet_error_rate: Ratio, or "as the channel";
    /// share of wrong bits
    bit_error_rate: Ratio, or "as the channel";
}
