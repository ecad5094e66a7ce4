//! The packed places, and how names are compared.

use super::City;
use crate::quantity::Place;
use std::collections::HashMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("../../data/places.txt");

/// The embedded list of cities and countries.
pub(super) struct Gazetteer {
    cities: Vec<City>,
    /// Of each city the region's and the country's names and codes, folded, as
    /// numbers into `wider`.
    within: Vec<[u32; 2]>,
    wider: Vec<Vec<String>>,
    /// Cities by their folded names.
    names: HashMap<String, Vec<u32>>,
    /// These names, those of the largest cities first.
    ranked: Vec<String>,
}

impl Gazetteer {
    pub(super) fn get() -> &'static Gazetteer {
        static ALL: OnceLock<Gazetteer> = OnceLock::new();
        ALL.get_or_init(|| Gazetteer::parse(TEXT))
    }

    /// Reads the packed text; lines that it does not understand are passed over
    /// (a test holds that there are none).
    pub(super) fn parse(text: &'static str) -> Gazetteer {
        let mut all = Gazetteer {
            cities: Vec::new(),
            within: Vec::new(),
            wider: vec![Vec::new()],
            names: HashMap::new(),
            ranked: Vec::new(),
        };
        let mut country = ("", None);
        let mut region = None;
        let mut within = [0, 0];
        for line in text.lines() {
            let folds = |names: &str| names.split('|').map(folded).collect::<Vec<_>>();
            if line.starts_with('#') {
                continue;
            } else if let Some(rest) = line.strip_prefix('@') {
                let (code, names) = rest.split_once('|').unwrap_or((rest, rest));
                let name = names.split('|').next().unwrap_or(names);
                country = (name, Some(code).filter(|code| code.len() == 2));
                region = None;
                all.wider.push(folds(rest));
                within = [all.wider.len() as u32 - 1, 0];
            } else if let Some(rest) = line.strip_prefix('=') {
                region = rest.split('|').next();
                all.wider.push(folds(rest));
                within[1] = all.wider.len() as u32 - 1;
            } else if let Some((names, people, place)) = fields(line) {
                let index = all.cities.len() as u32;
                for name in names.split('|') {
                    let same = all.names.entry(folded(name)).or_default();
                    if same.last() != Some(&index) {
                        same.push(index);
                    }
                }
                all.cities.push(City {
                    name: names.split('|').next().unwrap_or(names),
                    region,
                    country: country.0,
                    code: country.1,
                    people: people * 1000,
                    place,
                });
                all.within.push(within);
            }
        }
        let mut ranked: Vec<String> = all.names.keys().cloned().collect();
        ranked.sort_by_cached_key(|name| {
            let people = all.named(name).iter().map(|i| all.city(*i).people);
            (core::cmp::Reverse(people.max()), name.clone())
        });
        all.ranked = ranked;
        all
    }

    pub(super) fn city(&self, index: u32) -> City {
        self.cities[index as usize]
    }

    #[cfg(test)]
    pub(super) fn cities(&self) -> &[City] {
        &self.cities
    }

    /// The cities of that folded name.
    pub(super) fn named(&self, name: &str) -> &[u32] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a city lies in the region or country of that folded name or code.
    pub(super) fn lies_in(&self, index: u32, wider: &str) -> bool {
        let within = self.within[index as usize];
        let mut names = within.iter().flat_map(|w| &self.wider[*w as usize]);
        names.any(|name| name == wider)
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = u32> {
        0..self.cities.len() as u32
    }

    /// The cities with a name that begins with the folded `name`.
    pub(super) fn beginning(&self, name: &str) -> impl Iterator<Item = u32> {
        let names = self
            .ranked
            .iter()
            .filter(move |known| known.starts_with(name));
        names.flat_map(|known| self.named(known)).copied()
    }

    /// Whether a city lies in a region or country whose folded name or code begins
    /// with `wider`.
    pub(super) fn begins_in(&self, index: u32, wider: &str) -> bool {
        let within = self.within[index as usize];
        let mut names = within.iter().flat_map(|w| &self.wider[*w as usize]);
        names.any(|name| name.starts_with(wider))
    }

    /// Cities whose names are almost the folded `name`, or begin with it; at
    /// most three names.
    pub(super) fn nearest(&self, name: &str) -> Vec<u32> {
        if name.is_empty() {
            return Vec::new();
        }
        let letters = name.chars().count();
        let ranked = || self.ranked.iter().map(String::as_str);
        let begins = ranked().filter(|known| letters >= 3 && known.starts_with(name));
        let near = bentpipe_units::nearest(name, ranked());
        let names = near.into_iter().chain(begins.take(2));
        names.flat_map(|name| self.named(name)).copied().collect()
    }
}

/// `NAMES<tab>THOUSANDS<tab>LATITUDE+LONGITUDE`.
fn fields(line: &'static str) -> Option<(&'static str, u32, Place)> {
    let mut fields = line.split('\t');
    let (names, people, at) = (fields.next()?, fields.next()?, fields.next()?);
    // The sign of the longitude separates the two.
    let split = 1 + at.get(1..)?.find(['+', '-'])?;
    let (latitude, longitude) = at.split_at(split);
    let degrees = |text: &str| text.parse::<i32>().ok().map(|x| f64::from(x) / 100.0);
    let place = Place::new(degrees(latitude)?, degrees(longitude)?).ok()?;
    Some((names, people.parse().ok()?, place))
}

/// What of a name is compared: small letters without accents, and digits, with
/// `St` and `Ft` as `Saint` and `Fort`.
pub(super) fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for word in name.split(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '-' | '/')) {
        let start = folded.len();
        for letter in word.chars().flat_map(char::to_lowercase) {
            fold(letter, &mut folded);
        }
        let full = match &folded[start..] {
            "st" => "saint",
            "ft" => "fort",
            _ => continue,
        };
        folded.truncate(start);
        folded.push_str(full);
    }
    folded
}

/// Puts a small letter without its accent at the end of `out`; what is neither
/// letter nor digit is left out.
fn fold(letter: char, out: &mut String) {
    let plain = match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ạ' | 'ả' | 'ấ'..='ặ' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ð' | 'ď' | 'đ' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ'..='ệ' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ỉ' | 'ị' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ọ'..='ợ' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ß' => "ss",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ụ'..='ự' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' | 'ỳ'..='ỹ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        other if other.is_alphanumeric() => {
            out.push(other);
            return;
        }
        _ => return,
    };
    out.push_str(plain);
}
