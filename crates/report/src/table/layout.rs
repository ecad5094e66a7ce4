//! Which columns of a table are shown in a given width, and how wide they are.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::bar;
use super::model::{Align, Cell, Fit, Row, Table, one_line};
use super::wrap::wrap_all;

/// Spaces between columns.
pub(super) const GAP: &str = "  ";

/// Selection and widths of a table's columns.
pub(super) struct Layout {
    /// The columns that are shown, by their places in the table.
    kept: Vec<usize>,
    /// The headings of the others.
    pub(super) left_out: Vec<String>,
    /// Of the columns that are shown.
    pub(super) widths: Vec<usize>,
    pub(super) sides: Vec<Align>,
    fits: Vec<Fit>,
}

/// Width requirements of a column.
#[derive(Clone, Copy)]
struct Need {
    /// For everything, without wrapping.
    natural: usize,
    /// For its cells, with its heading in several lines.
    cells: usize,
    fit: Fit,
    words: bool,
    /// Whether it names the rows.
    first: bool,
    /// Whether any cell holds something.
    filled: bool,
}

/// How hard columns are pressed, from least to most.
const STAGES: [Stage; 3] = [Stage::Words, Stage::Headings, Stage::Hard];

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Words are shortened and wrapped, but can still be read.
    Words,
    /// Headings take several lines.
    Headings,
    /// Words are as short as can be.
    Hard,
}

impl Need {
    /// The smallest width at that stage.
    fn least(self, stage: Stage) -> usize {
        let floor = match (self.fit, stage) {
            (Fit::Bar, Stage::Hard) => 4,
            (Fit::Bar, _) => 8,
            (Fit::Wrap, Stage::Hard) => 12,
            (Fit::Wrap, _) => 28,
            (Fit::Shorten, Stage::Hard) => 8,
            (Fit::Shorten, _) if self.first => 28,
            (Fit::Shorten, _) => 22,
        };
        match (self.words, stage) {
            (true, _) => self.natural.min(floor),
            (false, Stage::Words) => self.natural,
            (false, _) => self.cells,
        }
    }
}

impl Layout {
    /// Lays out `rows`, the heading first, in lines of at most `limit` characters.
    pub(super) fn new(table: &Table, rows: &[Row], limit: usize) -> Layout {
        let sides = table.sides();
        let needs = needs(table, rows, &sides);
        // Of the columns that can be done without, those with nothing in them go at once.
        let has_cells = |i: &usize| {
            let rank = table.columns.get(*i).map_or(0, |c| c.optional);
            rank == 0 || needs[*i].filled || rows.len() < 2
        };
        let mut kept: Vec<usize> = (0..sides.len()).filter(has_cells).collect();
        let mut left_out = Vec::new();
        let stage = loop {
            let fits = |stage: &&Stage| {
                let least = kept.iter().map(|i| needs[*i].least(**stage));
                total(least) <= limit
            };
            // The hard stage comes after the columns that can be done without.
            let stages = if is_optional_left(table, &kept) { 2 } else { 3 };
            if let Some(stage) = STAGES.iter().take(stages).find(fits) {
                break *stage;
            }
            let Some(place) = next_out(table, &kept) else {
                break Stage::Hard;
            };
            let i = kept.remove(place);
            left_out.push(
                table
                    .columns
                    .get(i)
                    .map_or_else(String::new, |c| one_line(&c.heading)),
            );
        };
        let mut widths: Vec<usize> = kept.iter().map(|i| needs[*i].natural).collect();
        while total(widths.iter().copied()) > limit {
            let room = |place: &usize| widths[*place] > needs[kept[*place]].least(stage);
            // Bars first, then words, then headings; but words are not cut short while a
            // heading can take another line.
            let turn = |place: &usize| match (needs[kept[*place]], stage) {
                (need, _) if need.fit == Fit::Bar => 2,
                (need, Stage::Hard) => u8::from(!need.words),
                (need, _) => u8::from(need.words),
            };
            let places = (0..widths.len()).filter(room);
            // Evenly: the widest down to the next one. Where none has room left, a single
            // column is cut whatever it holds.
            let widest = places.max_by_key(|place| (turn(place), widths[*place]));
            let widest = widest.or_else(|| (0..widths.len()).max_by_key(|p| widths[*p]));
            match widest.and_then(|place| widths.get_mut(place)) {
                Some(width) if *width > 1 => *width -= 1,
                _ => break,
            }
        }
        Layout {
            sides: kept.iter().map(|i| sides[*i]).collect(),
            fits: kept.iter().map(|i| needs[*i].fit).collect(),
            kept,
            left_out,
            widths,
        }
    }

    /// The lines of a row: the cells of the columns that are shown, none wider than its
    /// column.
    pub(super) fn lines(&self, cells: &[Cell]) -> Vec<Vec<Cell>> {
        let columns = self.kept.iter().zip(&self.widths).zip(&self.fits);
        let columns: Vec<Vec<Cell>> = columns
            .map(|((i, width), fit)| {
                let cell = cells.get(*i).cloned().unwrap_or_default();
                let texts = match (fit, cell.share) {
                    (_, Some(share)) => vec![bar::with_end(share, *width)],
                    (Fit::Wrap, None) => wrap_all(&cell.text, *width),
                    _ => vec![cut(&cell.text, *width)],
                };
                let painted = |text| Cell::new(text).tone(cell.tone);
                texts.into_iter().map(painted).collect()
            })
            .collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let line = |n: usize| {
            let cells = columns.iter();
            cells
                .map(|c| c.get(n).cloned().unwrap_or_default())
                .collect()
        };
        (0..height).map(line).collect()
    }

    /// The lines of the heading; short headings are on the last.
    pub(super) fn heading(&self, cells: &[Cell]) -> Vec<Vec<Cell>> {
        let columns: Vec<Vec<String>> = self
            .kept
            .iter()
            .zip(&self.widths)
            .map(|(i, width)| wrap_all(cells.get(*i).map_or("", |c| &c.text), *width))
            .collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        let line = |n: usize| {
            let text = |column: &Vec<String>| {
                let n = (n + column.len()).checked_sub(height);
                n.and_then(|n| column.get(n).cloned()).unwrap_or_default()
            };
            let tone = cells.first().map_or_else(Default::default, |c| c.tone);
            let cells = columns.iter().map(|c| Cell::new(text(c)).tone(tone));
            cells.collect()
        };
        (0..height).map(line).collect()
    }
}

fn total(widths: impl Iterator<Item = usize>) -> usize {
    let all: usize = widths.map(|width| width + GAP.len()).sum();
    all.saturating_sub(GAP.len())
}

fn needs(table: &Table, rows: &[Row], sides: &[Align]) -> Vec<Need> {
    let mut needs: Vec<Need> = (0..sides.len())
        .map(|i| Need {
            natural: 0,
            cells: 0,
            fit: table.columns.get(i).map_or(Fit::Shorten, |c| c.fit),
            first: i == 0,
            filled: false,
            words: sides[i] == Align::Left,
        })
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let Row::Cells(cells) = row else { continue };
        for (need, cell) in needs.iter_mut().zip(cells) {
            let width = cell.text.width();
            need.natural = need.natural.max(width);
            need.filled |= number > 0 && width > 0;
            // The first row is the heading.
            let words = cell.text.split_whitespace().map(UnicodeWidthStr::width);
            let cells = if number == 0 {
                words.max().unwrap_or(0)
            } else {
                width
            };
            need.cells = need.cells.max(cells);
        }
    }
    needs
}

fn is_optional_left(table: &Table, kept: &[usize]) -> bool {
    let rank = |i: &usize| table.columns.get(*i).map_or(0, |c| c.optional);
    kept.iter().any(|i| rank(i) > 0)
}

/// The place in `kept` of the column that is left out next: the highest rank, or the
/// last where none has one. The first column stays.
fn next_out(table: &Table, kept: &[usize]) -> Option<usize> {
    let rank = |place: &usize| table.columns.get(kept[*place]).map_or(0, |c| c.optional);
    (1..kept.len()).max_by_key(rank)
}

/// A text of at most `width` columns: a name loses its middle, a text its end.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let tail = match text.contains(' ') {
        true => 0,
        false => room / 3,
    };
    let mut out = within(text.chars(), room - tail);
    out.push('…');
    out.extend(within(text.chars().rev(), tail).chars().rev());
    out
}

fn within(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut out = String::new();
    for c in chars {
        if out.width() + c.width().unwrap_or(0) > width {
            break;
        }
        out.push(c);
    }
    out
}
