//! Losses on any leg of a way.

use bentpipe_outcome::Outcome;
use bentpipe_scenario::Document;
use bentpipe_sim::{Options, run};

/// Datagrams over three legs and a file back and forth, with this channel on
/// one direction of one of them.
fn with_losses_on(leg: &str, direction: &str) -> Outcome {
    let mut text = String::from("duration = \"100 s\"\n");
    for node in ["a", "b", "c", "d"] {
        text += &format!("[node.{node}]\n");
    }
    let channel =
        "channel = { kind = \"gilbert-elliott\", packet_error_rate = \"2%\", mean_burst = 5 }\n";
    for (name, from, to) in [("one", "a", "b"), ("two", "b", "c"), ("three", "c", "d")] {
        text += &format!(
            "[link.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"10 Mbit/s\"\n\
             one_way_delay = \"20 ms\"\n"
        );
        if name == leg && direction == "forth" {
            text += channel;
            text += &format!("[link.{name}.reverse]\nchannel = \"perfect\"\n");
        } else if name == leg {
            text += &format!("[link.{name}.reverse]\n{channel}");
        }
    }
    text += "[flow.file]\nfrom = \"a\"\nto = \"d\"\ntransport = \"sack\"\n\
             application = \"persistent\"\n";
    for (flow, from, to) in [("forth", "a", "d"), ("back", "d", "a")] {
        text += &format!(
            "[flow.{flow}]\nfrom = \"{from}\"\nto = \"{to}\"\n\
             application = {{ kind = \"constant-rate\", rate = \"5 Mbit/s\" }}\n"
        );
    }
    let document = Document::parse("legs.toml", &text).unwrap();
    let scenario = document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    run(&scenario, &Options::default()).unwrap()
}

#[test]
fn only_the_leg_with_the_channel_loses() {
    for leg in ["one", "two", "three"] {
        for direction in ["forth", "back"] {
            let outcome = with_losses_on(leg, direction);
            let lossy = match direction {
                "forth" => leg.to_owned(),
                _ => format!("{leg}.reverse"),
            };
            for link in &outcome.links {
                let share = link.channel_loss_share().get();
                if link.name == lossy {
                    // 40,000 packets, losses in bursts of 5: sd 0.2%.
                    assert!((share - 0.02).abs() < 0.006, "{lossy}: {share}");
                } else {
                    assert_eq!(link.channel_losses, 0, "{} for {lossy}", link.name);
                }
            }
            // Who crosses it loses, in either direction.
            let [file, forth, back] = &outcome.flows[..] else {
                panic!("three flows");
            };
            assert!(file.channel_losses > 0);
            assert_eq!(forth.channel_losses > 0, direction == "forth");
            assert_eq!(back.channel_losses > 0, direction == "back");
            let total = file.channel_losses + forth.channel_losses + back.channel_losses;
            let of_link: u64 = outcome.links.iter().map(|l| l.channel_losses).sum();
            assert_eq!(total, of_link);
        }
    }
}
