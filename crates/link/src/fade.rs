//! A rain fade over a link with adaptive coding.
//!
//! The attenuation is a trapezium: nothing up to `begins`, then a straight line up to `depth_db` in
//! the time `slope`, that for `stays`, and down again. At every instant the modem uses the first
//! mode that tolerates the attenuation: real modems change modes a round trip late and with
//! hysteresis, which is not modelled. If no mode tolerates it the link is down. Marchese's coding
//! of rate 1/2 is a mode with `code_rate` 0.5.

use crate::timeline::{Loss, Piece, Timeline, TimelineError};
use bentpipe_units::{Duration, Rate, Ratio, Time};

/// A fade and what the modem does about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fade {
    /// Maximum attenuation, dB.
    pub depth_db: f64,
    /// Start of the fade, from the start of the run.
    pub begins: Duration,
    /// How long it takes from nothing to `depth_db`, and back.
    pub slope: Duration,
    /// How long it stays at `depth_db`.
    pub stays: Duration,
    /// The codings in ascending order of the attenuation that they tolerate.
    pub modes: Vec<Mode>,
}

/// A coding and modulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// It works up to this attenuation, dB.
    pub up_to_db: f64,
    /// Rate on the channel; that of the link, where `None`.
    pub rate: Option<Rate>,
    /// Share of it that is left for packets.
    pub code_rate: Ratio,
    /// Losses during it.
    pub loss: Loss,
}

impl Fade {
    /// The timeline of a link that is like `base` in other respects.
    ///
    /// # Errors
    /// Never, for a fade as described.
    pub fn timeline(&self, base: Piece) -> Result<Timeline, TimelineError> {
        let mut changes: Vec<(Duration, Option<&Mode>)> = vec![(Duration::ZERO, self.mode(0.0))];
        let (top, falls) = (
            self.begins + self.slope,
            self.begins + self.slope + self.stays,
        );
        // The modes change where the attenuation crosses the limit of one.
        let crossed = self.modes.iter().filter(|m| m.up_to_db < self.depth_db);
        let crossed: Vec<(f64, &Mode)> = crossed.map(|m| (m.up_to_db / self.depth_db, m)).collect();
        for (share, mode) in &crossed {
            let at = self.begins + self.slope.scaled(*share);
            let next = self.modes.iter().find(|m| m.up_to_db > mode.up_to_db);
            changes.push((at.min(top), next));
        }
        for (share, mode) in crossed.iter().rev() {
            let at = falls + self.slope.scaled(1.0 - *share);
            changes.push((at, Some(mode)));
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for (at, mode) in changes {
            let from = Time::ZERO + at;
            // Of two changes at once the later one holds.
            if pieces.last().is_some_and(|p| p.from >= from) {
                pieces.pop();
            }
            let scaled = |mode: &Mode| {
                let rate = mode.rate.unwrap_or(base.rate);
                Rate::from_bps_f64(rate.bps_f64() * mode.code_rate.get())
            };
            pieces.push(Piece {
                from,
                rate: mode.map_or(base.rate, scaled),
                loss: mode.map_or(base.loss, |m| m.loss),
                up: mode.is_some(),
                ..base
            });
        }
        Timeline::new(pieces)
    }

    /// The first mode that tolerates an attenuation.
    fn mode(&self, db: f64) -> Option<&Mode> {
        self.modes.iter().find(|m| m.up_to_db >= db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_follow_the_attenuation() {
        // 12 dB in 60 s: 3 dB after 15 s, 6 after 30, 9 after 45.
        let mode = |up_to_db, code_rate| Mode {
            up_to_db,
            rate: None,
            code_rate: Ratio::new(code_rate).unwrap(),
            loss: Loss::Channel,
        };
        let fade = Fade {
            depth_db: 12.0,
            begins: Duration::from_secs(100),
            slope: Duration::from_secs(60),
            stays: Duration::from_secs(40),
            modes: vec![mode(3.0, 1.0), mode(6.0, 0.75), mode(9.0, 0.5)],
        };
        let base = Piece {
            from: Time::ZERO,
            rate: Rate::from_mbps(8),
            one_way_delay: Duration::from_millis(255),
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        };
        let line = fade.timeline(base).unwrap();
        let seconds = |p: &Piece| p.from.as_nanos() / 1_000_000_000;
        let seen: Vec<(u64, u64, bool)> = line
            .pieces()
            .iter()
            .map(|p| (seconds(p), p.rate.bps() / 1_000_000, p.up))
            .collect();
        let expected = [
            (0, 8, true),
            (115, 6, true),
            (130, 4, true),
            (145, 8, false),
            (215, 4, true),
            (230, 6, true),
            (245, 8, true),
        ];
        assert_eq!(seen, expected);
        // A shallow one changes nothing.
        let line = Fade {
            depth_db: 3.0,
            ..fade.clone()
        };
        assert_eq!(line.timeline(base).unwrap().pieces().len(), 1);
        // At once.
        let cliff = Fade {
            slope: Duration::ZERO,
            ..fade
        };
        let line = cliff.timeline(base).unwrap();
        let up: Vec<(u64, bool)> = line.pieces().iter().map(|p| (seconds(p), p.up)).collect();
        assert_eq!(up, [(0, true), (100, false), (140, true)]);
    }
}
