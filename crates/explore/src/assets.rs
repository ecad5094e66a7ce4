//! The files of the page, which are in the program.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::path::Path;

/// A file of the page.
struct File {
    /// Path below `/`, with slashes.
    name: &'static str,
    /// Bytes before compression.
    length: u32,
    /// Checksum of them (RFC 1952).
    crc: u32,
    /// The bytes, deflated (RFC 1951).
    deflated: &'static [u8],
}

const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// What the page's own style elements carry; replaced in each answer.
const NONCE: &str = "__NONCE__";

/// The file of that name: of the program, or of the folder where there is one.
fn find(name: &str, folder: Option<&Path>) -> Option<Content> {
    if let Some(folder) = folder {
        let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
        let is_path = name.split('/').all(is_plain) && !name.contains(['\\', '%', '\0']);
        let bytes = is_path.then(|| std::fs::read(folder.join(name)).ok());
        return bytes.flatten().map(Content::Plain);
    }
    let file = FILES.iter().find(|file| file.name == name)?;
    Some(Content::Deflated(file))
}

/// The bytes of a file.
enum Content {
    /// As they are.
    Plain(Vec<u8>),
    /// In the program.
    Deflated(&'static File),
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Content::Plain(bytes) => bytes.clone(),
            Content::Deflated(file) => file.bytes(),
        }
    }
}

/// True if the page was built into this program.
#[must_use]
pub fn is_built() -> bool {
    find("index.html", None).is_some()
}

/// The file at a path such as `/assets/main.js`; `/` is the page itself, whose style
/// elements carry `nonce`. With a `folder` the files are read from there, for work on the
/// page itself.
pub(crate) fn serve(
    path: &str,
    headers: &HeaderMap,
    nonce: &str,
    folder: Option<&Path>,
) -> Response {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = find(name, folder) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let kind = kind(name);
    if name == "index.html" {
        let text = String::from_utf8_lossy(&file.bytes()).replace(NONCE, nonce);
        let head = [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, "no-store"),
        ];
        return (head, text).into_response();
    }
    // Names of assets carry a hash of their content.
    let kept = match name.starts_with("assets/") {
        true => "private, max-age=31536000, immutable",
        false => "no-cache",
    };
    let head = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, kept),
        (header::VARY, "accept-encoding"),
    ];
    let accepted = headers.get(header::ACCEPT_ENCODING);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    let takes_gzip = accepted.is_some_and(|value| value.contains("gzip"));
    match file {
        Content::Deflated(file) if takes_gzip => {
            let gzip = [(header::CONTENT_ENCODING, "gzip")];
            (head, gzip, Body::from(file.gzip())).into_response()
        }
        file => (head, Body::from(file.bytes())).into_response(),
    }
}

impl File {
    /// The bytes of the file.
    fn bytes(&self) -> Vec<u8> {
        // They were compressed when the program was built.
        miniz_oxide::inflate::decompress_to_vec(self.deflated).unwrap_or_default()
    }

    /// The bytes as a gzip member (RFC 1952).
    fn gzip(&self) -> Vec<u8> {
        let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
        member.extend_from_slice(self.deflated);
        member.extend_from_slice(&self.crc.to_le_bytes());
        member.extend_from_slice(&self.length.to_le_bytes());
        member
    }
}

/// The media type of a file by its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
