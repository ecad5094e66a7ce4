//! A connection to drive by hand.

use bentpipe_bpf::{Native, Values, find};

/// The control `name` with `settings`, established with a window of `cwnd`
/// segments that is always full.
pub(crate) fn connection(name: &str, settings: &[&str], cwnd: u32) -> Native {
    let mut values = Values::new(find(name).unwrap());
    for setting in settings {
        values.set(setting).unwrap();
    }
    values.check().unwrap();
    let mut native = Native::new(&values).unwrap();
    native.socket.snd_cwnd = cwnd;
    native.socket.is_cwnd_limited = 1;
    native.init();
    native.socket.packets_out = native.socket.snd_cwnd;
    native
}

/// cwnd after each of `count` ACKs of one segment.
pub(crate) fn windows(native: &mut Native, count: usize) -> Vec<u32> {
    (0..count)
        .map(|_| {
            native.cong_avoid(1);
            native.socket.snd_cwnd
        })
        .collect()
}
