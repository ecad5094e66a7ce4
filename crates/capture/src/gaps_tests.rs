//! Tests of what took time of the link, on a link of 10 ms a packet and 100 ms without a queue.

use super::*;
use crate::history::Builder;

const PACKET: f64 = 0.01;
const BASE: f64 = 0.1;
const MSS: u32 = 1460;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq)]
enum Case {
    Arrives,
    /// The channel loses it.
    Lost,
    /// The queue drops it.
    Dropped,
}

use Case::{Arrives, Dropped, Lost};

/// A packet is sent every `every` packets' time, from 10 at the beginning on. Acknowledgements are
/// late by `late` of their number, seconds.
fn history(cases: &[Case], every: f64, late: impl Fn(usize) -> f64) -> History {
    let mut builder = Builder::new(MSS, 40, true);
    builder.handshake(Some(BASE), true);
    let length = u64::from(MSS);
    let sent = |number: usize| every * PACKET * number.saturating_sub(9) as f64;
    let mut acks = Vec::new();
    let (mut free, mut hole) = (0.0_f64, None);
    for (number, case) in cases.iter().enumerate() {
        if *case != Dropped {
            free = free.max(sent(number)) + PACKET;
        }
        match case {
            Arrives => acks.push((free + BASE + late(acks.len()), number as u64, hole)),
            _ => hole = hole.or(Some(number as u64)),
        }
    }
    let mut data = (0..cases.len())
        .map(|number| (sent(number), number as u64))
        .peekable();
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for (at, number, hole) in acks {
        while let Some((at, number)) = data.next_if(|(sent, _)| *sent <= at) {
            builder.data(at, number * length, MSS);
        }
        let block = (number * length, (number + 1) * length);
        match (hole, blocks.first_mut()) {
            (None, _) => builder.ack(at, block.1, &[], None, true),
            (Some(hole), Some(first)) if first.1 == block.0 => {
                first.1 = block.1;
                builder.ack(at, hole * length, &blocks, None, true);
            }
            (Some(hole), _) => {
                blocks.insert(0, block);
                builder.ack(at, hole * length, &blocks, None, true);
            }
        }
    }
    builder.build()
}

/// What is told of each loss.
fn told(history: &History, full: f64) -> Vec<(usize, Option<bool>)> {
    let link = Link {
        history,
        base: BASE,
        packet: PACKET,
        full,
    };
    let exact = vec![true; history.acks.len()];
    let gaps = gaps(link, &exact);
    gaps.iter().map(|gap| (gap.number, gap.took_time)).collect()
}

/// 40 packets that arrive, and then those.
fn after_40(cases: &[Case]) -> Vec<Case> {
    [&[Arrives; 40], cases].concat()
}

#[test]
fn a_loss_leaves_a_gap_and_a_drop_does_not() {
    let cases = after_40(&[Lost, Arrives, Arrives, Dropped, Arrives]);
    let history = history(&cases, 1.0, |_| 0.0);
    assert_eq!(told(&history, 0.05), [(40, Some(true)), (43, Some(false))]);
}

#[test]
fn of_a_row_of_losses_as_many_took_time_as_the_gap_is_long() {
    let cases = after_40(&[Lost, Lost, Dropped, Arrives, Dropped, Dropped, Arrives]);
    let history = history(&cases, 1.0, |_| 0.0);
    let took: Vec<Option<bool>> = told(&history, 0.05).iter().map(|(_, took)| *took).collect();
    assert_eq!(took, [true, true, false, false, false].map(Some));
}

#[test]
fn nothing_is_told_where_the_link_was_idle_or_the_acknowledgements_vary() {
    let cases = after_40(&[Lost, Arrives, Arrives, Dropped, Arrives]);
    // Packets are sent more slowly than the link could carry them.
    let idle = history(&cases, 2.0, |_| 0.0);
    assert_eq!(told(&idle, 0.05), [(40, None), (43, None)]);
    let jitter = history(&cases, 1.0, |ack| if ack % 3 == 0 { 0.006 } else { 0.0 });
    assert_eq!(told(&jitter, 0.05), [(40, None), (43, None)]);
}

/// The acknowledgement behind the fourth loss comes 1 ms late, which is two packets' time.
#[test]
fn an_acknowledgement_that_may_be_put_off_tells_nothing_of_short_packets() {
    let cases = after_40(&[Dropped, Arrives, Arrives, Arrives, Dropped, Arrives]);
    let mut history = history(&cases, 1.0, |_| 0.0);
    for sent in &mut history.sent {
        sent.at /= 20.0;
    }
    for ack in &mut history.acks {
        ack.at = (ack.at - BASE) / 20.0 + BASE;
    }
    history.acks.last_mut().unwrap().at += 0.001;
    let link = Link {
        history: &history,
        base: BASE,
        packet: PACKET / 20.0,
        full: 0.05 / 20.0,
    };
    let exact = vec![true; history.acks.len()];
    let took: Vec<_> = gaps(link, &exact).iter().map(|gap| gap.took_time).collect();
    assert_eq!(took, [Some(false), None]);
}

/// A queue that dropped eight packets in a row, sent at the rate of the link, would have emptied by
/// as many: it was full for the first few at most.
#[test]
fn a_row_of_losses_empties_the_queue_that_is_to_have_dropped_it() {
    let cases = after_40(&[Lost; 8].into_iter().chain([Arrives]).collect::<Vec<_>>());
    let history = history(&cases, 1.0, |_| 0.0);
    let link = Link {
        history: &history,
        base: BASE,
        packet: PACKET,
        full: 0.075,
    };
    let exact = vec![true; history.acks.len()];
    let gaps = gaps(link, &exact);
    let full = gaps.iter().filter(|gap| gap.wait >= 0.075).count();
    assert!((1..=3).contains(&full), "{gaps:?}");
}
