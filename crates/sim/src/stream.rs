//! A real-time stream at work: datagrams under a rate control, and the answers to them.

use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_traffic::{
    Application, Feedback, STREAM_ANSWER, STREAM_HEADERS, StreamPacket, StreamPacketKind,
    StreamPlayback, StreamReceiver, StreamSender, StreamSettings,
};
use bentpipe_units::{Bytes, Time};

/// Both ends of a stream.
#[derive(Debug)]
pub(crate) struct MediaStream {
    pub(crate) sender: StreamSender,
    receiver: StreamReceiver,
    /// Video, which somebody watches.
    pub(crate) playback: Option<StreamPlayback>,
    /// Payload of a packet.
    payload: u64,
    pub(crate) arrived_bytes: u64,
    /// When the sender wants to be called next.
    wakes_at: Time,
}

impl MediaStream {
    /// The stream of an application that starts at `starts_at`; `None` where it
    /// has no rate control.
    pub(crate) fn new(application: &Application, starts_at: Time) -> Option<Box<MediaStream>> {
        let settings = StreamSettings::of(application)?;
        let playback = match application {
            Application::Video(video) => Some(StreamPlayback::new(video, starts_at)),
            _ => None,
        };
        Some(Box::new(MediaStream {
            payload: settings.packet.get().saturating_sub(STREAM_HEADERS),
            sender: StreamSender::new(settings),
            receiver: StreamReceiver::default(),
            playback,
            arrived_bytes: 0,
            wakes_at: Time::MAX,
        }))
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.sender.start(now);
        self.wakes_at = now;
    }

    /// When [`MediaStream::on_call`] is to be called next.
    pub(crate) fn next_call(&self) -> Time {
        let over = self.playback.as_ref().map(StreamPlayback::ends_at);
        self.wakes_at.min(over.unwrap_or(Time::MAX))
    }

    /// Sends what is due at `now`; true if the playback is over.
    pub(crate) fn on_call<T: Transmit>(
        &mut self,
        now: Time,
        destination: u32,
        net: &mut T,
    ) -> bool {
        if self.playback.as_ref().is_some_and(|p| now >= p.ends_at()) {
            self.sender.stop();
            self.wakes_at = Time::MAX;
            return true;
        }
        while let Some(packet) = self.sender.send(now) {
            net.transmit(self.packet(destination, &packet));
            if net.is_full() {
                break;
            }
        }
        self.wakes_at = self.sender.next(now);
        false
    }

    fn packet(&self, destination: u32, sent: &StreamPacket) -> Packet {
        let mut packet = Packet::new(destination);
        packet.bytes = sent.bytes.get().min(u64::from(u16::MAX)) as u16;
        packet.payload = self.payload.min(u64::from(u16::MAX)) as u16;
        packet.sequence = sent.number;
        mark(&mut packet, sent.kind, sent.sent_at);
        packet
    }

    /// A packet of media, or a dummy, arrives at the receiver.
    pub(crate) fn on_packet<T: Transmit>(&mut self, now: Time, packet: &Packet, net: &mut T) {
        let (kind, sent_at) = marked(packet);
        if kind == StreamPacketKind::Data {
            self.arrived_bytes += u64::from(packet.payload);
            if let Some(playback) = &mut self.playback {
                playback.on_packet(now, sent_at);
            }
        }
        let answer = self.receiver.on_packet(&StreamPacket {
            kind,
            number: packet.sequence,
            sent_at,
            bytes: Bytes::new(u64::from(packet.bytes)),
        });
        let mut back = Packet::new(packet.destination ^ 1);
        back.bytes = STREAM_ANSWER.get() as u16;
        back.payload = (STREAM_ANSWER.get() - STREAM_HEADERS) as u16;
        back.sequence = answer.last_lost;
        back.window = u32::try_from(answer.lost).unwrap_or(u32::MAX);
        mark(&mut back, kind, sent_at);
        net.transmit(back);
    }

    /// An answer arrives at the sender.
    pub(crate) fn on_answer(&mut self, now: Time, packet: &Packet) {
        let (kind, sent_at) = marked(packet);
        let answer = Feedback {
            kind,
            sent_at,
            lost: u64::from(packet.window),
            last_lost: packet.sequence,
        };
        self.sender.on_answer(now, &answer);
        self.wakes_at = self.sender.next(now);
    }

    /// Payload of all packets of media that were sent.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sender.data_sent().saturating_mul(self.payload)
    }
}

/// Puts what a packet is, and when what it is or answers was sent, into its header.
fn mark(packet: &mut Packet, kind: StreamPacketKind, sent_at: Time) {
    packet.acknowledgement = sent_at.as_nanos();
    match kind {
        StreamPacketKind::Data => {}
        StreamPacketKind::Opening => packet.flags |= flags::DUMMY,
        StreamPacketKind::Dummy => {
            packet.flags |= flags::PROBE | flags::DUMMY;
            packet.priority |= priority::LOW;
        }
    }
}

fn marked(packet: &Packet) -> (StreamPacketKind, Time) {
    let kind = if packet.has(flags::PROBE) {
        StreamPacketKind::Dummy
    } else if packet.has(flags::DUMMY) {
        StreamPacketKind::Opening
    } else {
        StreamPacketKind::Data
    };
    (kind, Time::from_nanos(packet.acknowledgement))
}
