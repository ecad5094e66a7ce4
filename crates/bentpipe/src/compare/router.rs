//! How another queue before the link is switched on: `tc` on the router that sends into it.

use super::answer::{Answer, Row};
use super::profile::ProfileKind;
use super::switch::SwitchOn;
use bentpipe_units::Rate;

/// Part of the link's rate that a shaper before it sends at, per cent.
const SHAPED_PERCENT: u64 = 95;

impl Answer {
    /// How the queue of a row is switched on; nothing for the one that the link has today.
    #[must_use]
    pub fn switch_on_queue(&self, row: &Row) -> SwitchOn {
        if row.queue == 0 {
            return SwitchOn::default();
        }
        let path = self.path_of(row);
        let shaped = Rate::from_bps((path.rate.bps() * SHAPED_PERCENT / 100).max(1));
        let mut text = format!(
            "On the router that sends into the link, as root. IFACE is its interface towards the \
             link, shaped to {SHAPED_PERCENT}% of the link's rate so that packets wait in this \
             queue and not in the modem's. If that interface is the link itself, only the last \
             command is needed, with `root` for `parent 1:1`."
        );
        let profile = path.profile.as_ref();
        if profile.is_some_and(|profile| profile.kind == ProfileKind::Trace) {
            text += " The rate of this link changes, which a shaper at a fixed rate does not \
                     follow: prefer a modem that has this queue itself.";
        }
        let queue = path.queue.on(&path).tc(shaped);
        SwitchOn {
            text,
            commands: vec![
                "tc qdisc replace dev IFACE root handle 1: htb default 1".to_owned(),
                format!(
                    "tc class replace dev IFACE parent 1: classid 1:1 htb rate {}bit",
                    shaped.bps()
                ),
                format!("tc qdisc replace dev IFACE parent 1:1 {queue}"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Comparison, Loss, Queue};
    use bentpipe_units::Bytes;

    #[test]
    fn a_queue_is_switched_on_as_it_was_compared() {
        let queues = ["1 BDP", "codel", "red 600 packets"].map(|q| q.parse::<Queue>().unwrap());
        let answer = Comparison::new()
            .queues(queues)
            .loss(Loss::NONE)
            .size(Bytes::new(30_000))
            .transports(["cubic"])
            .runs(1)
            .run()
            .unwrap();
        let names: Vec<&str> = answer.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(
            names,
            ["cubic", "cubic with codel", "cubic with red 600 packets"]
        );
        let lines = |row: usize| answer.switch_on_queue(&answer.rows[row]).commands;
        assert!(lines(0).is_empty());
        assert_eq!(
            lines(1)[1..],
            [
                "tc class replace dev IFACE parent 1: classid 1:1 htb rate 9500000bit",
                "tc qdisc replace dev IFACE parent 1:1 codel limit 2000 target 30ms interval 600ms",
            ]
        );
        assert!(lines(2)[2].ends_with(
            "red limit 900000 min 150000 max 450000 avpkt 1500 burst 167 probability 0.1 \
             bandwidth 9500000bit"
        ));
    }
}
