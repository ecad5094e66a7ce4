use super::*;
use crate::config::{Nets, Ports, Role, config_from_str};
use proptest::prelude::*;

fn policy(section: &str) -> Policy {
    let text = format!("role = \"single\"\n[intercept]\n[policy]\n{section}");
    Policy::new(config_from_str(&text).unwrap().policy, Role::Single)
}

/// The same at a hub.
fn hub(section: &str) -> Policy {
    let text = format!("role = \"hub\"\n[tunnel]\npeers = \"k\"\n[policy]\n{section}");
    let text = text.replace("\"k\"", "[\"k\"]");
    Policy::new(config_from_str(&text).unwrap().policy, Role::Hub)
}

fn at(address: &str) -> SocketAddr {
    SocketAddr::new(address.parse().unwrap(), 80)
}

#[test]
fn what_only_this_box_may_reach_is_refused() {
    let policy = policy("");
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "192.0.0.192",
        "100.100.100.200",
        "168.63.129.16",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1:7f00:0:100::",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "2001:0:102:304:0:0:80ff:fffe",
        "2001:db8::5efe:7f00:1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
    ] {
        assert_eq!(
            policy.check(at(address)),
            Err(CloseReason::Forbidden),
            "{address}"
        );
    }
    for address in [
        "1.1.1.1",
        "10.0.0.1",
        "192.168.1.1",
        "2606:4700::1111",
        "64:ff9b::1.1.1.1",
        "2002:101:101::1",
        "fd00::1",
    ] {
        assert_eq!(policy.check(at(address)), Ok(at(address)), "{address}");
    }
    assert_eq!(policy.check(at("::ffff:1.1.1.1")), Ok(at("1.1.1.1")));
}

#[test]
fn the_addresses_of_this_machine_are_refused() {
    let policy = policy("");
    for own in policy.own() {
        assert_eq!(
            policy.check(SocketAddr::new(own, 80)),
            Err(CloseReason::Forbidden)
        );
    }
    let own = [IpAddr::from([10, 9, 8, 7])];
    assert!(!policy.allows(own[0], &own));
    assert!(policy.allows([10, 9, 8, 6].into(), &own));
}

#[test]
fn lists_of_the_file_hold() {
    let policy = policy(
        "deny = [\"10.0.0.0/8\", \"2001:db8::/32\"]\nallow = [\"10.20.0.0/16\", \"127.0.0.1\"]\n\
         deny_ports = [25, \"6000-6063\"]",
    );
    assert!(policy.check(at("10.1.0.1")).is_err());
    assert!(policy.check(at("10.20.0.1")).is_ok());
    assert!(policy.check(at("127.0.0.1")).is_ok());
    assert!(policy.check(at("127.0.0.2")).is_err());
    assert!(policy.check(at("2001:db8::1")).is_err());
    assert!(policy.check(at("64:ff9b::10.1.0.1")).is_err());
    for (port, allowed) in [
        (0, false),
        (25, false),
        (26, true),
        (6063, false),
        (6064, true),
    ] {
        let address = SocketAddr::new([10, 20, 0, 1].into(), port);
        assert_eq!(policy.check(address).is_ok(), allowed, "{port}");
    }
}

#[test]
fn the_narrowest_net_decides() {
    let policy = policy(
        "allow = [\"10.0.0.0/8\", \"10.1.2.0/24\", \"192.0.2.0/24\", \"fd00::/8\"]\n\
         deny = [\"10.1.0.0/16\", \"10.1.2.3\", \"192.0.2.0/24\", \"fd00:1::/32\", \"0.0.0.0/0\"]",
    );
    for (address, allowed) in [
        ("10.2.0.1", true),
        ("10.1.0.1", false),
        ("10.1.2.1", true),
        ("10.1.2.3", false),
        // Of two that are equal the refusal holds.
        ("192.0.2.1", false),
        ("198.51.100.1", false),
        ("fd00:2::1", true),
        ("fd00:1::1", false),
        // Each form of an address has its own decision.
        ("64:ff9b::10.1.0.1", false),
        ("64:ff9b::10.2.0.1", true),
        ("::ffff:10.1.2.3", false),
    ] {
        assert_eq!(policy.check(at(address)).is_ok(), allowed, "{address}");
    }
}

#[test]
fn a_hub_keeps_private_nets_to_itself() {
    let inside = [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.127.255.255",
        "fc00::1",
        "fd12:3456::1",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "2002:c0a8:101::1",
    ];
    for address in inside {
        let plain = SocketAddr::new(at(address).ip().to_canonical(), 80);
        assert!(hub("").check(at(address)).is_err(), "{address}");
        assert_eq!(policy("").check(at(address)), Ok(plain), "{address}");
    }
    for address in [
        "172.32.0.1",
        "100.128.0.1",
        "192.169.0.1",
        "fe00::1",
        "1.1.1.1",
    ] {
        assert_eq!(hub("").check(at(address)), Ok(at(address)), "{address}");
    }
    let open = hub("allow = [\"10.0.0.0/8\", \"fd00::/8\"]\ndeny = \"10.9.0.0/16\"");
    assert!(open.check(at("10.0.0.1")).is_ok());
    assert!(open.check(at("fd00::1")).is_ok());
    assert!(open.check(at("10.9.0.1")).is_err());
    assert!(open.check(at("192.168.1.1")).is_err());
    // The clients of terminals have private addresses.
    assert!(hub("").admits_client(at("10.99.0.1")));
}

#[tokio::test]
async fn a_name_is_checked_by_its_addresses() {
    let named = |host: &str, port| Destination::Name {
        host: host.into(),
        port,
    };
    let strict = policy("");
    let localhost = strict.resolve(&named("localhost", 80)).await;
    assert_eq!(localhost, Err(CloseReason::Forbidden));
    let unknown = strict.resolve(&named("no-such-name.invalid", 80)).await;
    assert_eq!(unknown, Err(CloseReason::NoSuchName));
    let open = policy("allow = [\"127.0.0.0/8\", \"::1\"]\ndeny_ports = 22");
    let found = open.resolve(&named("localhost", 80)).await.unwrap();
    assert!(found.iter().all(|address| address.ip().is_loopback()));
    let port = open.resolve(&named("localhost", 22)).await;
    assert_eq!(port, Err(CloseReason::Forbidden));
}

/// IPv6 addresses that carry `v4`.
fn carriers(v4: Ipv4Addr) -> Vec<Ipv6Addr> {
    let bits = u128::from(v4.to_bits());
    let local: u128 = 0x64_ff9b_0001 << 80;
    vec![
        v4.to_ipv6_mapped(),
        Ipv6Addr::from_bits(bits),
        Ipv6Addr::from_bits(0x64_ff9b << 96 | bits),
        Ipv6Addr::from_bits(local | bits),
        Ipv6Addr::from_bits(local | bits >> 16 << 64 | (bits & 0xffff) << 40),
        Ipv6Addr::from_bits(0x2002 << 112 | bits << 80),
        Ipv6Addr::from_bits(0x2001 << 112 | bits << 64),
        Ipv6Addr::from_bits(0x2001 << 112 | (!bits & 0xffff_ffff)),
    ]
}

proptest! {
    #[test]
    fn no_form_of_an_address_gets_around_its_refusal(bits in any::<u32>(), net in 0..V4.len()) {
        // Half of these are refused by default, the others by the file.
        let (first, length) = V4[net];
        let mask = u32::MAX.checked_shr(length.into()).unwrap_or(0);
        let inside = Ipv4Addr::from_bits(first.to_bits() | bits & mask);
        let policy = policy("");
        prop_assert!(policy.check(SocketAddr::new(inside.into(), 80)).is_err());
        for carrier in carriers(inside) {
            prop_assert!(policy.check(SocketAddr::new(carrier.into(), 80)).is_err(), "{}", carrier);
        }
        let denied = Ipv4Addr::from_bits(bits);
        let rules = config::Policy {
            allow: Nets::default(),
            deny: Nets(vec![config::Prefix::new(denied.into(), 32).unwrap()]),
            deny_ports: Ports::default(),
        };
        let policy = Policy::new(rules, Role::Single);
        prop_assert!(policy.check(SocketAddr::new(denied.into(), 80)).is_err());
        for carrier in carriers(denied) {
            prop_assert!(policy.check(SocketAddr::new(carrier.into(), 80)).is_err(), "{}", carrier);
        }
    }

    #[test]
    fn what_is_allowed_is_in_plain_form_and_none_of_the_refused(bits in any::<u128>()) {
        let policy = policy("");
        let address = SocketAddr::new(Ipv6Addr::from_bits(bits).into(), 80);
        if let Ok(plain) = policy.check(address) {
            prop_assert_eq!(plain.ip(), plain.ip().to_canonical());
            prop_assert!(!is_in(plain.ip(), V4, V6));
        }
    }
}
