//! Queue disciplines.

use crate::fuzzy_rules::Rules;
use crate::queue_length::{LinkContext, QueueLength, QueueLimit};
use bentpipe_document::reading::{DeclaredKinds, Given, Placed, Read};
use bentpipe_document::schema::{FACTOR, Kind, PACKET, SPAN, integer, number};
use bentpipe_document::{Form, Reported, Value, kinds, table};
use bentpipe_link::{
    AckFilterSettings, BandwidthSettings, BecnSettings, CoDelSettings, DropTailSettings,
    FqCoDelSettings, FuzzySettings, PieSettings, PriorityDropSettings, QueueSettings, RedMode,
    RedPreset, RedSettings, XcpSettings,
};
use bentpipe_units::{Bytes, Duration, Ratio};

table! {
    /// the keys of RED that Adaptive RED has, too
    pub(crate) RedKeys at "link.NAME.queue", called "the queue of";
    /// how much may wait; under `mode = "bytes"`, packets are of `mean_packet`
    limit: QueueLimit, required;
    /// the defaults of all other keys: those of ns-2 in 2001 (packets, thresholds 5 and 15,
    /// weight 0.002), from 2002 to 2004 (packets, automatic) or in 2.35 (bytes, automatic)
    preset: RedPreset { all RedPreset::ALL }, default "ns-2002";
    /// what the average, the count between drops and the limit are in
    mode: RedMode {
        "packets" => RedMode::Packets,
        "bytes" => RedMode::Bytes,
    }, or "packets; bytes in ns-2.35";
    /// the packet that thresholds, automatic values and idle times are reckoned in
    mean_packet: Bytes [PACKET], or "500 B";
    /// average from which packets are dropped; automatic: half of what waits for `target_delay`,
    /// at least 5 packets
    minimum: QueueLength, or "automatic; 5 packets in ns-2001";
    /// average at which the probability is `max_p`
    maximum: QueueLength, or "3 minimum; 15 packets in ns-2001";
    /// weight of the present queue in the average; automatic: 1 - exp(-1 / (10 R C)), R the
    /// greater of 100 ms and 3 one-way delays, C the rate in packets
    weight: f64 [FACTOR], or "automatic; 0.002 in ns-2001";
    /// probability of a drop at the maximum; where it adapts, the first one
    max_p: Ratio, or "0.1";
    /// the probability rises from `max_p` to 1 between the maximum and twice that; else it is 1
    /// above the maximum
    gentle: bool, or "true";
    /// after a drop none follows for 1 / probability packets
    wait: bool, or "true";
    /// marks ECN-capable packets instead of dropping them early
    ecn: bool, or "false";
    /// probability above which ECN-capable packets, too, are dropped
    mark_below: f64 [Kind::NumberOrUnlimited { min: 0.0, max: 1.0 }],
        or "unlimited; 0.1 in ns-2.35";
    /// queueing delay that an automatic minimum is reckoned from
    target_delay: Duration [SPAN], or "5 ms";
}

table! {
    /// the keys of Adaptive RED
    pub(crate) AdaptiveRedKeys at "link.NAME.queue", called "the queue of", with red: RedKeys;
    /// least time between two changes of `max_p`
    interval: Duration, or "500 ms";
    /// added to `max_p` when the average is too long, at most a quarter of it
    alpha: f64 [FACTOR], or "0.01";
    /// factor of `max_p` when the average is too short
    beta: f64 [FACTOR], or "0.9";
    /// `max_p` falls no further from here
    bottom: Ratio, or "0.01; in ns-2.35 80 kbit/s over the rate, if less";
    /// `max_p` rises no further from here
    top: Ratio, or "0.5";
}

table! {
    /// the keys of fuzzy marking that BECN has, too
    pub(crate) FuzzyKeys at "link.NAME.queue", called "the queue of";
    /// how much may wait
    limit: QueueLimit, required;
    /// time between two readings of the queue
    period: Duration [SPAN], default "10 ms";
    /// change of the level in a period, as a share of `limit`, that counts as fast
    swing: f64 [number(1e-6, 1.0)], default 0.05;
    /// probabilities of a notification in per cent, five rows by level from empty to full,
    /// separated by `/`, of five by change from falling fast to rising fast
    rules: Rules, default "0 0 0 0 0 / 0 0 0 1 2 / 0 1 2 5 10 / 2 5 10 20 40 / 10 20 40 70 100";
    => [LinkContext<'_>] FuzzySettings { limit, period, swing, rules }
}

kinds! {
    /// the waiting room of a link: how much it holds, such as `100 packets`, which is a queue of
    /// kind `drop-tail`, or a table
    pub(crate) QueueKinds at "link.NAME.queue", called "queue",
        makes QueueSettings, at link: LinkContext<'_>;
    /// first in, first out; what does not fit is dropped
    DropTail "drop-tail", example "[link.satellite]\nqueue = \"100 packets\"" {
        /// how much may wait
        limit: QueueLimit, required;
    } => { QueueSettings::DropTail(DropTailSettings { limit }) }
    /// random early detection: drops with a probability that rises with the average queue, as in
    /// ns-2.35
    Red "red",
        example "[link.satellite.queue]\nkind = \"red\"\nlimit = \"100 packets\"\n\
                 minimum = \"20 packets\"\nmaximum = \"60 packets\"",
        with red: RedKeys
    {} => { QueueSettings::Red(red) } <= {
        QueueSettings::Red(red @ RedSettings { adaptive: None, .. })
    }
    /// RED whose `max_p` adapts to hold the average between the thresholds
    AdaptiveRed "adaptive-red",
        example "[link.satellite]\nqueue = { kind = \"adaptive-red\", limit = \"2 BDP\" }",
        with adaptive: AdaptiveRedKeys
    {} => { QueueSettings::Red(adaptive) } <= {
        QueueSettings::Red(adaptive @ RedSettings { adaptive: Some(_), .. })
    }
    /// controlled delay (RFC 8289): drops when packets have waited too long for an interval
    CoDel "codel",
        example "[link.satellite]\nqueue = { kind = \"codel\", limit = \"1000 packets\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
        /// the waiting time that is acceptable for good
        target: Duration [SPAN], default "5 ms";
        /// how long it must be exceeded before a drop; about the longest round trip
        interval: Duration [SPAN], default "100 ms";
        /// nothing is dropped while not more than this is left behind
        mtu: Bytes [PACKET], default "1500 B";
        /// marks ECN-capable packets instead of dropping them
        ecn: bool, default false;
    } => { QueueSettings::CoDel(CoDelSettings { limit, target, interval, mtu, ecn }) }
    /// fair queueing with CoDel for each flow (RFC 8290): flows take turns, and a flow that sends
    /// less than its share does not wait
    FqCoDel "fq-codel",
        example "[link.satellite]\nqueue = { kind = \"fq-codel\", limit = \"10240 packets\" }"
    {
        /// how much may wait; beyond it the packet at the head of the longest queue is dropped
        limit: QueueLimit, required;
        /// queues that flows are hashed to
        flows: u32 [integer(1, 65_536)], default 1024;
        /// bytes that a flow sends in its turn
        quantum: Bytes [PACKET], default "1514 B";
        /// the waiting time that is acceptable for good
        target: Duration [SPAN], default "5 ms";
        /// how long it must be exceeded before a drop; about the longest round trip
        interval: Duration [SPAN], default "100 ms";
        /// nothing is dropped while not more than this of the flow is left behind
        mtu: Bytes [PACKET], default "1500 B";
        /// marks ECN-capable packets instead of dropping them
        ecn: bool, default true;
    } => {
        QueueSettings::FqCoDel(FqCoDelSettings {
            codel: CoDelSettings { limit, target, interval, mtu, ecn },
            flows,
            quantum,
        })
     }
    /// proportional integral controller enhanced (RFC 8033): drops arriving packets with a
    /// probability that follows the queueing delay
    Pie "pie",
        example "[link.satellite]\nqueue = { kind = \"pie\", limit = \"1000 packets\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
        /// the queueing delay that it aims at
        target: Duration [SPAN], default "15 ms";
        /// time between two changes of the probability
        update: Duration [SPAN], default "15 ms";
        /// for how long a burst after a quiet time is let through: nothing is dropped early
        burst: Duration, default "150 ms";
        /// weight of the delay above `target` at an update: probability per second
        alpha: f64 [number(0.0, 1000.0)], default 0.125;
        /// weight of the delay's growth since the last update: probability per second
        beta: f64 [number(0.0, 1000.0)], default 1.25;
        /// nothing is dropped early while not more than two of this wait
        mtu: Bytes [PACKET], default "1500 B";
        /// marks ECN-capable packets instead of dropping them, up to a probability of 10%
        ecn: bool, default false;
    } => {
        QueueSettings::Pie(PieSettings { limit, target, update, burst, alpha, beta, mtu, ecn })
     }
    /// first in, first out, with a router of XCP: it tells senders with transport `xcp` or `p-xcp`
    /// how to change their windows
    Xcp "xcp",
        example "[link.satellite]\nqueue = { kind = \"xcp\", limit = \"1 BDP\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
        /// gives connections what others cannot use, as P-XCP
        p_xcp: bool, default false;
        /// share of the free rate that is given out in a control interval
        alpha: f64 [FACTOR], default 0.4;
        /// share of the standing queue that is taken back in a control interval
        beta: f64 [FACTOR], default 0.226;
        /// share of the traffic that is shuffled between senders in a control interval
        gamma: f64 [FACTOR], default 0.1;
        /// longer round trips of senders count as this
        longest_rtt: Duration [SPAN], default "1 s";
    } => {
        QueueSettings::Xcp(XcpSettings { limit, alpha, beta, gamma, longest_rtt, p_xcp })
     }
    /// first in, first out, with a router that writes the share of a connection and the link's
    /// delay into packets; receivers with transport `ba-tcp` advertise their product
    Bandwidth "bandwidth-aware",
        example "[link.satellite]\nqueue = { kind = \"bandwidth-aware\", limit = \"1 BDP\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
        /// share of the rate that is given out
        utilisation: f64 [FACTOR], default 0.98;
        /// time between two measurements, about the longest round trip
        interval: Duration [SPAN], default "500 ms";
    } => {
        QueueSettings::Bandwidth(BandwidthSettings { limit, utilisation, interval })
     }
    /// first in, first out; when it is full, a packet of low priority gives way to another: the
    /// one nearest to the tail
    PriorityDrop "priority-drop",
        example "[link.satellite]\nqueue = { kind = \"priority-drop\", limit = \"60 kB\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
        /// a packet of low priority is dropped if more than this would wait with it
        low_limit: QueueLimit, or "`limit`";
    } => { QueueSettings::PriorityDrop(PriorityDropSettings { limit, low_limit }) }
    /// first in, first out; an ACK takes the older ones of its flow that wait out of it, unless
    /// they say more (RFC 3449, section 5.2.1)
    AckFilter "ack-filter",
        example "[link.satellite.reverse]\nqueue = { kind = \"ack-filter\", limit = \"50 packets\" }"
    {
        /// how much may wait
        limit: QueueLimit, required;
    } => { QueueSettings::AckFilter(AckFilterSettings { limit }) }
    /// marks at a probability that a fuzzy-logic controller sets by the length of the queue and
    /// by how fast it changes
    Fuzzy "fuzzy",
        example "[link.satellite]\nqueue = { kind = \"fuzzy\", limit = \"100 packets\" }",
        with fuzzy: FuzzyKeys
    {} => { QueueSettings::Fuzzy(fuzzy) }
    /// the same, and at severe congestion a message goes straight back to the sender in place of
    /// a mark (backward ECN)
    Becn "becn",
        example "[link.satellite]\nqueue = { kind = \"becn\", limit = \"100 packets\" }",
        with fuzzy: FuzzyKeys
    {
        /// probability from which a message goes back; 0: always
        severe: Ratio, default 0.1;
        /// after a message to a connection, the time in which the probability of the next rises
        /// to its full value: a round trip
        quiet: Duration [SPAN], default "600 ms";
    } => { QueueSettings::Becn(BecnSettings { fuzzy, severe, quiet }) }
}

/// A queue: its kind with keys, or how much it holds alone.
#[derive(Clone, Debug)]
pub(crate) struct QueueTable(pub(crate) QueueKinds);

impl Read for QueueTable {
    const KIND: Kind = Kind::Either(
        "how much it holds, such as `100 packets`, or a table",
        &<QueueLimit as Read>::KIND,
        QueueKinds::kinds,
    );

    fn read(given: Given<'_>, _: &Kind) -> Result<QueueTable, Reported> {
        let alone = match &given.entry.item.value {
            // A word without a number is a kind, with its own message.
            Value::Text(text) => {
                text.contains(|c: char| c.is_ascii_digit()) || text.trim().is_empty()
            }
            Value::Table(_) => false,
            _ => true,
        };
        if !alone {
            return given.kinds().map(QueueTable);
        }
        let value = given.scalar(&<QueueLimit as Read>::KIND)?;
        Ok(QueueTable(QueueKinds::DropTail {
            context: given.of.clone(),
            limit: Ok(Placed {
                value,
                place: given.entry.item.place,
                key: given.entry.key_place,
            }),
        }))
    }
}

impl Form<QueueSettings, LinkContext<'_>> for QueueTable {
    fn settle(&self, link: &LinkContext<'_>) -> Result<QueueSettings, Reported> {
        self.0.settle(link)
    }

    /// A drop-tail queue is what it holds.
    fn written(model: &QueueSettings) -> Value {
        match model {
            QueueSettings::DropTail(settings) => QueueLimit::written(&settings.limit),
            other => QueueKinds::written(other),
        }
    }
}
