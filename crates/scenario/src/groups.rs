//! Sets of elements that belong together (union-find).

/// Disjoint sets of the elements from 0 on.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Another element of the same set, in the end its least one.
    above: Vec<u32>,
}

impl Groups {
    /// Every one of so many elements alone.
    #[must_use]
    pub fn new(elements: usize) -> Groups {
        Groups {
            above: (0..elements as u32).collect(),
        }
    }

    /// The least element of the set of `element`.
    pub fn least(&mut self, element: usize) -> usize {
        let mut at = element as u32;
        while self.above[at as usize] != at {
            let above = self.above[self.above[at as usize] as usize];
            self.above[at as usize] = above;
            at = above;
        }
        at as usize
    }

    /// Puts the sets of `a` and `b` together.
    pub fn tie(&mut self, a: usize, b: usize) {
        let (a, b) = (self.least(a), self.least(b));
        self.above[a.max(b)] = a.min(b) as u32;
    }

    /// Puts the sets of all these elements together.
    pub fn tie_all(&mut self, elements: impl IntoIterator<Item = usize>) {
        let mut elements = elements.into_iter();
        if let Some(first) = elements.next() {
            elements.for_each(|other| self.tie(first, other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_reach_through_others() {
        let mut groups = Groups::new(7);
        groups.tie(5, 3);
        groups.tie_all([6, 1]);
        groups.tie(3, 6);
        let least: Vec<usize> = (0..7).map(|e| groups.least(e)).collect();
        assert_eq!(least, [0, 1, 2, 1, 4, 1, 1]);
    }
}
