//! SVG to PDF: one page as large as the picture. Lines and shapes stay what they
//! are; text is set in the fonts of this crate, which are embedded, so that it can
//! be searched and copied. A text with characters that these fonts lack is drawn as
//! outlines.

use std::collections::{BTreeMap, BTreeSet};

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, TextRenderingMode, UnicodeCmap,
};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use resvg::tiny_skia::{Path, PathSegment, Transform};
use resvg::usvg::{self, Fill, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Stroke, Text};
use ttf_parser::Face;

use crate::font::{self, Weight};
use crate::png::{PngError, tree};

/// Points of a PDF per unit of an SVG: 96 to an inch become 72.
const SCALE: f32 = 0.75;

/// Writes an SVG as a PDF.
///
/// # Errors
/// If it is not SVG.
pub fn render(svg: &str) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let mut painter = Painter {
        content: Content::new(),
        base: Transform::from_row(SCALE, 0.0, 0.0, -SCALE, 0.0, size.height() * SCALE),
        opacities: BTreeMap::new(),
        fonts: BTreeMap::new(),
    };
    painter.group(tree.root(), 1.0);
    Ok(document(
        painter,
        size.width() * SCALE,
        size.height() * SCALE,
    ))
}

struct Painter {
    content: Content,
    /// From the SVG to the page, whose y axis points upwards.
    base: Transform,
    /// Opacities in thousandths, with their numbers.
    opacities: BTreeMap<u32, usize>,
    /// The characters that each font shows; the bold one is `true`.
    fonts: BTreeMap<bool, BTreeSet<char>>,
}

fn numbers(t: Transform) -> [f32; 6] {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]
}

/// A colour; of a gradient or pattern, which figures do not use, its first.
fn colour(paint: &Paint) -> (f32, f32, f32) {
    let of = |c: usvg::Color| {
        let part = |x: u8| f32::from(x) / 255.0;
        (part(c.red), part(c.green), part(c.blue))
    };
    let first = |stops: &[usvg::Stop]| stops.first().map_or((0.5, 0.5, 0.5), |s| of(s.color()));
    match paint {
        Paint::Color(c) => of(*c),
        Paint::LinearGradient(g) => first(g.stops()),
        Paint::RadialGradient(g) => first(g.stops()),
        Paint::Pattern(_) => (0.5, 0.5, 0.5),
    }
}

impl Painter {
    fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        let clip = group.clip_path();
        if let Some(clip) = clip {
            self.content.save_state();
            let to_page = self
                .base
                .pre_concat(group.abs_transform().pre_concat(clip.transform()));
            self.clip(clip.root(), to_page);
        }
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, opacity),
                Node::Path(path) if path.is_visible() => self.path(path, opacity),
                Node::Text(text) => self.text(text, opacity),
                Node::Path(_) | Node::Image(_) => {}
            }
        }
        if clip.is_some() {
            self.content.restore_state();
        }
    }

    /// Restricts what follows to the shapes of a group.
    fn clip(&mut self, group: &Group, to_page: Transform) {
        for node in group.children() {
            if let Node::Path(path) = node
                && let Some(outline) = path.data().clone().transform(to_page)
            {
                self.outline(&outline);
            }
        }
        self.content.clip_nonzero();
        self.content.end_path();
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    self.content.move_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    self.content.line_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::QuadTo(c, p) => {
                    let third = |from: f32, to: f32| from + 2.0 / 3.0 * (to - from);
                    self.content.cubic_to(
                        third(last.0, c.x),
                        third(last.1, c.y),
                        third(p.x, c.x),
                        third(p.y, c.y),
                        p.x,
                        p.y,
                    );
                    last = (p.x, p.y);
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn opacity(&mut self, opacity: f32) {
        let thousandths = (opacity.clamp(0.0, 1.0) * 1000.0).round() as u32;
        if thousandths == 1000 {
            return;
        }
        let next = self.opacities.len();
        let number = *self.opacities.entry(thousandths).or_insert(next);
        self.content
            .set_parameters(Name(format!("O{number}").as_bytes()));
    }

    fn set_fill(&mut self, fill: &Fill, opacity: f32) {
        let (r, g, b) = colour(fill.paint());
        self.content.set_fill_rgb(r, g, b);
        self.opacity(opacity * fill.opacity().get());
    }

    fn set_stroke(&mut self, stroke: &Stroke, opacity: f32) {
        let (r, g, b) = colour(stroke.paint());
        self.content.set_stroke_rgb(r, g, b);
        self.content.set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
        });
        if let Some(dashes) = stroke.dasharray() {
            self.content
                .set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
        self.opacity(opacity * stroke.opacity().get());
    }

    fn path(&mut self, path: &usvg::Path, opacity: f32) {
        let to_page = self.base.pre_concat(path.abs_transform());
        let fill = |painter: &mut Self| {
            let Some(fill) = path.fill() else { return };
            painter.content.save_state();
            painter.content.transform(numbers(to_page));
            painter.set_fill(fill, opacity);
            painter.outline(path.data());
            match fill.rule() {
                usvg::FillRule::NonZero => painter.content.fill_nonzero(),
                usvg::FillRule::EvenOdd => painter.content.fill_even_odd(),
            };
            painter.content.restore_state();
        };
        let stroke = |painter: &mut Self| {
            let Some(stroke) = path.stroke() else { return };
            painter.content.save_state();
            painter.content.transform(numbers(to_page));
            painter.set_stroke(stroke, opacity);
            painter.outline(path.data());
            painter.content.stroke();
            painter.content.restore_state();
        };
        match path.paint_order() {
            PaintOrder::FillAndStroke => {
                fill(self);
                stroke(self);
            }
            PaintOrder::StrokeAndFill => {
                stroke(self);
                fill(self);
            }
        }
    }

    fn text(&mut self, text: &Text, opacity: f32) {
        let to_page = self.base.pre_concat(text.abs_transform());
        let known = |c: char| font::glyph(c, Weight::Regular).is_some();
        if !text
            .chunks()
            .iter()
            .all(|chunk| chunk.text().chars().all(known))
        {
            self.group(text.flattened(), opacity);
            return;
        }
        for chunk in text.chunks() {
            let Some(span) = chunk.spans().first() else {
                continue;
            };
            let bold = span.font().weight() >= 600;
            let weight = if bold { Weight::Bold } else { Weight::Regular };
            let size = span.font_size().get();
            let width = font::width(chunk.text(), f64::from(size), weight) as f32;
            let x = chunk.x().unwrap_or(0.0)
                - match chunk.anchor() {
                    usvg::TextAnchor::Start => 0.0,
                    usvg::TextAnchor::Middle => width / 2.0,
                    usvg::TextAnchor::End => width,
                };
            let glyphs: Vec<u8> = chunk
                .text()
                .chars()
                .flat_map(|c| font::glyph(c, weight).unwrap_or(0).to_be_bytes())
                .collect();
            self.fonts
                .entry(bold)
                .or_default()
                .extend(chunk.text().chars());
            // Text has its own y axis, upwards.
            let place = Transform::from_row(1.0, 0.0, 0.0, -1.0, x, chunk.y().unwrap_or(0.0));
            let show = |painter: &mut Self, mode: TextRenderingMode| {
                painter.content.begin_text();
                painter.content.set_text_rendering_mode(mode);
                painter.content.set_font(font_name(bold), size);
                painter.content.set_text_matrix(numbers(place));
                painter.content.show(Str(&glyphs));
                painter.content.end_text();
            };
            self.content.save_state();
            self.content.transform(numbers(to_page));
            if let Some(stroke) = span.stroke() {
                self.content.save_state();
                self.set_stroke(stroke, opacity);
                show(self, TextRenderingMode::Stroke);
                self.content.restore_state();
            }
            if let Some(fill) = span.fill() {
                self.set_fill(fill, opacity);
                show(self, TextRenderingMode::Fill);
            }
            self.content.restore_state();
        }
    }
}

fn font_name(bold: bool) -> Name<'static> {
    Name(if bold { b"Bold" } else { b"Regular" })
}

/// The file around what was painted.
fn document(painter: Painter, width: f32, height: f32) -> Vec<u8> {
    let mut last = 0;
    let mut next = || {
        last += 1;
        Ref::new(last)
    };
    let (catalog, pages, page, content) = (next(), next(), next(), next());
    let fonts: Vec<(bool, BTreeSet<char>, FontRefs)> = painter
        .fonts
        .into_iter()
        .map(|(bold, shown)| {
            let refs = FontRefs {
                font: next(),
                glyphs: next(),
                descriptor: next(),
                file: next(),
                characters: next(),
            };
            (bold, shown, refs)
        })
        .collect();
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    {
        let mut page = pdf.page(page);
        page.media_box(Rect::new(0.0, 0.0, width, height));
        page.parent(pages).contents(content);
        let mut resources = page.resources();
        let mut names = resources.fonts();
        for (bold, _, refs) in &fonts {
            names.pair(font_name(*bold), refs.font);
        }
        names.finish();
        let mut states = resources.ext_g_states();
        for (thousandths, number) in &painter.opacities {
            let opacity = *thousandths as f32 / 1000.0;
            let name = format!("O{number}");
            let mut state = states
                .insert(Name(name.as_bytes()))
                .start::<pdf_writer::writers::ExtGraphicsState<'_>>();
            state.non_stroking_alpha(opacity).stroking_alpha(opacity);
        }
    }
    let painted = compress_to_vec_zlib(&painter.content.finish(), 8);
    pdf.stream(content, &painted).filter(Filter::FlateDecode);
    for (bold, shown, refs) in &fonts {
        embed(&mut pdf, *bold, shown, refs);
    }
    pdf.finish()
}

struct FontRefs {
    font: Ref,
    glyphs: Ref,
    descriptor: Ref,
    file: Ref,
    characters: Ref,
}

/// Embeds a font of this crate; `shown` are the characters that are used.
fn embed(pdf: &mut Pdf, bold: bool, shown: &BTreeSet<char>, refs: &FontRefs) {
    let (data, name, weight) = if bold {
        (font::BOLD, "DejaVuSans-Bold", Weight::Bold)
    } else {
        (font::REGULAR, "DejaVuSans", Weight::Regular)
    };
    let base = Name(name.as_bytes());
    let info = SystemInfo {
        registry: Str(b"Adobe"),
        ordering: Str(b"Identity"),
        supplement: 0,
    };
    pdf.type0_font(refs.font)
        .base_font(base)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(refs.glyphs)
        .to_unicode(refs.characters);
    let mut used: BTreeMap<u16, char> = BTreeMap::new();
    for c in shown {
        if let Some(glyph) = font::glyph(*c, weight) {
            used.entry(glyph).or_insert(*c);
        }
    }
    {
        let mut glyphs = pdf.cid_font(refs.glyphs);
        glyphs
            .subtype(CidFontType::Type2)
            .base_font(base)
            .system_info(info)
            .font_descriptor(refs.descriptor)
            .default_width(0.0)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = glyphs.widths();
        for (glyph, c) in &used {
            let width = font::width(&c.to_string(), 1000.0, weight) as f32;
            widths.consecutive(*glyph, [width]);
        }
    }
    let face = Face::parse(data, 0).ok();
    let measure = |of: fn(&Face<'_>) -> i16| {
        face.as_ref().map_or(0.0, |face| {
            f32::from(of(face)) * 1000.0 / f32::from(face.units_per_em())
        })
    };
    pdf.font_descriptor(refs.descriptor)
        .name(base)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(
            measure(|f| f.global_bounding_box().x_min),
            measure(|f| f.global_bounding_box().y_min),
            measure(|f| f.global_bounding_box().x_max),
            measure(|f| f.global_bounding_box().y_max),
        ))
        .italic_angle(0.0)
        .ascent(measure(|f| f.ascender()))
        .descent(measure(|f| f.descender()))
        .cap_height(measure(|f| f.capital_height().unwrap_or_default()))
        .stem_v(if bold { 140.0 } else { 80.0 })
        .font_file2(refs.file);
    let file = compress_to_vec_zlib(data, 8);
    pdf.stream(refs.file, &file)
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), i32::try_from(data.len()).unwrap_or(0));
    let mut characters = UnicodeCmap::<u16>::new(Name(b"Characters"), info);
    for (glyph, c) in &used {
        characters.pair(*glyph, *c);
    }
    pdf.stream(refs.characters, &characters.finish());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Chart, Panel, Series};

    fn chart() -> String {
        let panel = Panel::xy(Axis::linear("Time (s)"), Axis::log("Rate (Mbit/s)")).series(
            Series::line("cubic", [(0.0, 1.0), (1.0, 20.0)]).band([(0.5, 2.0), (10.0, 30.0)]),
        );
        Chart::new("A title").panel(panel).to_svg()
    }

    #[test]
    fn a_page_has_its_size_its_fonts_and_the_same_bytes_each_time() {
        let pdf = render(&chart()).expect("a PDF");
        assert!(pdf.starts_with(b"%PDF-"));
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains("/MediaBox [0 0 570"), "{}", &text[..400]);
        for part in [
            "/DejaVuSans\n",
            "/DejaVuSans-Bold",
            "/ToUnicode",
            "/ca 0.18",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(pdf.len() < 110_000, "{} bytes", pdf.len());
        assert_eq!(pdf, render(&chart()).expect("a PDF"));
    }

    #[test]
    fn characters_without_a_glyph_are_outlines_or_nothing() {
        let svg = chart().replace("A title", "漢");
        assert!(render(&svg).expect("a PDF").starts_with(b"%PDF-"));
        assert!(render("no svg").is_err());
    }
}
