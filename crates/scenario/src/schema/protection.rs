//! How a link protects itself: codes and retransmission.

use bentpipe_document::schema::{Kind, integer};
use bentpipe_document::{kinds, table};
use bentpipe_link::{ArqScheme, ArqSettings};
use bentpipe_units::{Duration, Ratio};

/// Packets, or transmissions.
const COUNT: Kind = integer(1, u32::MAX as u64);

kinds! {
    /// forward error correction
    pub(crate) CodingTable at "link.NAME.coding", called "coding";
    /// no code
    Uncoded "none", example "[link.satellite.reverse]\ncoding = \"none\"" {}
    /// the code of the ITALSAT test bed: rate 1/2, raw 1e-2, 1e-8 after decoding
    Marchese "marchese", example "[link.lan]\ncoding = \"marchese\"" {}
    /// a code whose bit error rate after decoding is known
    Given "given",
        example "[link.lan.coding]\nkind = \"given\"\ncode_rate = 0.75\nbit_error_rate = 1e-8"
    {
        /// share of the rate that is left for packets
        code_rate: Ratio, required;
        /// share of wrong bits after decoding
        bit_error_rate: Ratio, required;
    }
    /// a block code decided hard; the bit error rate after decoding is the usual bound
    Block "block",
        example "[link.lan.coding]\nkind = \"block\"\nn = 255\nk = 239\nt = 2\n\
                 raw_bit_error_rate = 1e-3"
    {
        /// bits of a code word
        n: u32 [integer(1, 65_535)], required;
        /// bits of data in it
        k: u32 [integer(1, 65_535)], required;
        /// wrong bits in a word that are corrected
        t: u32 [integer(0, 65_535)], required;
        /// share of wrong bits on the channel, before decoding
        raw_bit_error_rate: Ratio, required;
    }
    /// a code by points, with straight lines of the logarithms between them
    Points "table",
        example "[link.lan.coding]\nkind = \"table\"\ncode_rate = 0.5\nraw_bit_error_rate = 5e-3\n\
                 points = [{ raw = 1e-3, decoded = 1e-9 }, { raw = 1e-2, decoded = 1e-6 }]"
    {
        /// share of the rate that is left for packets
        code_rate: Ratio, required;
        /// share of wrong bits on the channel, before decoding
        raw_bit_error_rate: Ratio, required;
        /// the points, the smallest raw bit error rate first
        points: Vec<PointTable>, required;
    }
}

table! {
    /// what a code makes of a raw bit error rate
    pub(crate) PointTable at "link.NAME.coding.points", called "a point of";
    /// before decoding, above zero
    raw: Ratio, required;
    /// after decoding, above zero
    decoded: Ratio, required;
}

kinds! {
    /// retransmission by the link itself
    pub(crate) ArqTable at "link.NAME.arq", called "ARQ", makes Option<ArqSettings>, at link: ();
    /// nothing is sent again
    Unrepeated "none", example "[link.satellite]\narq = \"none\"" {} => { None }
    /// what was lost is sent again, a round trip later
    SelectiveRepeat "selective-repeat",
        example "[link.satellite]\narq = { kind = \"selective-repeat\", transmissions = 4 }"
    {
        /// packets whose fate may be unknown at once, from the oldest on
        window: u32 [COUNT], or "no limit";
        /// when a loss is known after the end of the transmission
        timeout: Duration, or "the link's round trip";
        /// transmissions of a packet at most; then it is lost
        transmissions: u32 [COUNT], default 8;
        /// packets after a loss wait at the far end until it is repaired or given up
        in_order: bool, default true;
    } => { arq(ArqScheme::SelectiveRepeat, window, timeout, transmissions, in_order) } <= {
        Some(ArqSettings {
            scheme: ArqScheme::SelectiveRepeat, window, timeout, transmissions, in_order
        })
    }
    /// what was lost and all that followed is sent again
    GoBackN "go-back-n", example "[link.satellite]\narq = \"go-back-n\"" {
        /// packets whose fate may be unknown at once, from the oldest on
        window: u32 [COUNT], or "no limit";
        /// when a loss is known after the end of the transmission
        timeout: Duration, or "the link's round trip";
        /// transmissions of a packet at most; then it is lost
        transmissions: u32 [COUNT], default 8;
    } => { arq(ArqScheme::GoBackN, window, timeout, transmissions, true) } <= {
        Some(ArqSettings {
            scheme: ArqScheme::GoBackN, window, timeout, transmissions, in_order: _
        })
    }
}

fn arq(
    scheme: ArqScheme,
    window: Option<u32>,
    timeout: Option<Duration>,
    transmissions: u32,
    in_order: bool,
) -> Option<ArqSettings> {
    Some(ArqSettings {
        scheme,
        window: window.unwrap_or(u32::MAX),
        timeout,
        transmissions,
        in_order,
    })
}
