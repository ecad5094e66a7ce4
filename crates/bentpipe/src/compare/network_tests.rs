use super::super::{Comparison, Loss, Pep, Question};
use super::*;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Observer, Options};
use bentpipe_tcp::Packet;
use bentpipe_units::{Bytes, Time};

#[test]
fn users_are_spread_evenly_and_stay_where_they_are() {
    for terminals in 1..=12 {
        for users in terminals..60 {
            let mut counts = vec![0_u32; terminals as usize];
            (0..users).for_each(|user| counts[terminal_of(user, terminals) as usize] += 1);
            let least = users / terminals;
            let more = counts.iter().filter(|count| **count == least + 1).count();
            assert!(counts.iter().all(|n| (least..=least + 1).contains(n)));
            assert_eq!(more as u32, users % terminals);
        }
    }
}

#[test]
fn users_who_do_the_same_are_behind_all_terminals() {
    for (terminals, every) in [(2, 2), (4, 2), (8, 2), (3, 3), (6, 3)] {
        let users = terminals * terminals;
        let alike = (0..users).filter(|user| user % every == 0);
        let mut of: Vec<u32> = alike.map(|user| terminal_of(user, terminals)).collect();
        of.sort_unstable();
        of.dedup();
        assert_eq!(of.len(), terminals as usize, "{terminals} {every}");
    }
}

/// Downloads over 10 Mbit/s without losses, with `back` kbit/s from each terminal.
fn question(users: u32, terminals: u32, back: u64) -> Comparison {
    Comparison::new()
        .users(users)
        .terminals(terminals)
        .return_rate(Rate::from_bps(1000 * back))
        .loss(Loss::NONE)
        .size(Bytes::new(1_000_000))
        .transports(["cubic"])
        .runs(1)
}

fn scenario(question: &Comparison) -> Scenario {
    let answer = question.without_runs().unwrap();
    answer.scenario(&answer.rows[0], 0, false).unwrap()
}

/// What the first row does, and the packets that each user sent: of a download its
/// acknowledgements.
fn ran(question: &Comparison) -> (Outcome, Vec<u64>) {
    struct Sent(Vec<u64>);
    impl Observer for Sent {
        fn sent(&mut self, _: Time, endpoint: u32, _: &Packet) {
            // Flows are the first connections, and their receivers have odd numbers.
            let sent = self.0.get_mut(endpoint as usize / 2);
            if let Some(sent) = sent.filter(|_| endpoint % 2 == 1) {
                *sent += 1;
            }
        }
        fn received(&mut self, _: Time, _: u32, _: &Packet) {}
    }
    let answer = question.without_runs().unwrap();
    let mut sent = Sent(vec![0; answer.users as usize]);
    let options = Options::default();
    let outcome = answer
        .observe(&answer.rows[0], 0, &options, &mut sent)
        .unwrap();
    (outcome, sent.0)
}

fn slowest_s(outcome: &Outcome) -> f64 {
    let times = outcome.flows.iter().map(|flow| flow.transfer_time.unwrap());
    times.max().unwrap().as_secs()
}

#[test]
fn the_link_to_the_terminals_is_shared_and_each_has_one_back() {
    let names = |scenario: &Scenario, way: &[bentpipe_scenario::LinkId]| -> Vec<String> {
        let links = way.iter().map(|id| &scenario.links[id.0 as usize]);
        links.map(|link| link.name.clone()).collect()
    };
    let found = scenario(&question(3, 2, 100).pep(Pep::Gateway));
    let nodes: Vec<&str> = found.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(
        nodes,
        [
            "server",
            "user-1",
            "user-2",
            "gateway",
            "satellite",
            "terminal-1",
            "terminal-2"
        ]
    );
    for (flow, number) in found.flows.iter().zip([1, 2, 2]) {
        let [home, back] = ["home", "return"].map(|name| format!("{name}-{number}"));
        let [out, down] = [&home, &back].map(|name| format!("{name}.reverse"));
        assert_eq!(
            names(&found, &flow.forward),
            ["internet", "satellite", down.as_str(), home.as_str()]
        );
        assert_eq!(
            names(&found, &flow.reverse),
            [
                out.as_str(),
                back.as_str(),
                "satellite.reverse",
                "internet.reverse"
            ]
        );
        // What all share has no more delay than the link of one terminal.
        let delays = flow.forward.iter().chain(&flow.reverse);
        let delays = delays.map(|id| found.links[id.0 as usize].settings.one_way_delay);
        let rtt = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
        assert_eq!(rtt, Duration::from_millis(600 + 50 + 2));
        assert_eq!(flow.split.as_ref().unwrap().legs.len(), 3);
    }
    // One terminal has the pair of links that it always had.
    let one = scenario(&question(3, 1, 100));
    assert_eq!((one.nodes.len(), one.links.len()), (2, 2));
    assert_eq!(one.nodes[1].name, "user");
}

#[test]
fn a_return_link_carries_what_its_users_send_and_nothing_else() {
    let (users, terminals) = (8, 3);
    for pep in [Pep::None, Pep::Snoop] {
        let (outcome, sent) = ran(&question(users, terminals, 500).pep(pep));
        for terminal in 0..terminals {
            let name = format!("return-{}", terminal + 1);
            let link = outcome.links.iter().find(|link| link.name == name).unwrap();
            let own = (0..users).filter(|user| terminal_of(*user, terminals) == terminal);
            let own: u64 = own.map(|user| sent[user as usize]).sum();
            assert_eq!(link.offered_packets, own, "{pep:?} {name}");
            assert!(own > 600, "{own}");
        }
        let all = outcome.links.iter().find(|l| l.name == "satellite.reverse");
        let returns = outcome
            .links
            .iter()
            .filter(|l| l.name.starts_with("return-"));
        let returns = returns.filter(|link| !link.name.ends_with(".reverse"));
        let arrived: u64 = returns.map(|link| link.delivered_packets).sum();
        assert_eq!(all.unwrap().offered_packets, arrived);
    }
}

/// The acknowledgements of 10 Mbit/s are 173 kbit/s: through 40 kbit/s of one terminal they let
/// less than a quarter of the data pass, through 40 kbit/s of each of four nearly all of it; not
/// as much as through 160 kbit/s in common, since what one of them leaves idle helps no other.
#[test]
fn a_thin_return_link_binds_the_users_behind_it() {
    let question = |terminals, back| question(8, terminals, back).size(Bytes::new(5_000_000));
    let time = |terminals, back| slowest_s(&ran(&question(terminals, back)).0);
    let (alone, each, together) = (time(1, 40), time(4, 40), time(1, 160));
    assert!(alone > 2.5 * each, "{alone} {each}");
    assert!((1.0..1.5).contains(&(each / together)), "{each} {together}");
    let (outcome, _) = ran(&question(1, 40));
    let back = &outcome.links[1];
    assert!(back.utilisation > 0.9 && outcome.links[0].utilisation < 0.35);
}

/// The hub of a gateway has one sender for the link that its terminals share: it does not
/// overrun it, and fills it.
#[test]
fn the_boxes_of_a_gateway_share_the_link() {
    let (outcome, _) = ran(&question(12, 4, 500).pep(Pep::Gateway));
    let link = &outcome.links[0];
    assert_eq!(link.queue_drops, 0);
    assert!(link.max_queue_packets < 50, "{}", link.max_queue_packets);
    // 12 MB at 99% of the rate, with headers and a few round trips.
    let took = outcome.ended_at.since(Time::ZERO).as_secs();
    assert!((10.0..12.0).contains(&took), "{took}");
    assert_eq!(outcome.links[2].name, "return-1");
}

#[test]
fn there_is_a_user_at_each_terminal() {
    let few = Comparison::new().users(5).terminals(8);
    let found = few.without_runs().unwrap_err().to_string();
    assert!(
        found.contains("must be at least 8, one at each of the 8 terminals"),
        "{found}"
    );
    let found = Question::read(&[("terminals", "0")]).unwrap_err();
    assert_eq!(found.option, Some("terminals"));
    // Unless it is said otherwise there is one.
    let answer = Comparison::new().terminals(8).without_runs().unwrap();
    assert_eq!((answer.users, answer.terminals), (8, 8));
}
