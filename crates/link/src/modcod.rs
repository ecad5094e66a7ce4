//! The modulations and codes of DVB-S2, and what a modem does with them in a fade.
//!
//! Ideal Es/N0 for a quasi error-free channel (a packet error ratio of 1e-7) and spectral
//! efficiency, for FECFRAMEs of 64800 bits without pilots: ETSI EN 302 307-1 V1.4.1, table 13. A
//! modem needs more than the ideal; the margin has to hold that as well.

use crate::fade::Mode;
use crate::timeline::Loss;
use bentpipe_units::{Ratio, nearest};
use std::fmt;
use std::str::FromStr;

/// A modulation and code of DVB-S2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModCod {
    /// Its name, such as `16APSK 3/4`.
    pub name: &'static str,
    /// Payload bits per symbol.
    pub efficiency: f64,
    /// The Es/N0 that it needs, dB.
    pub es_n0_db: f64,
}

const fn modcod(name: &'static str, efficiency: f64, es_n0_db: f64) -> ModCod {
    ModCod {
        name,
        efficiency,
        es_n0_db,
    }
}

/// All 28, in the order of the standard.
pub const DVB_S2: [ModCod; 28] = [
    modcod("QPSK 1/4", 0.490_243, -2.35),
    modcod("QPSK 1/3", 0.656_448, -1.24),
    modcod("QPSK 2/5", 0.789_412, -0.30),
    modcod("QPSK 1/2", 0.988_858, 1.00),
    modcod("QPSK 3/5", 1.188_304, 2.23),
    modcod("QPSK 2/3", 1.322_253, 3.10),
    modcod("QPSK 3/4", 1.487_473, 4.03),
    modcod("QPSK 4/5", 1.587_196, 4.68),
    modcod("QPSK 5/6", 1.654_663, 5.18),
    modcod("QPSK 8/9", 1.766_451, 6.20),
    modcod("QPSK 9/10", 1.788_612, 6.42),
    modcod("8PSK 3/5", 1.779_991, 5.50),
    modcod("8PSK 2/3", 1.980_636, 6.62),
    modcod("8PSK 3/4", 2.228_124, 7.91),
    modcod("8PSK 5/6", 2.478_562, 9.35),
    modcod("8PSK 8/9", 2.646_012, 10.69),
    modcod("8PSK 9/10", 2.679_207, 10.98),
    modcod("16APSK 2/3", 2.637_201, 8.97),
    modcod("16APSK 3/4", 2.966_728, 10.21),
    modcod("16APSK 4/5", 3.165_623, 11.03),
    modcod("16APSK 5/6", 3.300_184, 11.61),
    modcod("16APSK 8/9", 3.523_143, 12.89),
    modcod("16APSK 9/10", 3.567_342, 13.13),
    modcod("32APSK 3/4", 3.703_295, 12.73),
    modcod("32APSK 4/5", 3.951_571, 13.64),
    modcod("32APSK 5/6", 4.119_540, 14.28),
    modcod("32APSK 8/9", 4.397_854, 15.69),
    modcod("32APSK 9/10", 4.453_027, 16.05),
];

impl ModCod {
    /// The modes of a modem that adapts its ModCod, of which this is the one under a clear sky,
    /// with `margin_db` left: for [`Fade::modes`](crate::Fade::modes). At any attenuation it uses
    /// the most efficient that still closes the link, and never a more efficient one than
    /// this.
    #[must_use]
    pub fn adaptive(self, margin_db: f64) -> Vec<Mode> {
        self.ladder()
            .iter()
            .map(|lower| self.mode(*lower, margin_db))
            .collect()
    }

    /// The mode of a modem that keeps this ModCod: the link is down where it does not close.
    #[must_use]
    pub fn constant(self, margin_db: f64) -> Vec<Mode> {
        vec![self.mode(self, margin_db)]
    }

    /// The ModCods that a modem steps down through from this one, which is the first: of those
    /// that need less, each that carries more than all that need less still.
    #[must_use]
    pub fn ladder(self) -> Vec<ModCod> {
        let mut lower: Vec<ModCod> = DVB_S2
            .into_iter()
            .filter(|m| m.es_n0_db < self.es_n0_db && m.efficiency < self.efficiency)
            .collect();
        lower.sort_by(|a, b| b.efficiency.total_cmp(&a.efficiency));
        let mut ladder = vec![self];
        for modcod in lower {
            if ladder
                .last()
                .is_some_and(|last| modcod.es_n0_db < last.es_n0_db)
            {
                ladder.push(modcod);
            }
        }
        ladder
    }

    fn mode(self, lower: ModCod, margin_db: f64) -> Mode {
        Mode {
            up_to_db: margin_db + self.es_n0_db - lower.es_n0_db,
            rate: None,
            code_rate: Ratio::new(lower.efficiency / self.efficiency).unwrap_or(Ratio::ONE),
            loss: Loss::Channel,
        }
    }
}

impl fmt::Display for ModCod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Why a text is no ModCod, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModCodError(String);

impl FromStr for ModCod {
    type Err = ModCodError;

    /// Reads a name, whatever the case and the blanks: `16apsk3/4`.
    fn from_str(text: &str) -> Result<ModCod, ModCodError> {
        let plain = |text: &str| {
            let letters = text.chars().filter(|c| !c.is_whitespace());
            letters.collect::<String>().to_ascii_lowercase()
        };
        let wanted = plain(text);
        if let Some(found) = DVB_S2.iter().find(|m| plain(m.name) == wanted) {
            return Ok(*found);
        }
        let near = nearest(text.trim(), DVB_S2.iter().map(|m| m.name));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Err(ModCodError(format!(
            "`{}` is no ModCod of DVB-S2: expected one from `QPSK 1/4` to `32APSK 9/10`{near}",
            text.trim()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EN 302 307-1, tables 5a and 13: the code leaves `Kbch` bits of a FECFRAME, 80 of
    /// them for the header; a frame has a slot of 90 symbols more than it takes.
    #[test]
    fn efficiencies_follow_from_the_frames() {
        let kbch = [
            ("1/4", 16_008),
            ("1/3", 21_408),
            ("2/5", 25_728),
            ("1/2", 32_208),
            ("3/5", 38_688),
            ("2/3", 43_040),
            ("3/4", 48_408),
            ("4/5", 51_648),
            ("5/6", 53_840),
            ("8/9", 57_472),
            ("9/10", 58_192),
        ];
        for modcod in DVB_S2 {
            let (modulation, code) = modcod.name.split_once(' ').unwrap();
            let bits = [("QPSK", 2), ("8PSK", 3), ("16APSK", 4), ("32APSK", 5)];
            let bits = bits.iter().find(|(name, _)| *name == modulation).unwrap().1;
            let payload = kbch.iter().find(|(name, _)| *name == code).unwrap().1 - 80;
            let symbols = 64_800 / bits + 90;
            let efficiency = f64::from(payload) / f64::from(symbols);
            assert!(
                (efficiency - modcod.efficiency).abs() < 1e-6,
                "{modcod}: {efficiency}"
            );
        }
    }

    #[test]
    fn a_ladder_has_no_step_that_another_beats() {
        let names = |of: &str| -> Vec<&str> {
            of.parse::<ModCod>()
                .unwrap()
                .ladder()
                .iter()
                .map(|m| m.name)
                .collect()
        };
        // 16APSK 2/3 needs less than 8PSK 5/6, 8/9 and 9/10, and carries as much.
        assert_eq!(
            names("16APSK 3/4")[..5],
            [
                "16APSK 3/4",
                "16APSK 2/3",
                "8PSK 3/4",
                "8PSK 2/3",
                "QPSK 9/10"
            ]
        );
        assert_eq!(names("QPSK 1/4"), ["QPSK 1/4"]);
        for modcod in DVB_S2 {
            let ladder = modcod.ladder();
            for pair in ladder.windows(2) {
                assert!(pair[0].efficiency > pair[1].efficiency, "{modcod}");
                assert!(pair[0].es_n0_db > pair[1].es_n0_db, "{modcod}");
            }
            assert_eq!(ladder.last().unwrap().name, "QPSK 1/4");
        }
    }

    #[test]
    fn the_margin_comes_before_the_first_step() {
        let clear: ModCod = "16 apsk 3/4".parse().unwrap();
        let modes = clear.adaptive(1.0);
        let up_to = |i: usize| (100.0 * modes[i].up_to_db).round() as i64;
        // 10.21 less 8.97, 7.91 and 6.62 dB, and the margin.
        assert_eq!(
            [up_to(0), up_to(1), up_to(2), up_to(3)],
            [100, 224, 330, 459]
        );
        assert_eq!(modes[0].code_rate, Ratio::ONE);
        assert!((modes[1].code_rate.get() - 2.637_201 / 2.966_728).abs() < 1e-12);
        // Down where QPSK 1/4 does not close: 10.21 + 2.35 and the margin.
        assert!((modes.last().unwrap().up_to_db - 13.56).abs() < 1e-9);
        assert_eq!(clear.constant(3.0).len(), 1);
        let error = "16APSK 3/5".parse::<ModCod>().unwrap_err().to_string();
        assert!(error.contains("did you mean `16APSK"), "{error}");
    }
}
