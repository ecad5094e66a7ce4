//! Buffers of hosts, as kernels have them where nobody has tuned them.

use bentpipe_units::Bytes;

/// The buffers of a host that somebody has tuned, or of one that nobody has: those differ from
/// kernel to kernel.
///
/// Linux limits both in bytes of memory, of which a part is payload. `tcp_wmem` has been 4 MiB all
/// the time. The receive window is what the limit of `tcp_rmem` leaves for payload:
///
/// | Linux | limit | payload | largest window |
/// |---|---|---|---|
/// | up to 6.5 | 6 MiB | a half (`tcp_adv_win_scale`) | 3,145,728 |
/// | 6.6 to 6.15 | 6 MiB | as measured (`scaling_ratio`) | 3,932,160 |
/// | from 6.16 on | 32 MiB | as measured | 20,971,520 |
///
/// What is measured is the payload of a packet over its memory, in parts of 256. It is taken as 160
/// of 256, which is a packet of 1500 bytes in 2304 bytes of memory: a buffer of 2 kB and its
/// descriptor. Drivers that take other buffers for a packet have other windows, and so do hosts of
/// one machine that pass super-segments on whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Buffers {
    /// 16 MB of payload on either side, which the window of most paths never fills.
    Ample,
    /// Stock Linux up to 6.5, such as the 5.15 and 6.1 of distributions.
    StockTo65,
    /// Stock Linux from 6.6 to 6.15, such as 6.8 and 6.12.
    StockFrom66,
    /// Stock Linux from 6.16 on, such as 6.18.
    StockFrom616,
}

impl Buffers {
    /// Every value with its name in scenarios: a kernel that distributions have stands for those
    /// that have the same.
    pub const ALL: [(&'static str, Buffers); 5] = [
        ("ample", Buffers::Ample),
        ("stock", Buffers::STOCK),
        ("stock-6.1", Buffers::StockTo65),
        ("stock-6.12", Buffers::StockFrom66),
        ("stock-6.18", Buffers::StockFrom616),
    ];

    /// What `stock` stands for.
    pub const STOCK: Buffers = Buffers::StockTo65;

    /// The window that a host with [`Buffers::STOCK`] advertises at most.
    pub const STOCK_WINDOW: Bytes = Bytes::new(3 << 20);

    /// The memory of a stock host's send buffer.
    pub const STOCK_MEMORY: Bytes = Bytes::new(4 << 20);

    /// The window that a stock host advertises at most; `None` for a host that somebody has tuned.
    #[must_use]
    pub const fn stock_window(self) -> Option<Bytes> {
        match self {
            Buffers::Ample => None,
            Buffers::StockTo65 => Some(Buffers::STOCK_WINDOW),
            Buffers::StockFrom66 => Some(Bytes::new((6 << 20) / 256 * PAYLOAD)),
            Buffers::StockFrom616 => Some(Bytes::new((32 << 20) / 256 * PAYLOAD)),
        }
    }

    /// True if `window` is the largest of some stock host.
    #[must_use]
    pub fn is_stock_window(window: Bytes) -> bool {
        let mut all = Buffers::ALL.iter();
        all.any(|(_, buffers)| buffers.stock_window() == Some(window))
    }

    /// The limit in memory with which stock Linux from 6.6 on, if `measured`, or up to 6.5, comes to
    /// a window of `window` at most.
    #[must_use]
    pub const fn receive_memory(window: Bytes, measured: bool) -> Bytes {
        Bytes::new(if measured {
            (window.get() * 256).div_ceil(PAYLOAD)
        } else {
            window.get() * 2
        })
    }
}

/// Payload in 256 bytes of a receive buffer's memory.
const PAYLOAD: u64 = 160;

#[cfg(test)]
mod tests {
    use super::*;

    /// What kernels showed as the largest window: 3,145,728 bytes on 6.1 (fidelity/world/watched.csv).
    #[test]
    fn stock_windows_are_those_of_kernels() {
        let windows = Buffers::ALL.map(|(_, buffers)| buffers.stock_window().map(Bytes::get));
        let [ample, stock, to_65, from_66, from_616] = windows;
        assert_eq!((ample, stock, to_65), (None, to_65, Some(3_145_728)));
        assert_eq!((from_66, from_616), (Some(3_932_160), Some(20_971_520)));
        assert!(!Buffers::is_stock_window(Bytes::new(16_000_000)));
    }

    /// On a kernel of its own a stock host has the limit that it has there: 6 MiB and 32 MiB.
    #[test]
    fn the_limit_of_memory_is_that_of_the_kernel() {
        let limit = |buffers: Buffers, measured| {
            let window = buffers.stock_window().expect("it is stock");
            Buffers::receive_memory(window, measured).get()
        };
        assert_eq!(limit(Buffers::StockTo65, false), 6 << 20);
        assert_eq!(limit(Buffers::StockFrom66, true), 6 << 20);
        assert_eq!(limit(Buffers::StockFrom616, true), 32 << 20);
        // The window of an old kernel on a new one.
        assert_eq!(limit(Buffers::StockTo65, true), 5_033_165);
    }
}
