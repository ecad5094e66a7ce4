//! The server: listens on this machine, and hands requests to the views.

use crate::app::{App, RealHosts};
use crate::folder::{Files, OpenError};
use crate::guard::{self, Guard};
use crate::{Problem, assets, connections, work};
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use bentpipe::compare::Build;
use bentpipe_report::text::shell_word;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a request, at most.
const MOST_BYTES: usize = 4 << 20;

/// How long a request may take to come.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; zero is any that is free.
    pub port: u16,
    /// The secret; `None` makes one.
    pub token: Option<String>,
    /// What to open at first: a scenario, a study, a folder of results or of files.
    /// Nothing outside of its folder is read; without it, nothing of the disk.
    pub open: Option<PathBuf>,
    /// A folder to read the page from, instead of the one in the program.
    pub page: Option<PathBuf>,
    /// What the program was built with.
    pub build: Build,
    /// What runs scenarios on this machine's own TCP.
    pub real_hosts: RealHosts,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The port cannot be had.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The port.
        port: u16,
        /// What the system answered.
        source: io::Error,
    },
    /// There is no randomness for a token.
    #[error("the system has no random numbers for a token")]
    Random,
    /// What was to be opened cannot be.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// Serving failed.
    #[error("{0}")]
    Serve(#[from] io::Error),
}

impl ServerError {
    /// True if another program has the port.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self, ServerError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse)
    }
}

/// A server that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    app: App,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// If the port cannot be had or there is no randomness.
    pub fn listen(settings: Settings) -> Result<Server, ServerError> {
        let files = settings.open.as_deref().map(Files::open).transpose()?;
        let port = settings.port;
        let failed = |source| ServerError::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let token = settings.token.or_else(guard::secret);
        let token = token.ok_or(ServerError::Random)?;
        Ok(Server {
            listener,
            guard: Guard::new(&token, port),
            app: App::new(
                settings.real_hosts,
                settings.build,
                files,
                command(settings.open.as_deref(), port),
                settings.page,
            ),
        })
    }

    /// The address to open in a browser, with the token; at the view of what was opened.
    #[must_use]
    pub fn address(&self) -> String {
        let view = self.app.files.as_ref().map_or("", |files| files.view());
        format!("{}{view}", self.guard.address())
    }

    /// Serves until the process is interrupted.
    ///
    /// # Errors
    /// If the system cannot wait for connections.
    pub fn serve(self) -> Result<(), ServerError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(work::MOST_JOBS + 8)
            .enable_all()
            .build()?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = router(self.app, self.guard);
            let end = async {
                let _ = tokio::signal::ctrl_c().await;
            };
            tokio::select! {
                () = connections::serve(listener, router) => Ok::<_, io::Error>(()),
                () = end => Ok(()),
            }
        })?;
        // Work that goes on is not waited for.
        runtime.shutdown_background();
        Ok(())
    }
}

/// All views behind the guard.
pub(crate) fn router(app: App, guard: Guard) -> Router {
    Router::new()
        .route("/api/hello", get(hello))
        // The page asks this to know whether the server is there.
        .route("/api/alive", get(StatusCode::NO_CONTENT))
        .merge(crate::views())
        .fallback(get(page))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(middleware::from_fn(whole))
        .layer(middleware::from_fn(work::of_tab))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .with_state(app)
}

/// Reads a request to its end before it is answered, within a time and a size.
async fn whole(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let too_large = || {
        let text = format!("a request has at most {} MiB", MOST_BYTES >> 20);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    // What says that it is too large is not waited for.
    if body.size_hint().lower() > MOST_BYTES as u64 {
        return ([(header::CONNECTION, "close")], too_large()).into_response();
    }
    let read = tokio::time::timeout(LONGEST_REQUEST, to_bytes(body, MOST_BYTES)).await;
    let problem = match read {
        Ok(Ok(bytes)) => {
            return next.run(Request::from_parts(head, Body::from(bytes))).await;
        }
        Ok(Err(_)) => too_large(),
        Err(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "the request did not end"),
    };
    // What follows of it is not read.
    ([(header::CONNECTION, "close")], problem).into_response()
}

/// What the page begins with.
async fn hello(State(app): State<App>) -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "options": bentpipe_present::question::fields(),
        "open": app.files.as_ref().map(|files| files.document()),
        "command": &*app.command,
    }))
}

/// The command that starts this server again.
fn command(open: Option<&Path>, port: u16) -> String {
    let open = open.map(|path| shell_word(&path.display().to_string()));
    let open = open.map_or_else(String::new, |path| format!(" {path}"));
    format!("bentpipe explore{open} --port {port}")
}

/// A file of the page.
async fn page(State(app): State<App>, request: Request) -> Response {
    let nonce = guard::secret().unwrap_or_default();
    let folder = app.page.as_deref().map(PathBuf::as_path);
    let mut response = assets::serve(request.uri().path(), request.headers(), &nonce, folder);
    if let Ok(value) = HeaderValue::from_str(&nonce) {
        response.headers_mut().insert(guard::NONCE, value);
    }
    response
}
