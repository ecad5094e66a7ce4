//! Captures for tests, built byte by byte.

/// A packet as a test describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp<'a> {
    pub(crate) at_us: u64,
    /// From 192.0.2.1:5001, or from the other end.
    pub(crate) from_server: bool,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: u8,
    pub(crate) payload: u32,
    pub(crate) options: &'a [u8],
}

impl Default for Tcp<'_> {
    fn default() -> Self {
        Tcp {
            at_us: 0,
            from_server: true,
            sequence: 0,
            acknowledgement: 0,
            flags: 0x10,
            payload: 0,
            options: &[],
        }
    }
}

impl Tcp<'_> {
    fn header(&self) -> Vec<u8> {
        let ports: [u16; 2] = if self.from_server {
            [5001, 40_000]
        } else {
            [40_000, 5001]
        };
        let mut tcp = Vec::new();
        tcp.extend(ports[0].to_be_bytes());
        tcp.extend(ports[1].to_be_bytes());
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.acknowledgement.to_be_bytes());
        let words = 5 + self.options.len().div_ceil(4);
        tcp.push((words as u8) << 4);
        tcp.push(self.flags);
        tcp.extend(1000_u16.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(self.options);
        tcp.resize(4 * words, 0);
        tcp
    }

    /// IPv4 and TCP headers; the payload is cut off.
    pub(crate) fn ipv4(&self) -> Vec<u8> {
        let tcp = self.header();
        let total = 20 + tcp.len() as u32 + self.payload;
        let mut ip = vec![0x45, 0];
        // What does not fit is for the device to split.
        ip.extend(u16::try_from(total).unwrap_or(0).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let (server, client) = ([192, 0, 2, 1], [192, 0, 2, 9]);
        let (from, to) = if self.from_server {
            (server, client)
        } else {
            (client, server)
        };
        ip.extend(from);
        ip.extend(to);
        ip.extend(tcp);
        ip
    }

    /// IPv6 with `before` as extension headers, of which the first has the type `next`.
    pub(crate) fn ipv6(&self, next: u8, before: &[u8]) -> Vec<u8> {
        let tcp = self.header();
        let length = (before.len() + tcp.len()) as u32 + self.payload;
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
        ip.extend([next, 64]);
        let (server, client) = ([1; 16], [9; 16]);
        let (from, to) = if self.from_server {
            (server, client)
        } else {
            (client, server)
        };
        ip.extend(from);
        ip.extend(to);
        ip.extend(before);
        ip.extend(tcp);
        ip
    }

    pub(crate) fn length(&self) -> u32 {
        self.ipv4().len() as u32 + self.payload
    }
}

/// A pcap file of raw IP, little-endian, in microseconds.
pub(crate) fn pcap(packets: &[Tcp<'_>]) -> Vec<u8> {
    let mut file = pcap_header(101);
    for packet in packets {
        record(&mut file, packet.at_us, &packet.ipv4(), packet.length());
    }
    file
}

pub(crate) fn pcap_header(link: u32) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(link.to_le_bytes());
    file
}

pub(crate) fn record(file: &mut Vec<u8>, at_us: u64, bytes: &[u8], length: u32) {
    file.extend(((at_us / 1_000_000) as u32).to_le_bytes());
    file.extend(((at_us % 1_000_000) as u32).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(bytes);
}

/// A pcapng block of either byte order.
pub(crate) fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let word = |x: u32| {
        if big {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        }
    };
    let padded = body.len().next_multiple_of(4);
    let length = (12 + padded) as u32;
    let mut block = word(kind).to_vec();
    block.extend(word(length));
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(word(length));
    block
}
