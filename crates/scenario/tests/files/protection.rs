//! How a scenario says that a link protects itself.

use bentpipe_link::{ArqScheme, ArqSettings, ChannelSettings};
use bentpipe_scenario::{Document, Scenario};
use bentpipe_units::{Duration, Rate, Ratio};

fn parse(link: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"100 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"4 Mbit/s\"\none_way_delay = \"250 ms\"\n{link}\n[flow.f]\nfrom = \"a\"\n\
         to = \"b\"\ntransport = \"sack\"\napplication = \"persistent\"\n"
    );
    let document = Document::parse("test.toml", &text).unwrap();
    document.validate().map_err(|e| e.render(false))
}

fn link(text: &str) -> [bentpipe_scenario::Link; 2] {
    let scenario = parse(text).unwrap_or_else(|e| panic!("{e}"));
    [scenario.links[0].clone(), scenario.links[1].clone()]
}

fn bits(x: f64) -> ChannelSettings {
    let bit_error_rate = Ratio::new(x).unwrap();
    ChannelSettings::BitErrors { bit_error_rate }
}

#[test]
fn a_code_takes_rate_and_leaves_few_errors() {
    let [forth, back] = link("coding = \"marchese\"");
    for link in [forth, back] {
        assert_eq!(link.settings.rate, Rate::from_mbps(2));
        assert_eq!(link.settings.channel, bits(1e-8));
    }
    let table = "{ kind = \"table\", code_rate = 0.75, raw_bit_error_rate = 0.01, \
                 points = [{ raw = 0.001, decoded = 1e-9 }, { raw = 0.01, decoded = 1e-6 }] }";
    let [forth, back] = link(&format!(
        "coding = {table}\n[link.l.reverse]\ncoding = {{ kind = \"given\", code_rate = 0.5, \
         bit_error_rate = 1e-7 }}"
    ));
    assert_eq!(forth.settings.rate, Rate::from_mbps(3));
    assert_eq!(forth.settings.channel, bits(1e-6));
    assert_eq!(back.settings.rate, Rate::from_mbps(2));
    assert_eq!(back.settings.channel, bits(1e-7));
    // Without one on the way back, or with another channel there.
    let [_, back] = link("coding = \"marchese\"\n[link.l.reverse]\ncoding = \"none\"");
    assert_eq!(back.settings.rate, Rate::from_mbps(4));
    assert_eq!(back.settings.channel, ChannelSettings::Perfect);
    // 63 p^2 / 7 in the first order.
    let [forth, _] =
        link("coding = { kind = \"block\", n = 7, k = 4, t = 1, raw_bit_error_rate = 1e-4 }");
    let ChannelSettings::BitErrors { bit_error_rate } = forth.settings.channel else {
        panic!("{:?}", forth.settings.channel)
    };
    assert!((bit_error_rate.get() / 9e-8 - 1.0).abs() < 1e-3);
}

#[test]
fn arq_and_its_defaults() {
    let [forth, back] = link(
        "arq = \"selective-repeat\"\n[link.l.reverse]\narq = { kind = \"go-back-n\", \
         window = 7, timeout = \"1 s\", transmissions = 3 }",
    );
    let selective = ArqSettings {
        scheme: ArqScheme::SelectiveRepeat,
        window: u32::MAX,
        timeout: None,
        transmissions: 8,
        in_order: true,
    };
    assert_eq!(forth.arq.as_deref(), Some(&selective));
    let back_n = ArqSettings {
        scheme: ArqScheme::GoBackN,
        window: 7,
        timeout: Some(Duration::from_secs(1)),
        transmissions: 3,
        in_order: true,
    };
    assert_eq!(back.arq.as_deref(), Some(&back_n));
    let [forth, back] = link(
        "arq = { kind = \"selective-repeat\", in_order = false }\n[link.l.reverse]\narq = \"none\"",
    );
    assert!(forth.arq.is_some_and(|arq| !arq.in_order));
    assert_eq!(back.arq, None);
    let plain = parse("").unwrap();
    assert_ne!(plain.hash(), parse("arq = \"go-back-n\"").unwrap().hash());
}

#[test]
fn arq_and_a_code_on_a_link_that_changes() {
    let [forth, _] = link(
        "arq = \"go-back-n\"\ncoding = \"marchese\"\ntimeline = [{ at = \"1 s\", up = false }]",
    );
    assert!(forth.arq.is_some() && forth.timeline.is_some());
    assert_eq!(forth.settings.rate, Rate::from_mbps(2));
}

macro_rules! mistakes {
    ($($name:ident: $link:literal;)+) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), parse($link).unwrap_err());
        })+
    };
}

mistakes! {
    unknown_arq: "arq = \"selective-reject\"";
    no_order_to_restore: "arq = { kind = \"go-back-n\", in_order = false }";
    coding_and_channel: "coding = \"marchese\"\nchannel = { kind = \"uniform\", packet_error_rate = 0.1 }";
    code_that_cannot_be: "coding = { kind = \"block\", n = 7, k = 5, t = 1, raw_bit_error_rate = 1e-4 }";
    outside_the_table: "coding = { kind = \"table\", code_rate = 0.5, raw_bit_error_rate = 0.1, points = [{ raw = 0.01, decoded = 1e-8 }] }";
}
