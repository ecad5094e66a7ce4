//! Tables on a page: rows and columns as the paper prints them, in each cell the
//! printed number over ours, and the difference as a colour.

use crate::study::{self, tables::on_record};
use bentpipe_report::escape;
use bentpipe_study::{CellVerdict, Layout, SHADES, TableCell, TableData, spans};
use std::fmt::Write;

/// What the colours and marks of the tables mean.
pub(super) fn legend() -> String {
    let step = |class: &str, text: &str| format!("<span class=\"step {class}\">{text}</span>");
    let percent = |x: f64| format!("{}%", (100.0 * x).round());
    let mut scale = String::new();
    for (i, from) in SHADES.iter().enumerate().rev() {
        let more = if i == 3 { "beyond -" } else { "-" };
        scale += &step(
            &format!("low{}", i + 1),
            &format!("{more}{}", percent(*from)),
        );
    }
    scale += &step("same", "equal within 1%");
    for (i, from) in SHADES.iter().enumerate() {
        let more = if i == 3 { "beyond +" } else { "+" };
        scale += &step(
            &format!("high{}", i + 1),
            &format!("{more}{}", percent(*from)),
        );
    }
    format!(
        "<div class=\"legend\"><p>Each cell has the number that the paper prints above and ours \
         below, with its 95% interval where there are several runs. The colour is how far ours \
         lies from print:</p><p class=\"scale\">{scale}</p><p><span class=\"step worse\">outlined</span> \
         is outside the bar that the study holds the cell to; a note below the table says why where \
         that is known. Point at a cell for the difference in numbers.</p><p>Below each table stands how near it \
         is: the relative errors, and the sum of the differences by that of the best constant (of the \
         spread), where 100% is a table that says nothing.</p></div>"
    )
}

/// The class of a difference.
fn shade(error: Option<f64>) -> String {
    match error.map(bentpipe_study::shade) {
        None => String::new(),
        Some(0) => "same".to_owned(),
        Some(n) if n < 0 => format!("low{}", -n),
        Some(n) => format!("high{n}"),
    }
}

/// A table with its notes and how near it is.
pub(super) fn table(table: &TableData) -> String {
    let layout = table.layout();
    let mut notes = Notes::default();
    let mut html = format!(
        "<section class=\"item\" id=\"{0}\">\n<h3>{0}: {1}</h3>\n<div class=\"table\">\n<table class=\"paper\">\n",
        escape(&table.slug),
        escape(&table.title)
    );
    let units = Units::of(table, &layout);
    head(&layout, &units, &mut html);
    body(table, &layout, &units, &mut notes, &mut html);
    html.push_str("</table>\n</div>\n");
    if let Some(unit) = table.unit().filter(|unit| !unit.is_empty()) {
        let _ = writeln!(html, "<p class=\"note\">In {}.</p>", escape(unit));
    }
    if !notes.texts.is_empty() {
        html.push_str("<ol class=\"notes\">\n");
        for note in &notes.texts {
            let _ = writeln!(html, "<li>{}</li>", escape(note));
        }
        html.push_str("</ol>\n");
    }
    errors(table, &mut html);
    html.push_str("</section>\n");
    html
}

/// Where the units of a table stand.
enum Units<'a> {
    /// Below it: all cells have the same.
    Below,
    /// In the heading of each column.
    Columns(Vec<&'a str>),
    /// In each cell.
    Cells,
}

impl<'a> Units<'a> {
    fn of(table: &TableData, layout: &'a Layout<'_>) -> Units<'a> {
        match (table.unit(), layout.units()) {
            (Some(_), _) => Units::Below,
            (None, Some(units)) => Units::Columns(units),
            (None, None) => Units::Cells,
        }
    }

    /// What stands behind the heading of a column.
    fn of_column(&self, column: usize) -> String {
        match self {
            Units::Columns(units) => match units.get(column).copied().unwrap_or("") {
                "" => String::new(),
                unit => format!(" [{unit}]"),
            },
            Units::Below | Units::Cells => String::new(),
        }
    }
}

/// The headings of the columns, a row for each level of their labels.
fn head(layout: &Layout<'_>, units: &Units<'_>, html: &mut String) {
    let levels = layout
        .columns
        .first()
        .map_or(0, |labels| labels.len())
        .max(1);
    let width = layout.rows.first().map_or(0, |labels| labels.len());
    html.push_str("<thead>\n");
    for level in 0..levels {
        html.push_str("<tr>");
        if level == 0 && width > 0 {
            for i in 0..width {
                let name = layout.corner.get(i).copied().unwrap_or("");
                let _ = write!(html, "<th rowspan=\"{levels}\">{}</th>", escape(name));
            }
        }
        for (i, span) in spans(&layout.columns, level).into_iter().enumerate() {
            // Headings of the lowest level have a column each.
            let unit = match level + 1 == levels {
                true => units.of_column(i),
                false => String::new(),
            };
            let joined = if span.length > 1 { " joined" } else { "" };
            let _ = write!(
                html,
                "<th class=\"number{joined}\" colspan=\"{}\">{}{}</th>",
                span.length,
                escape(span.label),
                escape(&unit)
            );
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</thead>\n");
}

fn body(
    table: &TableData,
    layout: &Layout<'_>,
    units: &Units<'_>,
    notes: &mut Notes,
    html: &mut String,
) {
    let with_unit = matches!(units, Units::Cells);
    let pairs = table.has_published();
    let levels = layout.rows.first().map_or(0, |labels| labels.len());
    // At which row each heading begins, level by level.
    let begins: Vec<Vec<(usize, bentpipe_study::Span<'_>)>> = (0..levels)
        .map(|level| {
            let mut at = 0;
            let spans = spans(&layout.rows, level).into_iter();
            spans
                .map(|span| {
                    let begin = at;
                    at += span.length;
                    (begin, span)
                })
                .collect()
        })
        .collect();
    html.push_str("<tbody>\n");
    for (i, row) in layout.cells.iter().enumerate() {
        let ruled = levels > 1 && i > 0 && begins[0].iter().any(|(at, _)| *at == i);
        html.push_str(if ruled {
            "<tr class=\"ruled\">"
        } else {
            "<tr>"
        });
        for level in &begins {
            if let Some((_, span)) = level.iter().find(|(at, _)| *at == i) {
                let _ = write!(
                    html,
                    "<th scope=\"row\" rowspan=\"{}\">{}</th>",
                    span.length,
                    escape(span.label)
                );
            }
        }
        for cell in row {
            number(cell, with_unit, pairs, notes, html);
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n");
}

/// The notes of a table, numbered as they come.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
}

impl Notes {
    fn number(&mut self, text: &str) -> usize {
        let known = self.texts.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        }) + 1
    }
}

fn number(cell: &TableCell, with_unit: bool, pairs: bool, notes: &mut Notes, html: &mut String) {
    let digits = |x: f64| study::decimal(Some(x), cell.decimals);
    let unit = match with_unit && !cell.unit.is_empty() {
        true => format!(" {}", cell.unit),
        false => String::new(),
    };
    let mut classes = vec!["number".to_owned(), shade(cell.relative_error)];
    if cell.verdict == CellVerdict::Worse {
        classes.push("worse".to_owned());
    }
    classes.retain(|class| !class.is_empty());
    let said = match (cell.published, cell.ours) {
        (Some(published), Some(ours)) => {
            let error = cell
                .relative_error
                .map_or(String::new(), |e| format!(", {}", study::percent(e)));
            format!(
                "{}, {}: printed {}, ours {}{error}",
                cell.row,
                cell.column,
                digits(published),
                digits(ours)
            )
        }
        _ => String::new(),
    };
    let _ = write!(
        html,
        "<td class=\"{}\" title=\"{}\">",
        classes.join(" "),
        escape(&said)
    );
    if pairs {
        let printed = cell.published.map(|x| digits(x) + &unit);
        let printed = printed.unwrap_or_else(|| "-".to_owned());
        let _ = write!(html, "<span class=\"printed\">{}</span>", escape(&printed));
    }
    let ours = cell.ours.map_or_else(|| "no result".to_owned(), digits);
    let half = cell.ci95.filter(|half| *half > 0.0);
    let half = half.map_or_else(String::new, |half| {
        format!(" <small>± {}</small>", digits(half))
    });
    let _ = write!(html, "<span class=\"ours\">{ours}{}{half}", escape(&unit));
    if !cell.note.is_empty() {
        let _ = write!(html, "<sup>{}</sup>", notes.number(&cell.note));
    }
    html.push_str("</span></td>");
}

/// How near the table, or each column with a bar of its own, is to print.
fn errors(table: &TableData, html: &mut String) {
    let compared: Vec<_> = table.errors.iter().filter(|e| e.cells > 0).collect();
    if compared.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"table\"><table class=\"errors\">\n<thead><tr><th>how near</th><th class=\"number\">cells</th>\
         <th class=\"number\">mean error</th><th class=\"number\">median</th><th class=\"number\">worst</th>\
         <th class=\"number\">of the spread</th><th>verdict</th></tr></thead>\n<tbody>\n",
    );
    let mut reasons = String::new();
    for summary in compared {
        let number = |x: Option<f64>, bar: Option<f64>| {
            let text = x.map_or_else(|| "-".to_owned(), |x| format!("{:.1}%", 100.0 * x));
            let bar = bar.map_or_else(String::new, |x| {
                format!(" <small>(bar {:.1}%)</small>", 100.0 * x)
            });
            format!("<td class=\"number\">{text}{bar}</td>")
        };
        let name = summary.column.as_deref().unwrap_or("the table");
        let verdict = match summary.verdict {
            CellVerdict::Reported | CellVerdict::Missing => "",
            CellVerdict::Ok | CellVerdict::Worse => summary.verdict.name(),
        };
        let recorded = summary.recorded.as_ref().map(on_record);
        let missed = Some(summary.missed.clone()).filter(|missed| !missed.is_empty());
        let reason: Vec<String> = recorded.into_iter().chain(missed).collect();
        if !reason.is_empty() {
            let reason = escape(&reason.join("; "));
            let _ = writeln!(reasons, "<li>{}: {reason}</li>", escape(name));
        }
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"number\">{}</td>{}{}{}{}<td>{}</td></tr>",
            escape(name),
            summary.cells,
            number(summary.mean, summary.mean_bar),
            number(summary.median, summary.median_bar),
            number(summary.worst, summary.worst_bar),
            number(summary.spread, summary.spread_bar),
            verdict
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
    if !reasons.is_empty() {
        let _ = writeln!(html, "<ul class=\"notes\">\n{reasons}</ul>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_is_the_size_and_the_side_of_the_difference() {
        assert_eq!(shade(Some(0.009)), "same");
        assert_eq!(shade(Some(-0.03)), "low1");
        assert_eq!(shade(Some(0.05)), "high2");
        assert_eq!(shade(Some(3.0)), "high4");
        assert_eq!(shade(None), "");
        for class in ["low4", "low1", "same", "high1", "high4", "worse"] {
            assert!(legend().contains(class), "{class}");
            assert!(
                super::super::STYLE.contains(&format!(".{class}")),
                "{class}"
            );
        }
    }
}
