use super::*;

const MS: Duration = Duration::from_millis(1);

fn settings() -> SlotSettings {
    SlotSettings {
        every: MS * 15_000,
        offset: MS * 12_000,
        delay: [Duration::ZERO, MS * 20, MS * 100].into(),
        stays: Ratio::new(0.4).unwrap(),
        wander: MS * 4,
        rate: [0.5, 1.5].into(),
        loss: [0.0, 0.02].into(),
        interruption: [Duration::ZERO, MS * 200].into(),
    }
}

fn below() -> Timeline {
    Timeline::new(vec![Piece {
        from: Time::ZERO,
        rate: Rate::from_mbps(20),
        one_way_delay: MS * 20,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }])
    .unwrap()
}

fn line(way: Way, seed: u64) -> Timeline {
    settings().over(&below(), (way, LONGEST), seed, "satellite")
}

/// The pieces in the middle of slots.
fn slots(line: &Timeline) -> Vec<Piece> {
    line.pieces()
        .iter()
        .filter(|piece| piece.up)
        .copied()
        .collect()
}

#[test]
fn slots_start_when_starlinks_do() {
    let line = line(Way::Forth, 1);
    let mut changes: Vec<u64> = Vec::new();
    let mut at = Time::ZERO;
    while let Some(next) = line
        .next_change(at)
        .filter(|next| next.as_nanos() < 60_000_000_000)
    {
        changes.push(next.as_nanos() / 1_000_000_000);
        at = next;
    }
    changes.dedup();
    assert_eq!(changes, [12, 27, 42, 57]);
}

#[test]
fn both_ways_share_slots_and_differ_in_capacity() {
    let (forth, back) = (line(Way::Forth, 1), line(Way::Back, 1));
    let same = |of: fn(&Piece) -> (Time, Duration, bool, Loss)| {
        forth
            .pieces()
            .iter()
            .map(of)
            .eq(back.pieces().iter().map(of))
    };
    assert!(same(|p| (p.from, p.one_way_delay, p.up, p.loss)));
    assert_ne!(forth.pieces()[0].rate, back.pieces()[0].rate);
    assert_eq!(forth, line(Way::Forth, 1));
    assert_ne!(forth, line(Way::Forth, 2));
}

#[test]
fn draws_are_those_of_the_distributions() {
    let slots = slots(&line(Way::Forth, 3));
    assert_eq!(slots.len(), 961);
    let shares = slots.iter().map(|piece| piece.rate.bps_f64() / 20e6);
    assert!(shares.clone().all(|share| (0.5..=1.5).contains(&share)));
    let mean = shares.sum::<f64>() / slots.len() as f64;
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    let more: Vec<f64> = slots
        .iter()
        .map(|p| (p.one_way_delay - MS * 20).as_secs() * 2e3)
        .collect();
    let mean = more.iter().sum::<f64>() / more.len() as f64;
    assert!((mean - 35.0).abs() < 3.0, "{mean}");
    // Two slots of one level differ by little.
    let near = more
        .windows(2)
        .filter(|w| (w[0] - w[1]).abs() < 15.0)
        .count();
    let share = near as f64 / more.len() as f64;
    assert!((0.45..0.75).contains(&share), "{share}");
}

#[test]
fn a_slot_begins_with_an_interruption() {
    let line = line(Way::Forth, 1);
    let down = line
        .pieces()
        .iter()
        .zip(line.pieces().iter().skip(1))
        .filter(|(a, _)| !a.up);
    let lengths: Vec<f64> = down.map(|(a, b)| b.from.since(a.from).as_secs()).collect();
    assert!(lengths.len() > 900);
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    assert!((mean - 0.1).abs() < 0.01, "{mean}");
    assert!(line.at(Time::ZERO).up, "the run begins within a slot");
}

#[test]
fn what_lies_below_stays_the_lower_bound() {
    let piece = |from: u64, ms: u64, up| Piece {
        from: Time::ZERO + MS * from,
        one_way_delay: MS * ms,
        sloped: true,
        up,
        route: from as u32,
        ..below().pieces()[0]
    };
    let pieces = vec![
        piece(0, 20, true),
        piece(20_000, 30, false),
        piece(33_000, 25, true),
    ];
    let below = Timeline::new(pieces).unwrap();
    let line = settings().over(&below, (Way::Forth, MS * 60_000), 1, "satellite");
    for ms in (0..60_000).step_by(77) {
        let at = Time::ZERO + MS * ms;
        let (with, without) = (line.at(at), below.at(at));
        // A second of what goes in a straight line is taken together.
        assert!(with.one_way_delay + MS * 2 > without.one_way_delay, "{ms}");
        assert!(without.up || !with.up);
        assert_eq!(with.route, without.route);
    }
}

#[test]
fn nothing_drawn_leaves_the_link_as_it_is() {
    let plain = SlotSettings {
        delay: [].into(),
        wander: Duration::ZERO,
        rate: [].into(),
        loss: [].into(),
        interruption: [].into(),
        ..settings()
    };
    let line = plain.over(&below(), (Way::Back, MS * 60_000), 1, "satellite");
    for piece in line.pieces() {
        assert_eq!(
            Piece {
                from: Time::ZERO,
                ..*piece
            },
            below().pieces()[0]
        );
    }
}
