//! Media: channels that several terminals share.

use bentpipe_document::schema::{HEADER, SPAN, integer};
use bentpipe_document::{kinds, table};
use bentpipe_units::{Bytes, Duration, Rate};

/// Where slots are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulerPlace {
    Ground,
    OnBoard,
}

/// How requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestPath {
    Preassigned,
    Piggyback,
    Random,
}

table! {
    /// what every medium has
    pub(crate) MediumKeys at "medium.NAME", called "medium";
    /// rate of the channel
    rate: Rate, required;
    /// propagation delay of the whole hop, from a terminal over the satellite to the hub
    one_way_delay: Duration, required;
}

table! {
    /// what media with slots have
    pub(crate) FrameKeys at "medium.NAME", called "medium";
    /// length of a frame
    frame: Duration [SPAN], required;
    /// data slots in a frame
    slots: u32 [integer(1, 100_000)], required;
    /// bytes of a slot that carry no data: guard time, preamble, header
    overhead: Bytes [HEADER], default "0 B";
}

table! {
    /// what media have whose slots are assigned on request
    pub(crate) DemandKeys at "medium.NAME", called "medium";
    /// length of a minislot, in which requests for slots are sent
    minislot: Bytes [HEADER], default "16 B";
    /// where slots are assigned: at the hub, or on the satellite
    scheduler: SchedulerPlace {
        "ground" => SchedulerPlace::Ground,
        "on-board" => SchedulerPlace::OnBoard,
    }, default "ground";
    /// propagation delay between a terminal and the satellite, for a scheduler on board
    to_satellite: Duration, or "half of `one_way_delay`";
}

table! {
    /// what media without assignment have
    pub(crate) AlohaKeys at "medium.NAME", called "medium";
    /// a packet that was not heard so long after its last bit has collided
    timeout: Duration [SPAN], or "270 ms, or `one_way_delay` if that is longer";
    /// mean of the exponential pause before a packet is sent again
    mean_backoff: Duration [SPAN], default "1 s";
    /// how often a packet is sent again before it is given up
    retransmissions: u32 [integer(0, 1_000_000)], default 3;
    /// how much later than the nearest terminal the farthest one hears itself
    spread: Duration, default "2 ms";
}

kinds! {
    /// a channel that several links share
    pub(crate) MediumTable at "medium.NAME", called "medium";
    /// a channel shared in fixed time slots, which belong to the terminals in turn
    Tdma "tdma",
        example "[medium.uplink]\nkind = \"tdma\"\nrate = \"1 Mbit/s\"\none_way_delay = \"250 ms\"\n\
                 frame = \"40 ms\"\nslots = 3",
        with channel: MediumKeys, with frame: FrameKeys {}
    /// time slots in proportion to what the terminals ask for
    Dama "dama",
        example "[medium.uplink]\nkind = \"dama\"\nrate = \"1 Mbit/s\"\none_way_delay = \"250 ms\"\n\
                 frame = \"40 ms\"\nslots = 3\nscheduler = \"on-board\"",
        with channel: MediumKeys, with frame: FrameKeys, with demand: DemandKeys {}
    /// time slots on request and, where there is no request, to all in turn
    CfDama "cf-dama",
        example "[medium.uplink]\nkind = \"cf-dama\"\nrate = \"1 Mbit/s\"\n\
                 one_way_delay = \"250 ms\"\nframe = \"40 ms\"\nslots = 3\nrequests = \"random\"",
        with channel: MediumKeys, with frame: FrameKeys, with demand: DemandKeys
    {
        /// how requests travel: in a minislot of one's own, on packets, or in one picked at random
        requests: RequestPath {
            "preassigned" => RequestPath::Preassigned,
            "piggyback" => RequestPath::Piggyback,
            "random" => RequestPath::Random,
        }, default "preassigned";
        /// minislots in a frame, for random requests
        minislots: u32 [integer(1, 100_000)], or "4";
    }
    /// a terminal that has a packet sends it; those that overlap are lost and sent again
    Aloha "aloha",
        example "[medium.uplink]\nkind = \"aloha\"\nrate = \"1 Mbit/s\"\none_way_delay = \"250 ms\"",
        with channel: MediumKeys, with aloha: AlohaKeys {}
    /// ALOHA in which transmissions begin with a slot
    SlottedAloha "slotted-aloha",
        example "[medium.uplink]\nkind = \"slotted-aloha\"\nrate = \"1 Mbit/s\"\n\
                 one_way_delay = \"250 ms\"\nslot = \"12 ms\"",
        with channel: MediumKeys, with aloha: AlohaKeys
    {
        /// length of a slot
        slot: Duration [SPAN], required;
    }
}
