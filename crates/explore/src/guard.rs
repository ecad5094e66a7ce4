//! Who may ask: pages of this server in a browser that was given the token.
//!
//! - The `Host` must be one of this machine's loopback names with our port, so that a name
//!   that was rebound to 127.0.0.1 gets nothing (DNS rebinding).
//! - An `Origin` must be our own, and so must `Sec-Fetch-Site` where a browser sends it, so
//!   that other sites cannot ask.
//! - Everything but a visit with the token needs the token, as a cookie that scripts cannot
//!   read and that other sites send with nothing but a visit to the page.
//! - Answers may load and run nothing that does not come from here.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::Arc;

/// What the guard compares with.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The secret.
    token: Arc<str>,
    /// The port that the server listens on.
    port: u16,
}

/// A secret of 128 bits, in hexadecimal digits; `None` if the system has no
/// randomness.
#[must_use]
pub fn secret() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Guard {
    /// A guard of the server on `port` that lets in who has the `token`.
    #[must_use]
    pub fn new(token: &str, port: u16) -> Guard {
        Guard {
            token: token.into(),
            port,
        }
    }

    /// The address to open in a browser.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The name of the cookie: cookies do not know ports.
    fn cookie(&self) -> String {
        format!("bentpipe-{}", self.port)
    }

    fn is_ours(&self, host: &str) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let is_this = |name: &&str| {
            host == format!("{name}:{}", self.port) || (self.port == 80 && host == *name)
        };
        names.iter().any(is_this)
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && self.is_token(value))
    }

    /// Compares in a time that does not depend on where they differ.
    fn is_token(&self, given: &str) -> bool {
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        let differ = given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
        given.len() == token.len() && differ == 0
    }
}

/// Answers or refuses a request, and adds what every answer carries.
pub(crate) async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let refused = refused(&guard, request.method(), request.uri(), request.headers());
    let mut response = match refused {
        // A redirection leads to a second request.
        Some(response) if response.status().is_redirection() => response,
        Some(mut response) => {
            // Its body is not read, and who may not ask need not stay.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
        None => next.run(request).await,
    };
    protect(response.headers_mut());
    response
}

/// The answer to a request that gets no other; `None` if it may pass.
fn refused(guard: &Guard, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let text = |name: header::HeaderName| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let no = |status: StatusCode, why: &'static str| Some((status, why).into_response());
    // All of them: what is between the browser and here may take another than the first.
    let all = |name: header::HeaderName, is_ours: &dyn Fn(&str) -> bool| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| is_ours(value.to_str().unwrap_or("?")))
    };
    let is_our_host = |host: &str| guard.is_ours(host);
    let authority = uri.authority().map(|authority| authority.as_str());
    if !headers.contains_key(header::HOST)
        || !all(header::HOST, &is_our_host)
        || !authority.is_none_or(is_our_host)
    {
        return no(
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers to 127.0.0.1 and localhost only\n",
        );
    }
    let is_our_origin = |origin: &str| {
        origin
            .strip_prefix("http://")
            .is_some_and(|host| guard.is_ours(host))
    };
    if !all(header::ORIGIN, &is_our_origin) {
        return no(StatusCode::FORBIDDEN, "other sites may not ask\n");
    }
    let token = uri.query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == "token").map(|(_, v)| v)
    });
    if uri.path() == "/" && method == Method::GET && token.is_some_and(|t| guard.is_token(t)) {
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Lax",
            guard.cookie(),
            guard.token
        );
        let head = [
            (header::SET_COOKIE, cookie),
            (header::LOCATION, "/".to_owned()),
        ];
        return Some((StatusCode::SEE_OTHER, head).into_response());
    }
    let site = headers.get("sec-fetch-site");
    let site = site.map(|value| value.to_str().unwrap_or("?"));
    // A visit by a link or the address bar shows the page, which asks nothing by itself.
    let is_visit = uri.path() == "/" && method == Method::GET;
    if !is_visit && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return no(StatusCode::FORBIDDEN, "other sites may not ask\n");
    }
    if !guard.has_token(headers) {
        return no(
            StatusCode::UNAUTHORIZED,
            "open the address that `bentpipe explore` printed: it has the token in it\n",
        );
    }
    if method == Method::POST {
        let kind = text(header::CONTENT_TYPE).unwrap_or_default();
        if !kind.starts_with("application/json") && !kind.starts_with("application/octet-stream") {
            return no(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a request is JSON or bytes\n",
            );
        }
    }
    None
}

/// The nonce of one answer's style elements travels in this header from the handler to
/// [`protect`], and no further.
pub(crate) const NONCE: &str = "x-bentpipe-nonce";

/// What every answer carries.
fn protect(headers: &mut HeaderMap) {
    let nonce = headers.remove(NONCE);
    let nonce = nonce.as_ref().and_then(|value| value.to_str().ok());
    let style = nonce.map_or_else(String::new, |nonce| format!(" 'nonce-{nonce}'"));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'{style}; img-src 'self' data: \
         blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        (
            "permissions-policy",
            "geolocation=(), camera=(), microphone=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
