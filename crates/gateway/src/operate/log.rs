//! Logs: lines of text or of JSON on standard error, rate-limited for each kind of line.

use crate::config::{self, Level};
use crate::counters::Number;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber, callsite::Identifier};
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

/// Lines of one kind, which one place of the program writes, within [`PERIOD`].
const MOST: u32 = 20;

/// Period to which [`MOST`] applies.
const PERIOD: Duration = Duration::from_secs(10);

/// Changes the level while the process runs.
#[derive(Debug)]
pub struct LogLevel(reload::Handle<EnvFilter, Registry>);

impl LogLevel {
    /// Puts another level into force.
    pub fn set(&self, level: Level) {
        // It fails only where the subscriber is gone.
        drop(self.0.reload(filter(level)));
    }
}

/// Starts to log as `config` says. `suppressed` counts the lines that are left out;
/// `None` where something else logs already.
#[must_use]
pub fn start(config: &config::Log, suppressed: Arc<dyn Fn() + Send + Sync>) -> Option<LogLevel> {
    let (level, handle) = reload::Layer::new(filter(config.level));
    let limit = Limit::new(suppressed);
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let is_screen = !is_dumb && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let lines = if config.json {
        let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
        layer
            .with_writer(std::io::stderr)
            .with_filter(limit)
            .boxed()
    } else {
        let layer = tracing_subscriber::fmt::layer()
            .with_target(false)
            .with_ansi(is_screen)
            .with_writer(std::io::stderr);
        // The journal has its own clock.
        match journal {
            true => layer.without_time().with_filter(limit).boxed(),
            false => layer.with_filter(limit).boxed(),
        }
    };
    let subscriber = Registry::default().with(level).with(lines);
    subscriber.try_init().ok()?;
    Some(LogLevel(handle))
}

/// The crate's own lines at `level`, those of its libraries from warnings on.
/// `RUST_LOG` takes precedence, for developers.
fn filter(level: Level) -> EnvFilter {
    let own = match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    let others = own.min(LevelFilter::WARN);
    EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new(format!("{others},bentpipe_gateway={own}")))
}

/// Leaves out lines of a kind that comes too often, and counts them.
struct Limit {
    seen: Mutex<HashMap<Identifier, (Instant, u32)>>,
    suppressed: Arc<dyn Fn() + Send + Sync>,
}

impl Limit {
    fn new(suppressed: Arc<dyn Fn() + Send + Sync>) -> Limit {
        Limit {
            seen: Mutex::default(),
            suppressed,
        }
    }

    fn passes(&self, metadata: &Metadata<'_>, now: Instant) -> bool {
        // Whoever asks for details gets all of them.
        if *metadata.level() > tracing::Level::INFO {
            return true;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = seen.entry(metadata.callsite()).or_insert((now, 0));
        if now.duration_since(*since) >= PERIOD {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= MOST
    }
}

impl<S: Subscriber> Filter<S> for Limit {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let passes = self.passes(event.metadata(), Instant::now());
        if !passes {
            (self.suppressed)();
        }
        passes
    }
}

/// Counts the lines that are suppressed.
#[must_use]
pub fn counting(state: &Arc<super::SharedState>) -> Arc<dyn Fn() + Send + Sync> {
    let state = Arc::clone(state);
    Arc::new(move || Number::increment(&state.counters.log_lines_suppressed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_flood_of_one_kind_is_cut_and_counted() {
        let left_out = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&left_out);
        let limit = Limit::new(Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let written = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&written);
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(move || Writer(Arc::clone(&to)))
            .with_filter(limit);
        tracing::subscriber::with_default(Registry::default().with(layer), || {
            for i in 0..100 {
                tracing::info!(i, "a flood");
            }
            tracing::info!("another kind");
        });
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("a flood").count(), MOST as usize);
        assert!(text.contains("another kind"));
        assert_eq!(left_out.load(Ordering::Relaxed), 100 - MOST);
    }

    struct Writer(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Writer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
