//! Where an advice turns: the search over one quantity, in one direction.
//!
//! Distances are natural logarithms of the factor between a value and the one that was asked, so
//! that half and twice are equally far. The advice is taken to turn once.

/// The search ends where what is still unknown spans no more than this factor.
const NARROW: f64 = 1.25;

/// Most values that one search asks about, beside those that are known.
const MOST: usize = 6;

/// What the runs show at one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The advice is the same, or the recommended row is as good as another.
    Holds,
    /// Another advice is shown.
    Turned,
    /// Neither is shown.
    Open,
}

/// What is known in one direction: distances and what the runs show there, in any order.
pub(super) type Known = Vec<(f64, State)>;

/// Where the advice turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edge {
    /// It holds as far as was asked.
    Never,
    /// It holds up to the first distance, and another is shown at the second.
    Between(f64, f64),
    /// It holds up to this distance; beyond it the runs do not tell.
    Open(f64),
}

/// What `known` says; the advice holds at distance zero.
pub(super) fn edge(known: &Known) -> Edge {
    let of = |state: State| known.iter().filter(move |(_, found)| *found == state);
    let turned = of(State::Turned)
        .map(|(at, _)| *at)
        .fold(f64::INFINITY, f64::min);
    let held = of(State::Holds)
        .map(|(at, _)| *at)
        .filter(|at| *at < turned);
    let held = held.fold(0.0, f64::max);
    if turned.is_finite() {
        return Edge::Between(held, turned);
    }
    match of(State::Open).any(|(at, _)| *at > held) {
        true => Edge::Open(held),
        false => Edge::Never,
    }
}

/// The distance to ask about next; `None` if it is known well enough, or no other advice is
/// shown anywhere.
fn next(known: &Known) -> Option<f64> {
    let Edge::Between(held, turned) = edge(known) else {
        return None;
    };
    let open = known
        .iter()
        .filter(|(_, state)| *state == State::Open)
        .map(|(at, _)| *at);
    let open: Vec<f64> = open.filter(|at| (held..turned).contains(at)).collect();
    let first = open.iter().copied().fold(turned, f64::min);
    let last = open.iter().copied().fold(held, f64::max);
    // Without open values in between the two gaps are the same.
    let (low, high) = match first - held >= turned - last {
        true => (held, first),
        false => (last, turned),
    };
    let wide = bentpipe_units::math::ln(NARROW);
    (high - low > wide).then_some(f64::midpoint(low, high))
}

/// Asks until it is known where the advice turns. `ask` says what the runs show at a distance,
/// and at which distance exactly, where values are whole numbers; `None` if nothing can be run.
pub(super) fn narrow<E>(
    known: &mut Known,
    mut ask: impl FnMut(f64) -> Result<Option<(f64, State)>, E>,
) -> Result<(), E> {
    for _ in 0..MOST {
        let Some(at) = next(known) else {
            return Ok(());
        };
        let Some((at, state)) = ask(at)? else {
            return Ok(());
        };
        if known.iter().any(|(other, _)| (other - at).abs() < 1e-9) {
            return Ok(());
        }
        known.push((at, state));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::math::ln;

    fn search(turns: f64, fog: f64) -> (Edge, usize) {
        let state = |at: f64| match at {
            at if at < turns - fog => State::Holds,
            at if at > turns + fog => State::Turned,
            _ => State::Open,
        };
        let mut known: Known = [2.0, 10.0].map(ln).map(|at| (at, state(at))).to_vec();
        let mut asked = 0;
        let ask = |at: f64| {
            asked += 1;
            Ok::<_, ()>(Some((at, state(at))))
        };
        narrow(&mut known, ask).unwrap();
        (edge(&known), asked)
    }

    #[test]
    fn what_never_turns_is_not_searched() {
        assert_eq!(search(9.0, 0.0), (Edge::Never, 0));
        // Open from three times on.
        assert_eq!(search(ln(30.0), ln(10.0)), (Edge::Open(ln(2.0)), 0));
    }

    #[test]
    fn whole_numbers_end_the_search() {
        let mut known = vec![(ln(2.0), State::Turned)];
        let mut asked = 0;
        let ask = |_| {
            asked += 1;
            Ok::<_, ()>(Some((ln(2.0), State::Turned)))
        };
        narrow(&mut known, ask).unwrap();
        assert_eq!((edge(&known), asked), (Edge::Between(0.0, ln(2.0)), 1));
    }

    #[test]
    fn the_turn_is_within_its_bounds() {
        for (i, j) in (1..115).flat_map(|i| (0..15).map(move |j| (i, j))) {
            let (turns, fog) = (0.02 * f64::from(i), 0.02 * f64::from(j));
            let (edge, asked) = search(turns, fog);
            assert!(asked <= MOST);
            if let Edge::Between(held, turned) = edge {
                assert!(held <= turns && turns <= turned, "{turns} {fog}");
                let unknown = turned - held - 2.0 * fog;
                assert!(unknown < 2.1 * ln(NARROW), "{turns} {fog}: {unknown}");
            }
        }
    }
}
