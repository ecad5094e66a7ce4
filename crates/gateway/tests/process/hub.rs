//! The upgrade of a hub: terminals go over to the new process, and what is open stays with the old one.

use super::{Bed, bed, bed_over, bed_with, echoes, free_port, meanwhile, until};
use bentpipe_gateway::operate::client;
use bentpipe_gateway::tunnel::keys::Identity;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

/// What the hub's process that is in charge says.
fn says(bed: &Bed, what: &str) -> serde_json::Value {
    of_hub(bed, 1, what)
}

fn of_hub(bed: &Bed, hub: usize, what: &str) -> serde_json::Value {
    let status = client::status(&bed.folder.path().join(format!("hub{hub}.sock")));
    status.map_or(serde_json::Value::Null, |it| it[what].clone())
}

fn pid(bed: &Bed) -> i64 {
    says(bed, "pid").as_i64().unwrap_or(0)
}

/// Ends the process that is in charge, which is no child of this one.
fn end(bed: &Bed) {
    let new = Pid::from_raw(i32::try_from(pid(bed)).unwrap());
    kill(new, Signal::SIGINT).unwrap();
    until("the end of the new process", || {
        !bed.folder.path().join("hub1.sock").exists()
    });
}

/// Upgrades the hub, and waits until the terminal is at the new process. What is open goes on meanwhile.
fn upgrade(bed: &Bed, open: &mut [TcpStream]) {
    let old = pid(bed);
    assert_ne!(old, 0);
    kill(Pid::from_raw(i32::try_from(old).unwrap()), Signal::SIGUSR2).unwrap();
    until("the new process", || {
        open.iter_mut().for_each(echoes);
        ![0, old].contains(&pid(bed))
    });
    until("the association with it", || {
        open.iter_mut().for_each(echoes);
        says(bed, "associations")[0].is_object()
    });
    // The address is claimed by one association only, and the terminal shows that.
    until("the terminal's word", || bed.says(0, "state") == "up");
}

#[test]
fn an_upgrade_under_load_keeps_what_is_open_and_nothing_new_waits() {
    let mut bed = bed();
    let mut open: Vec<TcpStream> = (0..10).map(|_| bed.connect().unwrap()).collect();
    open.iter_mut().for_each(echoes);
    let longest = meanwhile(&mut bed, |bed| {
        upgrade(bed, &mut open);
        std::thread::sleep(Duration::from_millis(500));
        open.iter_mut().for_each(echoes);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    // New ones are at the new process, which counts them.
    let before = says(&bed, "counters")["connections_opened"]
        .as_u64()
        .unwrap();
    let mut newer = bed.connect().unwrap();
    echoes(&mut newer);
    assert_eq!(
        says(&bed, "counters")["connections_opened"]
            .as_u64()
            .unwrap(),
        before + 1
    );
    drop(open);
    until("the end of the old process", || bed.hubs[0].ended());
    echoes(&mut newer);
    let longest = meanwhile(&mut bed, |bed| {
        until("it to be forgotten", || {
            let status = client::status(&bed.socket()).unwrap();
            status["associations"].as_array().unwrap().len() == 1
        });
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    assert_eq!(bed.says(0, "used"), true);
    end(&bed);
}

#[test]
fn two_upgrades_in_a_row_keep_what_is_open_at_each_process() {
    let mut bed = bed();
    let mut open = vec![bed.connect().unwrap()];
    for _ in 0..2 {
        let longest = meanwhile(&mut bed, |bed| upgrade(bed, &mut open));
        assert!(longest < Duration::from_secs(2), "{longest:?}");
        let mut more = bed.connect().unwrap();
        echoes(&mut more);
        open.push(more);
    }
    // Each of three processes has one.
    open.iter_mut().for_each(echoes);
    assert!(!bed.hubs[0].ended());
    // The first ends after its connection, and the second keeps its own.
    open.remove(0);
    until("the end of the first process", || bed.hubs[0].ended());
    open.iter_mut().for_each(echoes);
    let mut more = bed.connect().unwrap();
    echoes(&mut more);
    open.push(more);
    let longest = meanwhile(&mut bed, |bed| upgrade(bed, &mut open));
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    open.iter_mut().for_each(echoes);
    end(&bed);
}

#[test]
fn a_new_hub_that_fails_is_not_noticed() {
    let mut bed = bed();
    let mut open = bed.connect().unwrap();
    let file = bed.folder.path().join("hub1.toml");
    let good = fs::read_to_string(&file).unwrap();
    let old = pid(&bed);
    let log = bed.folder.path().join("hub1.log");
    let longest = meanwhile(&mut bed, |bed| {
        // It takes the sockets, and then finds that it has no key.
        fs::write(
            &file,
            good.replace("[tunnel]", "[tunnel]\nkey = \"none.key\""),
        )
        .unwrap();
        bed.hubs[0].signal(Signal::SIGUSR2);
        until("the end of the new process", || {
            let log = fs::read_to_string(&log).unwrap();
            log.contains("no process has taken over") && log.contains("the new process has ended")
        });
        echoes(&mut open);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    assert_eq!(pid(&bed), old);
    // The next one succeeds.
    fs::write(&file, good).unwrap();
    let longest = meanwhile(&mut bed, |bed| {
        upgrade(bed, std::slice::from_mut(&mut open));
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    echoes(&mut open);
    end(&bed);
}

#[test]
fn an_upgrade_of_the_first_of_two_hubs_leaves_all_with_it() {
    let mut bed = bed_with(2);
    bed.uses(0);
    let opened = |bed: &Bed| of_hub(bed, 2, "counters")["connections_opened"].clone();
    until("the second hub", || bed.says(1, "state") == "up");
    let before = opened(&bed);
    let mut open = bed.connect().unwrap();
    let longest = meanwhile(&mut bed, |bed| {
        upgrade(bed, std::slice::from_mut(&mut open));
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    bed.uses(0);
    assert_eq!(opened(&bed), before);
    echoes(&mut open);
    end(&bed);
}

/// Both WANs lead to the new process soon, and the old one ends when it is not needed.
#[test]
fn an_upgrade_takes_all_wans_along() {
    let more = format!(
        "[[wan]]\nname = \"5g\"\nport = {}\nrate = \"20 Mbit/s\"\nrtt = \"10 ms\"\n",
        free_port()
    );
    let mut bed = bed_over(1, &more);
    let is_up = |bed: &Bed| {
        let hubs = client::status(&bed.socket()).unwrap()["hubs"].clone();
        hubs.as_array()
            .unwrap()
            .iter()
            .all(|it| it["state"] == "up")
    };
    until("both WANs", || is_up(&bed));
    let mut open = vec![bed.connect().unwrap()];
    let longest = meanwhile(&mut bed, |bed| {
        upgrade(bed, &mut open);
        until("both WANs", || {
            is_up(bed) && says(bed, "associations").as_array().unwrap().len() == 2
        });
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    open.iter_mut().for_each(echoes);
    drop(open);
    until("the end of the old process", || bed.hubs[0].ended());
    end(&bed);
}

/// Takes the terminal's key out of the hub's file.
fn remove_terminal(bed: &Bed) {
    let file = bed.folder.path().join("hub1.toml");
    let text = fs::read_to_string(&file).unwrap();
    let other = Identity::generate().unwrap().public().to_string();
    let peers = text.split("peers = [\"").nth(1).unwrap();
    let removed = peers.split('"').next().unwrap();
    fs::write(&file, text.replace(removed, &other)).unwrap();
}

/// What the new process begins with holds for the old one as well.
#[test]
fn a_terminal_that_is_removed_before_an_upgrade_loses_what_is_open() {
    let bed = bed();
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    remove_terminal(&bed);
    bed.hubs[0].signal(Signal::SIGUSR2);
    let error = open.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    until("the new process", || pid(&bed) != 0);
    end(&bed);
}

/// The signal reaches the new process, and the old one must know.
#[test]
fn a_terminal_that_is_removed_loses_what_is_open_at_the_old_process() {
    let bed = bed();
    let mut open = bed.connect().unwrap();
    upgrade(&bed, std::slice::from_mut(&mut open));
    remove_terminal(&bed);
    let new = Pid::from_raw(i32::try_from(pid(&bed)).unwrap());
    kill(new, Signal::SIGHUP).unwrap();
    let error = open.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    end(&bed);
}

/// The rate that was set at the old process is the new one's.
#[test]
fn a_rate_that_was_set_holds_at_the_new_process() {
    let bed = bed();
    client::set_rate(&bed.folder.path().join("hub1.sock"), "7 Mbit/s").unwrap();
    upgrade(&bed, &mut []);
    until("the rate", || {
        says(&bed, "rate_bits_per_second") == 7_000_000
    });
    end(&bed);
}

/// The terminal's old process keeps its connections at the hub's old one, and does not take new ones from
/// its successor.
#[test]
fn a_hub_is_upgraded_while_a_terminal_is() {
    let mut bed = bed();
    let mut open = vec![bed.connect().unwrap()];
    let of_ship =
        |bed: &Bed| client::status(&bed.socket()).map_or(0, |it| it["pid"].as_i64().unwrap());
    let old = of_ship(&bed);
    bed.ship.signal(Signal::SIGUSR2);
    until("the new process", || ![0, old].contains(&of_ship(&bed)));
    open.push(bed.connect().unwrap());
    let longest = meanwhile(&mut bed, |bed| {
        upgrade(bed, &mut open);
        std::thread::sleep(Duration::from_secs(3));
        open.iter_mut().for_each(echoes);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    open.push(bed.connect().unwrap());
    open.iter_mut().for_each(echoes);
    assert_eq!(says(&bed, "associations").as_array().unwrap().len(), 1);
    let ship = Pid::from_raw(i32::try_from(of_ship(&bed)).unwrap());
    drop(open);
    until("the end of the old processes", || {
        bed.ship.ended() && bed.hubs[0].ended()
    });
    end(&bed);
    kill(ship, Signal::SIGINT).unwrap();
    until("the end of the terminal", || !bed.socket().exists());
}
