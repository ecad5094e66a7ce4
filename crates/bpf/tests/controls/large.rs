//! HighSpeed and Scalable.

use super::common::{ack, connection, lose, recover};

#[test]
fn highspeed_grows_by_a_and_loses_b() {
    // RFC 3649: w, b, a.
    for (w, b, a) in [
        (118, 0.441, 2.09),
        (1_000, 0.330, 8.03),
        (83_000, 0.1, 72.5),
    ] {
        let mut native = connection("bp_highspeed", &[], w);
        native.socket.snd_ssthresh = 2;
        // A window of ACKs adds a segments or so: the window grows meanwhile.
        for _ in 0..w {
            ack(&mut native, 10, 1, 100_000);
        }
        let grown = f64::from(native.socket.snd_cwnd - w);
        assert!((grown - a).abs() <= 1.0, "{w}: {grown}");
        native.socket.snd_cwnd = w;
        let left = f64::from(lose(&mut native, w));
        let wanted = f64::from(w) * (1.0 - b);
        assert!((left - wanted).abs() <= 1.0 + f64::from(w) * 5e-4, "{left}");
    }
    // Up to 38 segments it is Reno.
    let mut native = connection("bp_highspeed", &[], 38);
    assert_eq!(lose(&mut native, 38), 19);
}

#[test]
fn scalable_loses_an_eighth_and_takes_it_back_in_13_rounds() {
    let mut native = connection("bp_scalable", &[], 1_000);
    native.socket.snd_ssthresh = 2;
    assert_eq!(lose(&mut native, 1_000), 875);
    recover(&mut native);
    for _ in 0..12_499 {
        ack(&mut native, 10, 1, 100_000);
    }
    assert_eq!(native.socket.snd_cwnd, 999);
    ack(&mut native, 10, 1, 100_000);
    ack(&mut native, 10, 1, 100_000);
    assert_eq!(native.socket.snd_cwnd, 1_000);
    // Below 16 segments it is Reno.
    native.socket.snd_cwnd = 15;
    assert_eq!(lose(&mut native, 15), 7);
    // The half that ssthresh cannot hold comes back.
    recover(&mut native);
    native.socket.snd_ssthresh = 2;
    for _ in 0..4 {
        ack(&mut native, 10, 1, 100_000);
    }
    assert_eq!(native.socket.snd_cwnd, 8);
}
