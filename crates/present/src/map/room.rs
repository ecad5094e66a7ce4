//! Labels that keep clear of each other.

/// A box: left, top, right, bottom.
pub(super) type Box4 = [f64; 4];

/// Room that is taken.
#[derive(Debug, Default)]
pub(super) struct Room {
    taken: Vec<Box4>,
}

impl Room {
    /// Takes a box.
    pub(super) fn take(&mut self, taken: Box4) {
        self.taken.push(taken);
    }

    /// What is taken.
    pub(super) fn boxes(&self) -> &[Box4] {
        &self.taken
    }

    /// How much of `place` is taken.
    fn overlap(&self, place: Box4) -> f64 {
        let shared = |taken: &Box4| {
            let w = place[2].min(taken[2]) - place[0].max(taken[0]);
            let h = place[3].min(taken[3]) - place[1].max(taken[1]);
            w.max(0.0) * h.max(0.0)
        };
        self.taken.iter().map(shared).sum()
    }

    /// Takes the first of `places` that is free; of none the one that is most.
    /// Gives its number.
    pub(super) fn choose(&mut self, places: &[Box4]) -> usize {
        let mut best = (0, f64::INFINITY);
        for (i, place) in places.iter().enumerate() {
            let overlap = self.overlap(*place);
            if overlap < best.1 {
                best = (i, overlap);
            }
            if overlap == 0.0 {
                break;
            }
        }
        if let Some(place) = places.get(best.0) {
            self.take(*place);
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_take_the_first_place_that_is_free() {
        let mut room = Room::default();
        room.take([0.0, 0.0, 10.0, 10.0]);
        let places = [[5.0, 5.0, 15.0, 15.0], [10.0, 0.0, 20.0, 10.0]];
        assert_eq!(room.choose(&places), 1);
        // Now both are taken, the first less.
        assert_eq!(room.choose(&places), 0);
    }
}
