//! Packets: `< S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>`.

use super::cursor::Cursor;
use super::{Found, fail};
use crate::script::{Action, Ecn, Segment, TcpOption, flag};
use bentpipe_document::Diagnostic;

/// Headers that may stand before a TCP segment or in its place, and what they are called here.
const FOREIGN: [(&str, &str); 6] = [
    ("udp", "UDP"),
    ("icmp", "ICMP"),
    ("ipv4", "packets in IP tunnels"),
    ("ipv6", "packets in IP tunnels"),
    ("gre", "packets in GRE tunnels"),
    ("mpls", "MPLS"),
];

/// Options that have no counterpart here.
const FOREIGN_OPTIONS: [(&str, &str); 8] = [
    ("FO", "TCP fast open"),
    ("FOEXP", "TCP fast open"),
    ("md5", "TCP MD5 signatures"),
    ("ECN", "accurate ECN"),
    ("exp", "experimental TCP options"),
    ("tcpao", "the TCP authentication option"),
    ("mp_capable", "multipath TCP"),
    ("uto", "the user timeout option"),
];

/// What follows the direction.
pub(super) fn packet(cursor: &mut Cursor<'_>, into: impl Fn(Segment) -> Action) -> Found<Action> {
    for (word, name) in FOREIGN {
        if cursor.eat_word(word) {
            cursor.line();
            return Ok(Action::Foreign(name));
        }
    }
    let ecn = match ip_header(cursor)? {
        IpHeader::Ecn(ecn) => ecn,
        IpHeader::Foreign(name) => {
            cursor.line();
            return Ok(Action::Foreign(name));
        }
    };
    for (word, name) in FOREIGN {
        if cursor.eat_word(word) {
            cursor.line();
            return Ok(Action::Foreign(name));
        }
    }
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        // Ports.
        cursor.integer("a port", 65_535)?;
        if !cursor.eat(">") {
            return fail(cursor.error_here(
                "a packet begins with its flags",
                "expected flags, such as `.`, `P.` or `S`, or two ports",
            ));
        }
        cursor.integer("a port", 65_535)?;
        cursor.line();
        return Ok(Action::Foreign("packets to other ports"));
    }
    let flags = flags(cursor)?;
    let Some(flags) = flags else {
        cursor.line();
        return Ok(Action::Foreign("accurate ECN"));
    };
    let (sequence, payload) = sequence(cursor)?;
    let mut segment = Segment {
        flags,
        sequence,
        payload,
        acknowledgement: None,
        window: None,
        ecn,
        options: Some(Vec::new()),
    };
    if cursor.eat_word("ack") {
        let number = cursor.integer("an acknowledgement number", u64::from(u32::MAX))?;
        segment.acknowledgement = Some(number as u32);
    }
    if cursor.eat_word("win") {
        segment.window = Some(cursor.integer("a window", 65_535)? as u16);
    }
    if cursor.eat_word("urg") {
        cursor.line();
        return Ok(Action::Foreign("urgent data"));
    }
    if cursor.eat("<") {
        segment.options = options(cursor)?;
    }
    Ok(into(segment))
}

enum IpHeader {
    Ecn(Option<Ecn>),
    Foreign(&'static str),
}

/// `[ect0]`, `(tos 0x2)`.
fn ip_header(cursor: &mut Cursor<'_>) -> Found<IpHeader> {
    let close = if cursor.eat("[") {
        "]"
    } else if cursor.eat("(") {
        ")"
    } else {
        return Ok(IpHeader::Ecn(None));
    };
    let start = cursor.start();
    let word = cursor.word();
    let known = Ecn::NAMES.iter().find(|(name, _)| *name == word);
    match (known, word) {
        (Some((_, ecn)), _) if cursor.sees(close) => {
            cursor.expect(close, "the IP header")?;
            Ok(IpHeader::Ecn(Some(*ecn)))
        }
        (Some(_), _) | (None, "flowlabel") => Ok(IpHeader::Foreign("IPv6 flow labels")),
        (None, "tos") => Ok(IpHeader::Foreign("the IP field TOS")),
        (None, "ttl") => Ok(IpHeader::Foreign("the IP field TTL")),
        _ => fail(
            Diagnostic::at(
                start..cursor.at(),
                format!("unknown part of an IP header: `{word}`"),
            )
            .label("expected `noecn`, `ect0`, `ect1`, `ect01` or `ce`")
            .suggest_from(word, Ecn::NAMES.iter().map(|(name, _)| *name)),
        ),
    }
}

/// The flags; `None` where they have the counter of accurate ECN.
fn flags(cursor: &mut Cursor<'_>) -> Found<Option<u16>> {
    let start = cursor.start();
    let letters = cursor.take_while(|c| !c.is_whitespace());
    let mut flags = 0;
    for letter in letters.chars() {
        if letter == '-' && letters.len() == 1 {
            return Ok(Some(0));
        }
        if letter.is_ascii_digit() {
            return Ok(None);
        }
        match flag::LETTERS.iter().find(|(known, _)| *known == letter) {
            Some((_, bit)) => flags |= bit,
            None => {
                return fail(
                    Diagnostic::at(
                        start..cursor.at(),
                        format!("unknown flag `{letter}` of a TCP segment"),
                    )
                    .label("expected flags out of `FSRP.UEWA`, or `-` for none"),
                );
            }
        }
    }
    if letters.is_empty() {
        return fail(cursor.error_here("a packet without flags", "expected flags, such as `.`"));
    }
    Ok(Some(flags))
}

/// `1:1001(1000)`.
fn sequence(cursor: &mut Cursor<'_>) -> Found<(u32, u32)> {
    let start = cursor.start();
    let most = u64::from(u32::MAX);
    let from = cursor.integer("a sequence number", most)?;
    cursor.expect(":", "a sequence number")?;
    let to = cursor.integer("the end of a sequence", most)?;
    cursor.expect("(", "a sequence number")?;
    let payload = cursor.integer("a length", 1 << 30)?;
    cursor.expect(")", "a length")?;
    if (from as u32).wrapping_add(payload as u32) != to as u32 {
        return fail(
            Diagnostic::at(
                start..cursor.at(),
                format!("{from} and {payload} bytes do not end at {to}"),
            )
            .label(format!("expected {from}:{}({payload})", from + payload)),
        );
    }
    Ok((from as u32, payload as u32))
}

/// What stands between `<` and `>`; `None` for `...`.
fn options(cursor: &mut Cursor<'_>) -> Found<Option<Vec<TcpOption>>> {
    if cursor.eat("...") {
        cursor.expect(">", "the options")?;
        return Ok(None);
    }
    let mut options = Vec::new();
    loop {
        options.push(option(cursor)?);
        if options.len() > 40 {
            return fail(cursor.error_here("more options than a header holds", "one too many"));
        }
        if cursor.eat(">") {
            return Ok(Some(options));
        }
        cursor.expect(",", "the list of options")?;
    }
}

fn option(cursor: &mut Cursor<'_>) -> Found<TcpOption> {
    const KNOWN: [&str; 7] = ["mss", "wscale", "sackOK", "sack", "TS", "nop", "eol"];
    let start = cursor.start();
    let most = u64::from(u32::MAX);
    Ok(match cursor.word() {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::Eol,
        "sackOK" => TcpOption::SackPermitted,
        "mss" => TcpOption::Mss(cursor.integer("an MSS", 65_535)? as u16),
        "wscale" => TcpOption::WindowScale(cursor.integer("a window scale", 255)? as u8),
        "TS" => {
            let lacks = "a timestamp";
            cursor.expect("val", lacks)?;
            let value = cursor.integer(lacks, most)?;
            cursor.expect("ecr", lacks)?;
            let echo = cursor.integer("the echo of a timestamp", most)?;
            TcpOption::Timestamp(value as u32, echo as u32)
        }
        "sack" => {
            let mut blocks = Vec::new();
            while cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
                let from = cursor.integer("a block", most)?;
                cursor.expect(":", "a block")?;
                let to = cursor.integer("the end of a block", most)?;
                blocks.push((from as u32, to as u32));
            }
            TcpOption::Sack(blocks)
        }
        word => {
            let known = FOREIGN_OPTIONS.iter().find(|(name, _)| *name == word);
            let Some((_, name)) = known else {
                let error = format!("unknown TCP option `{word}`");
                return fail(
                    Diagnostic::at(start..cursor.at().max(start + 1), error)
                        .label("expected mss, wscale, sackOK, sack, TS, nop or eol")
                        .suggest_from(word, KNOWN),
                );
            };
            cursor.take_while(|c| c != ',' && c != '>' && c != '\n');
            TcpOption::Foreign(name)
        }
    })
}
