//! SVG to PNG, with the fonts of this crate and no others: the picture does not
//! depend on what is installed.

use std::sync::{Arc, OnceLock};

use resvg::{tiny_skia, usvg};

use crate::font;

/// The most pixels that [`render`] draws: 16384 x 4096, 256 MB while it works.
pub const MAX_PIXELS: u64 = 1 << 26;

/// Why an SVG did not become a PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The text is not SVG.
    #[error("not an SVG: {0}")]
    Svg(String),
    /// The picture would be empty, or larger than [`MAX_PIXELS`].
    #[error("a picture of {width} x {height} pixels at scale {scale} cannot be drawn")]
    Size {
        /// Width of the SVG.
        width: f32,
        /// Height of the SVG.
        height: f32,
        /// The scale that was asked for.
        scale: f32,
    },
    /// The PNG could not be written.
    #[error("cannot encode the PNG: {0}")]
    Encode(String),
}

fn fonts() -> Arc<usvg::fontdb::Database> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(font::REGULAR.to_vec());
        fonts.load_font_data(font::BOLD.to_vec());
        fonts.set_sans_serif_family(font::FAMILY);
        Arc::new(fonts)
    });
    Arc::clone(fonts)
}

/// Reads an SVG, with the fonts of this crate.
pub(crate) fn tree(svg: &str) -> Result<usvg::Tree, PngError> {
    let options = usvg::Options {
        fontdb: fonts(),
        font_family: font::FAMILY.to_owned(),
        ..usvg::Options::default()
    };
    usvg::Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))
}

/// Renders an SVG at `scale` pixels per unit: 1 for a screen, 2 for a sharp
/// screen or a document, 3 for print.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let wrong = || PngError::Size {
        width: size.width(),
        height: size.height(),
        scale,
    };
    // A scale that is no positive number saturates to zero pixels here.
    let width = (size.width() * scale).ceil() as u32;
    let height = (size.height() * scale).ceil() as u32;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(wrong());
    }
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or_else(wrong)?;
    resvg::render(
        &tree,
        tiny_skia::Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    pixels
        .encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="red"/></svg>"#;

    fn dimensions(png: &[u8]) -> (u32, u32) {
        let number =
            |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
        (number(16), number(20))
    }

    #[test]
    fn scale_multiplies_pixels() {
        let png = render(SQUARE, 2.0).expect("a PNG");
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(dimensions(&png), (40, 20));
    }

    #[test]
    fn text_is_drawn_without_installed_fonts() {
        let text = SQUARE.replace(
            "</svg>",
            r#"<text x="2" y="8" font-family="No Such Family, sans-serif" font-size="8">Wm</text></svg>"#,
        );
        assert_ne!(
            render(&text, 1.0).expect("a PNG"),
            render(SQUARE, 1.0).expect("a PNG")
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(render("no svg", 1.0), Err(PngError::Svg(_))));
        assert!(matches!(render(SQUARE, 0.0), Err(PngError::Size { .. })));
        assert!(matches!(
            render(SQUARE, f32::NAN),
            Err(PngError::Size { .. })
        ));
        assert!(matches!(render(SQUARE, 1e9), Err(PngError::Size { .. })));
    }
}
