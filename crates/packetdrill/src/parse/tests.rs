use crate::script::{Action, Ecn, Expression, Script, TcpOption, When, flag};
use proptest::prelude::*;

fn read(text: &str) -> Script {
    Script::parse("test.pkt", text).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn error(text: &str) -> (usize, usize, String) {
    match Script::parse("test.pkt", text) {
        Ok(script) => panic!("it was read: {script:?}"),
        Err(errors) => {
            let first = &errors.errors[0];
            (
                first.line().unwrap_or(0),
                first.column().unwrap_or(0),
                first.message().to_owned(),
            )
        }
    }
}

#[test]
fn times_come_in_every_form() {
    let script = read(
        "0 close(3) = 0\n+.1 close(3) = 0\n1.5 close(3) = 0\n* close(3) = 0\n\
         +.3~+.310 > . 1:1(0) ack 1\n1~2 > . 1:1(0) ack 1\n+.1...0.200 read(3, ..., 10) = 10\n\
         +.002 ... 0.004 connect(4, ..., ...) = 0",
    );
    let when: Vec<When> = script.events.iter().map(|event| event.when).collect();
    assert_eq!(
        when,
        [
            When::At(0),
            When::After(100_000),
            When::At(1_500_000),
            When::Any,
            When::AfterBetween(300_000, 310_000),
            When::Between(1_000_000, 2_000_000),
            When::After(100_000),
            When::After(2_000),
        ]
    );
    let Action::Call(call) = &script.events[6].action else {
        panic!("a call");
    };
    assert_eq!(call.until, Some(200_000));
}

#[test]
fn a_packet_has_its_fields() {
    let script = read(
        "0 < [ce] SEW 7:1007(1000) ack 3 win 32792 <mss 1460,sackOK,TS val 1 ecr 2,nop,wscale 8> // x",
    );
    let Action::Arrives(segment) = &script.events[0].action else {
        panic!("a packet");
    };
    assert_eq!(segment.flags, flag::SYN | flag::ECE | flag::CWR);
    assert_eq!((segment.sequence, segment.payload), (7, 1000));
    assert_eq!(segment.acknowledgement, Some(3));
    assert_eq!((segment.window, segment.ecn), (Some(32792), Some(Ecn::Ce)));
    assert_eq!(
        segment.options.as_deref(),
        Some(
            &[
                TcpOption::Mss(1460),
                TcpOption::SackPermitted,
                TcpOption::Timestamp(1, 2),
                TcpOption::Nop,
                TcpOption::WindowScale(8)
            ][..]
        )
    );
    let whole =
        "[ce] SEW 7:1007(1000) ack 3 win 32792 <mss 1460,sackOK,TS val 1 ecr 2,nop,wscale 8>";
    assert_eq!(segment.to_string(), whole);
    let script = read("0 > F. 1:1(0) ack 1 <sack 1:2 3:4,nop,nop>\n+0 > - 1:1(0) <...>");
    let shown = |index: usize| match &script.events[index].action {
        Action::Leaves(segment) => segment.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(0), "F. 1:1(0) ack 1 <sack 1:2 3:4,nop,nop>");
    assert_eq!(shown(1), "- 1:1(0) <...>");
}

#[test]
fn calls_have_arguments_of_every_kind() {
    let script = read(
        "0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0x2 (flags O_RDWR)\n\
         +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n\
         +0 sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 40}, {..., 2}], msg_flags=0}, 0) = 42\n\
         +0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0",
    );
    let call = |index: usize| match &script.events[index].action {
        Action::Call(call) => call.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(call(0).returns, Expression::Integer(2));
    assert!(call(0).arguments[2].has("O_NONBLOCK"));
    assert_eq!(call(1).error.as_deref(), Some("EINPROGRESS"));
    assert_eq!(call(2).arguments.len(), 3);
    assert_eq!(call(3).arguments[3], Expression::Text("reno".to_owned()));
}

#[test]
fn options_comments_commands_and_code_are_read() {
    let script = read(
        "// a\n/* b\n c */ --tolerance_usecs=7000\n--ip_version=ipv4 # d\n`defaults.sh\nsysctl -q a=1`\n\
         0 `true`\n+0 %{ assert tcpi_snd_cwnd == 10, 'x' }% // e\n",
    );
    assert_eq!(script.options.len(), 2);
    assert_eq!(script.options[0].value, "7000");
    assert_eq!(script.events.len(), 3);
    assert!(matches!(&script.events[0].action, Action::Command(text) if text.contains("sysctl")));
    assert_eq!(script.line(script.events[2].span.start), 8);
}

#[test]
fn other_protocols_are_known_and_left() {
    let script = read("0 < icmp unreachable frag_needed mtu 1200 [1:1461(1460)]\n+0 < udp (10)\n");
    let all = |event: &crate::script::Event| matches!(event.action, Action::Foreign(_));
    assert!(script.events.iter().all(all));
}

#[test]
fn errors_point_at_their_place() {
    let (line, column, message) = error("0 < S 0:0(0) win 1\n+0 > S. 0:0(0) <msss 1>");
    assert_eq!((line, column), (2, 17));
    assert!(message.contains("msss"), "{message}");
    assert_eq!(error("0 < S 0:5(4) win 1").1, 7);
    assert_eq!(error("close(3) = 0").0, 1);
    assert_eq!(error("0 close(3 = 0").1, 11);
    assert_eq!(error("+.2~+.1 > . 1:1(0)").1, 1);
    assert!(error("0 %{ assert x").2.contains("end"));
    assert_eq!(error("0 %{ assert 1 ==\n}%").0, 1);
    assert_eq!(error("0 < X 0:0(0)").1, 5);
}

/// What scripts are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("+0 "),
        Just("* "),
        Just(".1"),
        Just("..."),
        Just("~"),
        Just("< "),
        Just("> "),
        Just("S. 0:0(0) "),
        Just("ack 1 "),
        Just("win 5 "),
        Just("<mss 1,"),
        Just("sack 1:2 "),
        Just("TS val 1 ecr 2>"),
        Just("[ect0] "),
        Just("`"),
        Just("%{ "),
        Just(" }%"),
        Just("assert "),
        Just("x == 1"),
        Just("('"),
        Just("write(3, ..., 100) = 100\n"),
        Just("{a=b, [1|2]}"),
        Just("\""),
        Just("/*"),
        Just("//"),
        Just("\n"),
        Just("--mtu=1"),
        Just("é"),
        Just("4294967296"),
        Just("-"),
        Just("socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"),
        Just("+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"),
        Just("+0 < S 0:0(0) win 9 <mss 1000,nop,wscale 7>\n"),
        Just("+0 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n"),
        Just("+0 write(4, ..., 5000) = 5000\n"),
        Just("+0 close(4) = 0\n"),
        Just("+.1 < . 1:1001(1000) ack 9 win 3 <sack 5:4,nop,nop>\n"),
        Just("+0 < R. 1:1(0) ack 1 win 0\n"),
        Just("+0 < F. 1:1(0) ack 1 win 7\n"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        let _ = Script::parse("any.pkt", &text);
    }

    #[test]
    fn no_script_makes_the_interpreter_panic(text in pieces()) {
        if let Ok(script) = Script::parse("any.pkt", &text) {
            let report = crate::run(&script, &crate::Settings::default());
            prop_assert!(report.is_ok());
        } else if let Err(errors) = Script::parse("any.pkt", &text) {
            prop_assert!(!errors.render(false).is_empty());
        }
    }
}
