//! A page that works offline: one file, no address outside it, and no script
//! unless one is put in with [`Page::markup`].

use crate::table::{Align, Row, Table, Tone};
use crate::xml::{escape, escape_into};

const STYLE: &str = include_str!("page.css");

/// A page under construction; blocks appear in the order in which they are
/// added.
///
/// In headings, paragraphs, lists and captions, text between backticks is set
/// as code. All text is escaped.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    headings: Vec<(String, String)>,
    style: String,
    contents: bool,
}

impl Page {
    /// A page with a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            body: String::new(),
            headings: Vec::new(),
            style: String::new(),
            contents: true,
        }
    }

    /// Adds rules to the style; they must be trusted and need nothing from outside.
    #[must_use]
    pub fn style(mut self, css: &str) -> Self {
        self.style.push_str(css);
        self
    }

    /// Leaves out the list of headings that a long page begins with.
    #[must_use]
    pub fn without_contents(mut self) -> Self {
        self.contents = false;
        self
    }

    /// Adds a heading; with four or more, the page begins with a list of them.
    #[must_use]
    pub fn heading(mut self, text: &str) -> Self {
        let anchor = format!("s{}", self.headings.len() + 1);
        self.body
            .push_str(&format!("<h2 id=\"{anchor}\">{}</h2>\n", inline(text)));
        self.headings.push((anchor, text.to_owned()));
        self
    }

    /// Adds a smaller heading, which is not listed.
    #[must_use]
    pub fn subheading(mut self, text: &str) -> Self {
        self.body.push_str(&format!("<h3>{}</h3>\n", inline(text)));
        self
    }

    /// Appends a paragraph; backticks set code.
    #[must_use]
    pub fn paragraph(mut self, text: &str) -> Self {
        self.body.push_str(&format!("<p>{}</p>\n", inline(text)));
        self
    }

    /// Adds a list of points.
    #[must_use]
    pub fn list<'a>(mut self, points: impl IntoIterator<Item = &'a str>) -> Self {
        self.body.push_str("<ul>\n");
        for point in points {
            self.body.push_str(&format!("<li>{}</li>\n", inline(point)));
        }
        self.body.push_str("</ul>\n");
        self
    }

    /// Adds preformatted text, with its line breaks: a scenario, a log.
    #[must_use]
    pub fn preformatted(mut self, text: &str) -> Self {
        self.body.push_str("<pre><code>");
        for (i, line) in text.lines().enumerate() {
            if i > 0 {
                self.body.push('\n');
            }
            escape_into(&mut self.body, line);
        }
        self.body.push_str("</code></pre>\n");
        self
    }

    /// Appends a table.
    #[must_use]
    pub fn table(mut self, table: &Table) -> Self {
        write_table(&mut self.body, table);
        self
    }

    /// Adds a figure from the SVG of [`crate::plot::Chart::to_svg`], which is
    /// inserted as it is: it must be well-formed and trusted. The caption may
    /// be empty.
    #[must_use]
    pub fn figure(mut self, svg: &str, caption: &str) -> Self {
        self.body.push_str("<figure>\n");
        self.body.push_str(svg.trim());
        if !caption.trim().is_empty() {
            self.body
                .push_str(&format!("\n<figcaption>{}</figcaption>", inline(caption)));
        }
        self.body.push_str("\n</figure>\n");
        self
    }

    /// Adds markup as it is: it must be well-formed and trusted, and need
    /// nothing from outside the page. This is where a script may come in.
    #[must_use]
    pub fn markup(mut self, html: &str) -> Self {
        self.body.push_str(html.trim());
        self.body.push('\n');
        self
    }

    /// The page as one file.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut out = String::with_capacity(self.body.len() + STYLE.len() + 1024);
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
        out.push_str(&format!(
            "<title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n",
            self.style
        ));
        out.push_str(&format!(
            "<body>\n<main>\n<h1>{}</h1>\n",
            inline(&self.title)
        ));
        if self.contents && self.headings.len() >= 4 {
            out.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
            for (anchor, text) in &self.headings {
                out.push_str(&format!(
                    "<li><a href=\"#{anchor}\">{}</a></li>\n",
                    inline(text)
                ));
            }
            out.push_str("</ul>\n</nav>\n");
        }
        out.push_str(&self.body);
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }
}

/// Escapes a text and sets the text between backticks as code. A backtick without a partner stays
/// one.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, next)) = after.split_once('`') else {
            break;
        };
        escape_into(&mut out, before);
        out.push_str("<code>");
        escape_into(&mut out, code);
        out.push_str("</code>");
        rest = next;
    }
    escape_into(&mut out, rest);
    out
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Warn => Some("warn"),
        Tone::Bad => Some("bad"),
        Tone::Faint => Some("faint"),
        Tone::Strong => Some("strong"),
    }
}

fn write_table(out: &mut String, table: &Table) {
    let sides = table.sides();
    out.push_str("<div class=\"table\">\n<table>\n");
    if !table.title.trim().is_empty() {
        out.push_str(&format!(
            "<caption>{}</caption>\n",
            inline(table.title.trim())
        ));
    }
    let cell = |out: &mut String, tag: &str, side: Align, tone: Tone, text: &str| {
        let mut classes: Vec<&str> = Vec::new();
        classes.extend((side == Align::Right).then_some("number"));
        classes.extend(class(tone));
        out.push('<');
        out.push_str(tag);
        if !classes.is_empty() {
            out.push_str(&format!(" class=\"{}\"", classes.join(" ")));
        }
        out.push_str(&format!(">{}</{tag}>", escape(text.trim())));
    };
    if table.columns.iter().any(|c| !c.heading.trim().is_empty()) {
        out.push_str("<thead>\n<tr>");
        for (i, side) in sides.iter().enumerate() {
            let heading = table.columns.get(i).map_or("", |c| c.heading.as_str());
            cell(out, "th", *side, Tone::Plain, heading);
        }
        out.push_str("</tr>\n</thead>\n");
    }
    out.push_str("<tbody>\n");
    let mut ruled = false;
    for row in &table.rows {
        let Row::Cells(cells) = row else {
            ruled = true;
            continue;
        };
        out.push_str(if ruled {
            "<tr class=\"ruled\">"
        } else {
            "<tr>"
        });
        ruled = false;
        for (i, side) in sides.iter().enumerate() {
            let (tone, text) = cells
                .get(i)
                .map_or((Tone::Plain, ""), |c| (c.tone, c.text.as_str()));
            cell(out, "td", *side, tone, text);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    if !table.note.trim().is_empty() {
        out.push_str(&format!(
            "<p class=\"note\">{}</p>\n",
            inline(table.note.trim())
        ));
    }
    out.push_str("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Chart;
    use crate::table::{Cell, Column};

    fn page() -> Page {
        let mut table = Table::new([Column::text("name"), Column::number("time [s]")]).title("T");
        table.row([Cell::new("a < b"), Cell::new("2").tone(Tone::Bad)]);
        table.rule();
        table.row(["c"]);
        Page::new("R & D")
            .heading("One")
            .paragraph("Run `bentpipe <file>`; a lone ` stays.")
            .list(["x", "y & z"])
            .table(&table)
            .preformatted("[link]\nrate = \"2 Mbit/s\"\n")
            .figure(&Chart::new("Empty").to_svg(), "A `figure`")
    }

    #[test]
    fn a_page_is_well_formed_and_offline() {
        let html = page().to_html();
        let (_, body) = html.split_once('\n').expect("a document type");
        roxmltree::Document::parse(body).expect("well-formed");
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("<script"));
        assert!(html.contains("<code>bentpipe &lt;file&gt;</code>; a lone ` stays."));
        assert!(html.contains("<td class=\"number bad\">2</td>"));
        assert!(html.contains("<tr class=\"ruled\"><td>c</td><td class=\"number\"></td></tr>"));
        assert!(!html.contains("<nav"));
    }

    #[test]
    fn long_pages_begin_with_their_headings() {
        let page = ["a", "b", "c", "d"]
            .into_iter()
            .fold(Page::new("t"), Page::heading);
        assert!(page.to_html().contains("<li><a href=\"#s4\">d</a></li>"));
        assert!(!page.without_contents().to_html().contains("<nav"));
    }
}
