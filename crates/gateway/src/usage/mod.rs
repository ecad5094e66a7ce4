//! What each subscriber carries over the satellite, and how fast it may by its plan; at a hub also what each
//! terminal does, and how fast it may.
//!
//! A box keeps an account of each subscriber that has a connection, and goes on with it while it has
//! one, or its plan a cap or a quota. So that metrics are bounded, the first [`SHOWN`] have series of
//! their own and all others one together.

mod allowance;
mod level;
mod terminals;
mod totals;

pub(crate) use allowance::Allowance;
pub(crate) use terminals::Terminal;
pub(crate) use totals::Class;

use crate::config::{Config, Plan};
use crate::tunnel::keys::PublicKey;
use crate::tunnel::sharing::Subscriber;
use allowance::Terms;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use totals::Totals;

/// Subscribers that have series of their own in the metrics, and most that the status lists.
const SHOWN: usize = 200;
/// Accounts beyond which those without a connection are forgotten, whatever their plan.
const MANY: usize = 65_536;

/// Whose an account is: at a hub, a subscriber of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder {
    pub(crate) terminal: Option<PublicKey>,
    pub(crate) subscriber: Subscriber,
}

/// The account of one subscriber.
#[derive(Debug)]
pub(crate) struct Usage {
    holder: Holder,
    /// Its series, or that of all others.
    totals: Totals,
    others: Option<Arc<Totals>>,
    /// The terminal that it is a subscriber of, at a hub.
    terminal: Option<Arc<Terminal>>,
    /// Connections that are open.
    open: AtomicU64,
    /// It has a cap or a quota.
    limited: AtomicBool,
    weight: AtomicU64,
    terms: Mutex<Terms>,
}

/// All accounts of a box.
#[derive(Debug, Default)]
pub(crate) struct Usages {
    known: Mutex<Known>,
    others: Arc<Totals>,
    classes: [Totals; Class::ALL.len()],
}

#[derive(Debug, Default)]
struct Known {
    accounts: BTreeMap<Holder, Arc<Usage>>,
    shown: usize,
    terminals: BTreeMap<PublicKey, Arc<Terminal>>,
}

/// A connection of a subscriber, as its account knows it.
#[derive(Debug)]
pub(crate) struct Member {
    usages: Arc<Usages>,
    usage: Arc<Usage>,
    class: Class,
}

impl Known {
    fn terminal(&mut self, key: PublicKey, config: &Config) -> Arc<Terminal> {
        let new = || Arc::new(Terminal::new(key.to_string(), config));
        Arc::clone(self.terminals.entry(key).or_insert_with(new))
    }
}

impl Usages {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection of `holder` begins.
    pub(crate) fn join(
        self: &Arc<Usages>,
        holder: Holder,
        class: Class,
        config: &Config,
    ) -> Arc<Member> {
        let mut known = self.known();
        let usage = match known.accounts.get(&holder) {
            Some(usage) => Arc::clone(usage),
            None => {
                let is_shown = known.shown < SHOWN;
                known.shown += usize::from(is_shown);
                let terminal = holder.terminal.map(|key| known.terminal(key, config));
                let usage = Arc::new(Usage {
                    holder,
                    totals: Totals::default(),
                    others: (!is_shown).then(|| Arc::clone(&self.others)),
                    terminal,
                    open: AtomicU64::new(0),
                    limited: AtomicBool::new(false),
                    weight: AtomicU64::new(crate::config::WEIGHT),
                    terms: Mutex::new(Terms::new(Instant::now())),
                });
                usage.renew(config);
                known.accounts.insert(holder, Arc::clone(&usage));
                usage
            }
        };
        usage.open.fetch_add(1, Relaxed);
        if let Some(terminal) = &usage.terminal {
            terminal.open.fetch_add(1, Relaxed);
        }
        drop(known);
        let member = Member {
            usages: Arc::clone(self),
            usage,
            class,
        };
        member.count(|totals| &totals.connections, 1);
        Arc::new(member)
    }

    /// A terminal of this hub.
    pub(crate) fn terminal(&self, key: PublicKey, config: &Config) -> Arc<Terminal> {
        self.known().terminal(key, config)
    }

    /// Another configuration holds.
    pub(crate) fn renew(&self, config: &Config) {
        let known = self.known();
        known.accounts.values().for_each(|it| it.renew(config));
        known.terminals.values().for_each(|it| it.renew(config));
    }

    /// Bytes that were sent and received for all, so far.
    pub(crate) fn carried(&self) -> [u64; 2] {
        let all = self.classes.iter().map(Totals::read);
        all.fold([0, 0], |sum, [sent, received, _]| {
            [sum[0] + sent, sum[1] + received]
        })
    }

    /// Those that carried most, as the status shows them.
    pub(crate) fn status(&self) -> Value {
        let known = self.known();
        let mut all: Vec<&Arc<Usage>> = known.accounts.values().collect();
        let carried = |it: &Usage| it.totals.sent.load(Relaxed) + it.totals.received.load(Relaxed);
        // They go on counting.
        all.sort_by_cached_key(|usage| std::cmp::Reverse(carried(usage)));
        all.iter().take(SHOWN).map(|usage| usage.status()).collect()
    }

    /// The terminals of a hub, as the status shows them.
    pub(crate) fn terminals_status(&self, config: &Config) -> Value {
        let known = self.known();
        let there = known.terminals.values().filter(|it| it.is_there(config));
        there.map(|it| it.status(config)).collect()
    }

    /// The classes, as the status shows them.
    pub(crate) fn classes_status(&self) -> Value {
        let one = |class: Class| {
            let [sent, received, connections] = self.classes[class.place()].read();
            let carried = json!({
                "connections": connections,
                "bytes_sent": sent,
                "bytes_received": received,
            });
            (class.word().to_owned(), carried)
        };
        Value::Object(Class::ALL.map(one).into_iter().collect())
    }

    /// Bytes sent, bytes received and connections, by class.
    pub(crate) fn by_class(&self) -> Vec<(&'static str, [u64; 3])> {
        let one = |class: Class| (class.word(), self.classes[class.place()].read());
        Class::ALL.map(one).into()
    }

    /// The same by the key of the terminal.
    pub(crate) fn by_terminal(&self, config: &Config) -> Vec<(String, [u64; 3])> {
        let known = self.known();
        let there = known.terminals.iter().filter(|it| it.1.is_there(config));
        there
            .map(|(key, it)| (key.to_string(), it.totals.read()))
            .collect()
    }

    /// Bytes sent, bytes received and connections, by the subscriber and its terminal; last those of
    /// all that have no series of their own.
    pub(crate) fn series(&self) -> Vec<(String, String, [u64; 3])> {
        let known = self.known();
        let shown = known.accounts.values().filter(|it| it.others.is_none());
        let one = |usage: &Arc<Usage>| {
            let terminal = usage.holder.terminal.map(|key| key.to_string());
            let subscriber = usage.holder.subscriber.to_string();
            (
                subscriber,
                terminal.unwrap_or_default(),
                usage.totals.read(),
            )
        };
        let mut series: Vec<_> = shown.map(one).collect();
        if known.shown >= SHOWN {
            series.push(("others".to_owned(), String::new(), self.others.read()));
        }
        series
    }
}

impl Usage {
    fn terms(&self) -> MutexGuard<'_, Terms> {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renew(&self, config: &Config) {
        let plan = self.holder.subscriber.net();
        let plan = plan.and_then(|net| config.subscribers.plan(net.address()));
        self.weight.store(
            plan.map_or(crate::config::WEIGHT, |plan| plan.weight),
            Relaxed,
        );
        let limited = plan.is_some_and(Plan::limits);
        self.terms().renew(plan.cloned(), Instant::now());
        self.limited.store(limited, Relaxed);
    }

    fn count(&self, which: fn(&Totals) -> &AtomicU64, count: u64) {
        which(&self.totals).fetch_add(count, Relaxed);
        if let Some(others) = &self.others {
            which(others).fetch_add(count, Relaxed);
        }
        if let Some(terminal) = &self.terminal {
            which(&terminal.totals).fetch_add(count, Relaxed);
        }
    }

    fn status(&self) -> Value {
        let [sent, received, connections] = self.totals.read();
        let mut terms = self.terms();
        json!({
            "subscriber": self.holder.subscriber.to_string(),
            "terminal": self.holder.terminal.map(|key| key.to_string()),
            "plan": terms.plan().map(|plan| plan.name.clone()),
            "weight": self.weight.load(Relaxed),
            "rate_bits_per_second": terms.rate(Instant::now()).map(|rate| rate.bps()),
            "over_quota": terms.is_over(Instant::now()),
            "connections_active": self.open.load(Relaxed),
            "connections": connections,
            "bytes_sent": sent,
            "bytes_received": received,
        })
    }
}

impl Member {
    fn count(&self, which: fn(&Totals) -> &AtomicU64, count: u64) {
        which(&self.usages.classes[self.class.place()]).fetch_add(count, Relaxed);
        self.usage.count(which, count);
    }

    /// How much it gets beside others; 100 where nothing is said.
    pub(crate) fn weight(&self) -> u64 {
        self.usage.weight.load(Relaxed)
    }

    /// Bytes were sent over the satellite.
    pub(crate) fn sent(&self, bytes: u64) {
        self.count(|totals| &totals.sent, bytes);
        if self.is_limited() {
            self.usage.terms().count(bytes, Instant::now());
        }
    }

    /// Bytes came over the satellite.
    pub(crate) fn received(&self, bytes: u64) {
        self.count(|totals| &totals.received, bytes);
    }

    /// Whether it has to ask before it sends.
    pub(crate) fn is_limited(&self) -> bool {
        self.usage.limited.load(Relaxed)
    }

    /// Whether it may send so many bytes now, which are then counted as sent by its plan's cap.
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        !self.is_limited() || self.usage.terms().police(bytes, Instant::now())
    }

    /// Waits until it may send.
    pub(crate) async fn allowance(&self) -> Allowance {
        loop {
            let until = match self.usage.terms().reserve(Instant::now()) {
                Ok(bytes) => return Allowance::new(&self.usage, bytes),
                Err(until) => until,
            };
            tokio::time::sleep_until(until.into()).await;
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut known = self.usages.known();
        let is_last = self.usage.open.fetch_sub(1, Relaxed) == 1;
        if let Some(terminal) = &self.usage.terminal {
            terminal.open.fetch_sub(1, Relaxed);
        }
        let forgets = !self.is_limited() || known.accounts.len() > MANY;
        // Those that have a series keep it, since counters do not begin anew.
        if is_last && forgets && self.usage.others.is_some() {
            known.accounts.remove(&self.usage.holder);
        }
    }
}

#[cfg(test)]
mod tests;
