//! Pings and intervals of iperf3, as their programs print them.

use serde_json::Value;

/// The most lines that are read.
const MOST: usize = 10_000_000;

/// A ping: when it was sent, seconds since 1970, and its round trip in milliseconds; `None`
/// where it was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ping {
    /// Seconds since 1970.
    pub at: f64,
    /// Milliseconds.
    pub ms: Option<f64>,
}

/// What a flow delivered in a time, seconds and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its start, seconds from the start of the flow.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Bytes delivered.
    pub bytes: f64,
}

/// Reads pings: lines of `ping -D` (with `-O` those without an answer, too), or lines of a
/// time in seconds since 1970, a number and a round trip in milliseconds, -1 if lost,
/// separated by blanks, tabs or commas.
///
/// # Errors
/// The first line that is neither, with its number.
pub fn pings(text: &str) -> Result<Vec<Ping>, String> {
    let mut pings: Vec<Ping> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: &str| {
            let shown: String = line.trim().chars().take(60).collect();
            format!("line {number}: {what}, found `{shown}`")
        };
        if number > MOST {
            return Err(format!("line {number}: more than {MOST} lines"));
        }
        let line = line.trim();
        let read = match line.chars().next() {
            None | Some('#') => continue,
            Some('[') => of_ping(line),
            Some(first) if first.is_ascii_digit() => {
                if line.contains(" packets transmitted") {
                    continue;
                }
                if line.contains(" bytes from ") {
                    return Err(wrong("expected the time of the ping: run `ping -D`"));
                }
                of_table(line)
            }
            Some(_) => {
                let known = ["PING ", "---", "rtt ", "round-trip ", "pipe "];
                match known.iter().any(|known| line.starts_with(known)) {
                    true => continue,
                    false => None,
                }
            }
        };
        let ping = read.ok_or_else(|| {
            wrong(
                "expected a line of `ping -D`, or a time in seconds since 1970, a number and a \
                 round trip in ms (-1 if lost)",
            )
        })?;
        if pings.last().is_some_and(|before| before.at > ping.at) {
            return Err(wrong(
                "expected a time that is not before that of the last ping",
            ));
        }
        pings.push(ping);
    }
    match pings.is_empty() {
        true => Err("line 1: there are no pings".to_owned()),
        false => Ok(pings),
    }
}

/// A finite number of seconds since 1970 of which the program can count.
fn seconds(text: &str) -> Option<f64> {
    let at = text.parse::<f64>().ok()?;
    (0.0..1e11).contains(&at).then_some(at)
}

fn of_ping(line: &str) -> Option<Ping> {
    let (at, rest) = line.strip_prefix('[')?.split_once(']')?;
    let at = seconds(at)?;
    if rest.contains("no answer yet") || rest.contains("nreachable") {
        return Some(Ping { at, ms: None });
    }
    let (_, time) = rest.split_once("time=")?;
    let ms = time
        .trim()
        .trim_end_matches("ms")
        .trim()
        .parse::<f64>()
        .ok()?;
    (0.0..1e6)
        .contains(&ms)
        .then_some(Ping { at, ms: Some(ms) })
}

fn of_table(line: &str) -> Option<Ping> {
    let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let (at, _, ms) = (words.next()?, words.next()?, words.next()?);
    let at = seconds(at)?;
    match ms.parse::<f64>().ok()? {
        ms if (0.0..1e6).contains(&ms) => Some(Ping { at, ms: Some(ms) }),
        ms if ms < 0.0 => Some(Ping { at, ms: None }),
        _ => None,
    }
}

/// Reads what `iperf3 --json` prints, or a table with the columns `start_s`, `end_s` and
/// `bytes`, separated by commas.
///
/// # Errors
/// What is wrong, with its line where it has one.
pub fn intervals(text: &str) -> Result<Vec<Interval>, String> {
    let read = match text.trim_start().starts_with('{') {
        true => of_json(text)?,
        false => of_csv(text)?,
    };
    match read.is_empty() {
        true => Err("there are no intervals".to_owned()),
        false => Ok(read),
    }
}

fn interval([from, to, bytes]: [f64; 3]) -> Option<Interval> {
    let fits = (0.0..1e9).contains(&from) && to > from && to < 1e9 && (0.0..1e18).contains(&bytes);
    fits.then_some(Interval { from, to, bytes })
}

fn of_json(text: &str) -> Result<Vec<Interval>, String> {
    let document: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if let Some(error) = document.get("error").and_then(Value::as_str) {
        return Err(format!("iperf3 failed: {error}"));
    }
    let list = document.get("intervals").and_then(Value::as_array);
    let list = list.ok_or("expected `intervals`, as `iperf3 --json` has them")?;
    let one = |(number, entry): (usize, &Value)| {
        let sum = entry.get("sum");
        let key = |key: &str| sum.and_then(|sum| sum.get(key)).and_then(Value::as_f64);
        let read = [key("start"), key("end"), key("bytes")];
        let [Some(from), Some(to), Some(bytes)] = read else {
            let what = "expected `sum` with `start`, `end` and `bytes`";
            return Err(format!("interval {}: {what}", number + 1));
        };
        let what = || format!("interval {}: no such time or number of bytes", number + 1);
        interval([from, to, bytes]).ok_or_else(what)
    };
    list.iter().enumerate().map(one).collect()
}

fn of_csv(text: &str) -> Result<Vec<Interval>, String> {
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or("it is empty")?;
    let names: Vec<&str> = head.split(',').map(str::trim).collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    let (Some(from), Some(to), Some(bytes)) = (place("start_s"), place("end_s"), place("bytes"))
    else {
        return Err(
            "line 1: expected what `iperf3 --json` prints, or the columns start_s, end_s and bytes"
                .to_owned(),
        );
    };
    let one = |(number, line): (usize, &str)| {
        let words: Vec<&str> = line.split(',').map(str::trim).collect();
        let value = |place: usize| words.get(place).and_then(|word| word.parse::<f64>().ok());
        let read = [value(from), value(to), value(bytes)];
        let [Some(from), Some(to), Some(bytes)] = read else {
            return Err(format!(
                "line {number}: expected numbers in start_s, end_s and bytes"
            ));
        };
        let what = || format!("line {number}: no such time or number of bytes");
        interval([from, to, bytes]).ok_or_else(what)
    };
    lines.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_of_pings_are_read() {
        let text = "PING 1.1.1.1 (1.1.1.1) 56(84) bytes of data.\n\
                    [1694478364.175354] 64 bytes from 1.1.1.1: icmp_seq=1 ttl=58 time=97.4 ms\n\
                    [1694478365.2] no answer yet for icmp_seq=2\n\n\
                    --- 1.1.1.1 ping statistics ---\n\
                    2 packets transmitted, 1 received, 50% packet loss, time 1001ms\n\
                    rtt min/avg/max/mdev = 97.4/97.4/97.4/0.0 ms\n";
        let expected = [
            Ping {
                at: 1_694_478_364.175_354,
                ms: Some(97.4),
            },
            Ping {
                at: 1_694_478_365.2,
                ms: None,
            },
        ];
        assert_eq!(pings(text).unwrap(), expected);
        let table = "# time, number, ms\n1694478364.175354\t1\t97.4\n1694478365.2\t2\t-1\n";
        assert_eq!(pings(table).unwrap(), expected);
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let error = |text: &str| pings(text).unwrap_err();
        assert_eq!(error(""), "line 1: there are no pings");
        assert_eq!(
            error("64 bytes from 1.1.1.1: icmp_seq=1 ttl=58 time=9 ms"),
            "line 1: expected the time of the ping: run `ping -D`, found `64 bytes from 1.1.1.1: \
             icmp_seq=1 ttl=58 time=9 ms`"
        );
        assert!(error("1 1 5\nhello").starts_with("line 2: expected a line of `ping -D`"));
        assert!(error("5 1 5\n4 2 5").starts_with("line 2: expected a time that is not before"));
        let error = |text: &str| intervals(text).unwrap_err();
        assert!(error("a,b\n").starts_with("line 1: expected what `iperf3 --json` prints"));
        assert_eq!(
            error("start_s,end_s,bytes\n0,x,2\n"),
            "line 2: expected numbers in start_s, end_s and bytes"
        );
        assert_eq!(error("{\"error\": \"busy\"}"), "iperf3 failed: busy");
        assert_eq!(
            error("{\"intervals\": [{}]}"),
            "interval 1: expected `sum` with `start`, `end` and `bytes`"
        );
    }

    #[test]
    fn both_forms_of_intervals_are_read() {
        let expected = [Interval {
            from: 0.0,
            to: 0.5,
            bytes: 1000.0,
        }];
        let csv = "start_s,end_s,bytes,retransmits\n0,0.5,1000,\n";
        assert_eq!(intervals(csv).unwrap(), expected);
        let json = "{\"intervals\": [{\"sum\": {\"start\": 0, \"end\": 0.5, \"bytes\": 1000}}]}";
        assert_eq!(intervals(json).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            text in "(\\[[0-9.]{0,9}\\] |time=|no answer yet|[-0-9.,\t \n]){0,20}",
            other in "(start_s|end_s|bytes|,|[-0-9.e]|\n|\\{|\"intervals\"|:|\\[|\\]|\\}){0,20}",
        ) {
            if let Ok(read) = pings(&text) {
                prop_assert!(read.windows(2).all(|w| w[0].at <= w[1].at));
            }
            if let Ok(read) = intervals(&other) {
                prop_assert!(read.iter().all(|i| i.to > i.from && i.bytes >= 0.0));
            }
        }
    }
}
