//! Buffers of hosts that nobody has tuned, by kernel.

use crate::text::read;
use bentpipe_outcome::FlowOutcome;
use bentpipe_sim::{Options, run};

/// 100 Mbit/s over 600 ms are 7.5 MB in flight. A host that nobody has tuned keeps 2 to 2.8 MB there
/// (27 Mbit/s on Linux 6.1 in a minute), and one with ample buffers comes near the rate of the link.
#[test]
fn stock_buffers_limit_a_fast_satellite() {
    let rate = |keys: &str| {
        let text = format!(
            "duration = \"60 s\"\n[node.a]\n[node.b]\n[link.x]\nbetween = [\"a\", \"b\"]\n\
             rate = \"100 Mbit/s\"\none_way_delay = \"300 ms\"\nqueue = \"1 BDP\"\n\
             [transport.t]\nbase = \"bbr\"\nprofile = \"linux\"\n{keys}\n\
             [flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\napplication = \"persistent\"\n"
        );
        let outcome = run(&read(&text), &Options::default()).unwrap();
        outcome.flows[0].delivered.as_f64() * 8.0 / 60e6
    };
    let stock = rate("buffers = \"stock\"");
    assert!((24.0..34.0).contains(&stock), "{stock}");
    let ample = rate("buffers = \"ample\"");
    assert!(ample > 60.0, "{ample}");
}

/// A file over 20 Mbit/s and 600 ms, with a queue of one bandwidth-delay product.
fn download(control: &str, size: &str, buffers: &str) -> FlowOutcome {
    let text = format!(
        "duration = \"60 s\"\n[node.a]\n[node.b]\n[link.x]\nbetween = [\"a\", \"b\"]\n\
         rate = \"20 Mbit/s\"\none_way_delay = \"300 ms\"\nqueue = \"1 BDP\"\n\
         [link.x.reverse]\nrate = \"2 Mbit/s\"\n[transport.t]\nbase = \"{control}\"\n\
         profile = \"linux\"\nbuffers = \"{buffers}\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
         transport = \"t\"\napplication = {{ kind = \"transfer\", size = \"{size}\" }}\n"
    );
    let mut outcome = run(&read(&text), &Options::default()).expect("it runs");
    outcome.flows.remove(0)
}

/// The path and its queue hold 3 MB, which is the window of old kernels: slow start overruns the
/// queue by little, and the transfer goes on with half of a window. With the larger window of kernels
/// since 6.6 twice as much is lost and sent again within one repair. A kernel 6.18 with these limits
/// took 9.48 s and lost 586 packets.
#[test]
fn newer_kernels_have_larger_windows() {
    let seconds = |flow: &FlowOutcome| flow.transfer_time.expect("it ends").as_secs();
    let [old, middle, new] = ["stock-6.1", "stock-6.12", "stock-6.18"]
        .map(|buffers| download("newreno", "10 MiB", buffers));
    assert!(old.queue_drops < 400, "{}", old.queue_drops);
    assert!(
        (500..800).contains(&middle.queue_drops),
        "{}",
        middle.queue_drops
    );
    let took = seconds(&middle);
    assert!((9.2..9.8).contains(&took), "{took}");
    assert!(seconds(&old) > 12.0 && seconds(&new) < 9.8);
    let stock = download("newreno", "10 MiB", "stock");
    assert_eq!(stock, old, "today's `stock` is that of 6.1");
}
