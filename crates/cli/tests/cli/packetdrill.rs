//! `bentpipe packetdrill`, as a user runs it.

use crate::common::{bentpipe, bentpipe_in, bentpipe_with};

const SCRIPT: &str = "\
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 8>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 1000
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 20000) = 20000
   +0 > P. 1:10001(10000) ack 1
  +.1 < . 1:1(0) ack 2001 win 1000
   +0 > P. 10001:14001(4000) ack 1
";

#[test]
fn scripts_pass_fail_or_are_not_modelled() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    std::fs::create_dir(folder.path().join("more")).unwrap();
    write("a.pkt", SCRIPT);
    write(
        "more/b.pkt",
        &SCRIPT.replace("10001:14001(4000)", "10001:15001(5000)"),
    );
    write("more/c.pkt", &format!("{SCRIPT}+0 epoll_create(1) = 5\n"));
    write("more/notes.txt", "no script");

    let alone = bentpipe_in(folder.path(), &["packetdrill", "a.pkt"]);
    assert_eq!(alone.ok(), "pass: a.pkt\n");

    let all = bentpipe_in(folder.path(), &["packetdrill", "."]);
    assert_eq!(all.status, 1, "{}", all.stderr);
    let expected = "\
pass: ./a.pkt
fail: ./more/b.pkt:11: length
  expected  P. 10001:15001(5000) ack 1  0.200000 s
  found     P. 10001:14001(4000) ack 1  0.200000 s
not modelled: ./more/c.pkt:12: the system call `epoll_create`
";
    assert!(all.stdout.starts_with(expected), "{}", all.stdout);
    let sums = ["pass", "fail", "not modelled", "all"];
    for sum in sums {
        let has = |line: &str| line.starts_with(sum) && line.split_whitespace().last().is_some();
        assert!(all.stdout.lines().any(has), "{sum}: {}", all.stdout);
    }

    let json = bentpipe_in(folder.path(), &["packetdrill", ".", "--json"]);
    let suite: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(suite["profile"], "linux");
    assert_eq!(suite["counts"]["pass"], 1);
    assert_eq!(suite["counts"]["fail"], 1);
    assert_eq!(suite["counts"]["not_modelled"], 1);
    assert_eq!(suite["not_modelled"][0]["scripts"], 1);
    assert_eq!(suite["scripts"][1]["difference"]["line"], 11);
}

#[test]
fn what_cannot_be_read_points_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCRIPT.replace("<mss 1000", "<msss 1000");
    let ended = bentpipe_with(folder.path(), &["packetdrill", "-"], &text);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("stdin:4:"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("did you mean `mss`?"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.starts_with("unreadable: stdin:4:"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_no_host_has_is_refused() {
    let error = bentpipe(&["packetdrill", "-", "--profile", "linus"]).refused();
    assert!(error.contains("did you mean `linux`?"), "{error}");
    let error = bentpipe(&["packetdrill", "-", "--hz", "7"]).refused();
    assert!(error.contains("CONFIG_HZ"), "{error}");
    let error = bentpipe(&["packetdrill", "-", "--profile", "ns-2"]).refused();
    assert!(error.contains("handshake"), "{error}");
    let error = bentpipe(&["packetdrill", "nothing.pkt"]).refused();
    assert!(error.contains("nothing.pkt"), "{error}");
}
