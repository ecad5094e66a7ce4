//! Queues of links.

use crate::queue_length::{QueueLength, QueueLimit};
use crate::schema::queue::{FuzzyKeys, QueueKinds, QueueTable, RedKeys};
use bentpipe_document::{Context, Diagnostic, Place, Placed, Reported};
use bentpipe_link::{
    AckFilterSettings, BandwidthSettings, BecnSettings, CoDelSettings, FqCoDelSettings,
    FuzzySettings, Limit, PriorityDropSettings, QueueSettings, RedSettings, XcpSettings,
};
use bentpipe_units::{Bytes, Duration, Rate};

/// The queue of a link that says nothing.
pub(super) const DEFAULT: Queue = Queue::drop_tail(1000.0);

/// The queue of a constellation that says nothing: that of ns-2.
pub(super) const FIFTY: Queue = Queue::drop_tail(50.0);

/// A queue, before its lengths are known in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    limit: QueueLimit,
    kind: Kind,
}

/// The limits in these settings come with the link's rate.
#[derive(Clone, Copy, Debug)]
enum Kind {
    DropTail,
    Red {
        settings: RedSettings,
        minimum: Option<QueueLength>,
        maximum: Option<QueueLength>,
    },
    CoDel(CoDelSettings),
    FqCoDel(FqCoDelSettings),
    PriorityDrop {
        low_limit: Option<QueueLimit>,
    },
    Xcp(XcpSettings),
    Bandwidth(BandwidthSettings),
    AckFilter,
    Fuzzy(FuzzySettings),
    Becn(BecnSettings),
}

/// The link that a queue feeds.
pub(super) struct LinkContext<'a> {
    pub(super) rate: Rate,
    /// What `BDP` refers to.
    pub(super) round_trip: Duration,
    /// Of the link, for messages.
    pub(super) name: &'a str,
    /// Where the queue stands, for messages.
    pub(super) place: Place,
}

/// Reads `"100 packets"`, or a table with a kind.
pub(super) fn read(table: QueueTable) -> Result<Queue, Reported> {
    let unlimited = Limit::Packets(0);
    let (limit, kind) = match table.0 {
        QueueKinds::DropTail { limit, .. } => (limit, Kind::DropTail),
        QueueKinds::AckFilter { limit, .. } => (limit, Kind::AckFilter),
        QueueKinds::PriorityDrop {
            limit, low_limit, ..
        } => {
            let low_limit = low_limit?.map(|l| l.value);
            (limit, Kind::PriorityDrop { low_limit })
        }
        QueueKinds::CoDel {
            limit,
            target,
            interval,
            mtu,
            ecn,
            ..
        } => {
            let settings = CoDelSettings {
                limit: unlimited,
                target: target?.value,
                interval: interval?.value,
                mtu: mtu?.value,
                ecn: ecn?.value,
            };
            (limit, Kind::CoDel(settings))
        }
        QueueKinds::FqCoDel {
            limit,
            flows,
            quantum,
            target,
            interval,
            mtu,
            ecn,
            ..
        } => {
            let codel = CoDelSettings {
                limit: unlimited,
                target: target?.value,
                interval: interval?.value,
                mtu: mtu?.value,
                ecn: ecn?.value,
            };
            let settings = FqCoDelSettings {
                codel,
                flows: flows?.value,
                quantum: quantum?.value,
            };
            (limit, Kind::FqCoDel(settings))
        }
        QueueKinds::Xcp {
            limit,
            p_xcp,
            alpha,
            beta,
            gamma,
            longest_rtt,
            ..
        } => {
            let settings = XcpSettings {
                limit: unlimited,
                alpha: alpha?.value,
                beta: beta?.value,
                gamma: gamma?.value,
                longest_rtt: longest_rtt?.value,
                p_xcp: p_xcp?.value,
            };
            (limit, Kind::Xcp(settings))
        }
        QueueKinds::Fuzzy { fuzzy, .. } => {
            let (limit, settings) = fuzzy_keys(fuzzy)?;
            (Ok(limit), Kind::Fuzzy(settings))
        }
        QueueKinds::Becn {
            fuzzy,
            severe,
            quiet,
            ..
        } => {
            let (limit, fuzzy) = fuzzy_keys(fuzzy)?;
            let settings = BecnSettings {
                fuzzy,
                severe: severe?.value.get(),
                quiet: quiet?.value,
            };
            (Ok(limit), Kind::Becn(settings))
        }
        QueueKinds::Bandwidth {
            limit,
            utilisation,
            interval,
            ..
        } => {
            let settings = BandwidthSettings {
                limit: unlimited,
                utilisation: utilisation?.value,
                interval: interval?.value,
            };
            (limit, Kind::Bandwidth(settings))
        }
        QueueKinds::Red { red, .. } => return red_queue(red, |_| Ok(())),
        QueueKinds::AdaptiveRed {
            red,
            interval,
            alpha,
            beta,
            bottom,
            top,
            ..
        } => {
            let preset = red.preset;
            return red_queue(red, |settings| {
                *settings = settings.adaptive(preset?.value);
                let Some(adaptive) = &mut settings.adaptive else {
                    return Ok(());
                };
                set(&mut adaptive.interval, interval?.map(|x| x.value));
                set(&mut adaptive.alpha, alpha?.map(|x| x.value));
                set(&mut adaptive.beta, beta?.map(|x| x.value));
                set(&mut adaptive.bottom, bottom?.map(|x| Some(x.value.get())));
                set(&mut adaptive.top, top?.map(|x| x.value.get()));
                Ok(())
            });
        }
    };
    Ok(Queue {
        limit: limit?.value,
        kind,
    })
}

/// The limit and the controller of a fuzzy queue.
fn fuzzy_keys(keys: FuzzyKeys) -> Result<(Placed<QueueLimit>, FuzzySettings), Reported> {
    let settings = FuzzySettings {
        limit: Limit::Packets(0),
        period: keys.period?.value,
        swing: keys.swing?.value,
        rules: keys.rules?.value.0,
    };
    Ok((keys.limit?, settings))
}

fn red_queue(
    keys: RedKeys,
    adapt: impl FnOnce(&mut RedSettings) -> Result<(), Reported>,
) -> Result<Queue, Reported> {
    let mut settings = RedSettings::preset(keys.preset?.value, Limit::Packets(0));
    adapt(&mut settings)?;
    let s = &mut settings;
    set(&mut s.mode, keys.mode?.map(|x| x.value));
    set(&mut s.mean_packet, keys.mean_packet?.map(|x| x.value));
    set(&mut s.weight, keys.weight?.map(|x| Some(x.value)));
    set(&mut s.max_p, keys.max_p?.map(|x| x.value));
    set(&mut s.gentle, keys.gentle?.map(|x| x.value));
    set(&mut s.wait, keys.wait?.map(|x| x.value));
    set(&mut s.ecn, keys.ecn?.map(|x| x.value));
    let mark_below = keys.mark_below?.map(|x| x.value);
    set(
        &mut s.mark_below,
        mark_below.map(|p| p.is_finite().then_some(p)),
    );
    set(&mut s.target_delay, keys.target_delay?.map(|x| x.value));
    let (minimum, maximum) = (keys.minimum?, keys.maximum?);
    Ok(Queue {
        limit: keys.limit?.value,
        kind: Kind::Red {
            settings,
            minimum: minimum.map(|l| l.value),
            maximum: maximum.map(|l| l.value),
        },
    })
}

/// Takes a value that was written.
fn set<T>(to: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *to = value;
    }
}

impl Queue {
    const fn drop_tail(packets: f64) -> Queue {
        Queue {
            limit: QueueLimit(QueueLength::Packets(packets)),
            kind: Kind::DropTail,
        }
    }

    /// The settings before that link.
    pub(super) fn finish(
        self,
        context: &Context,
        link: &LinkContext<'_>,
    ) -> Result<QueueSettings, Reported> {
        let limit = link.limit(context, self.limit)?;
        Ok(match self.kind {
            Kind::DropTail => QueueSettings::drop_tail(limit),
            Kind::CoDel(settings) => QueueSettings::CoDel(CoDelSettings { limit, ..settings }),
            Kind::FqCoDel(mut settings) => {
                settings.codel.limit = limit;
                QueueSettings::FqCoDel(settings)
            }
            Kind::Xcp(settings) => QueueSettings::Xcp(XcpSettings { limit, ..settings }),
            Kind::Fuzzy(settings) => QueueSettings::Fuzzy(FuzzySettings { limit, ..settings }),
            Kind::Becn(mut settings) => {
                settings.fuzzy.limit = limit;
                QueueSettings::Becn(settings)
            }
            Kind::Bandwidth(settings) => {
                QueueSettings::Bandwidth(BandwidthSettings { limit, ..settings })
            }
            Kind::AckFilter => QueueSettings::AckFilter(AckFilterSettings { limit }),
            Kind::PriorityDrop { low_limit } => {
                let low_limit = low_limit.map(|low| link.limit(context, low)).transpose()?;
                QueueSettings::PriorityDrop(PriorityDropSettings { limit, low_limit })
            }
            Kind::Red {
                mut settings,
                minimum,
                maximum,
            } => {
                settings.limit = limit;
                let mean = settings.mean_packet.as_f64();
                if let Some(minimum) = minimum {
                    settings.minimum = Some(link.length(context, minimum, mean)?);
                }
                if let Some(maximum) = maximum {
                    settings.maximum = Some(link.length(context, maximum, mean)?);
                }
                let (low, high) = settings.thresholds(link.rate);
                if low >= high {
                    let message = format!(
                        "the maximum threshold of link `{}` is not above its minimum",
                        link.name
                    );
                    let error = Diagnostic::new(link.place, message)
                        .label(format!("minimum {low} packets, maximum {high}"))
                        .help("packets here are of `mean_packet`");
                    return Err(context.report(error));
                }
                QueueSettings::Red(settings)
            }
        })
    }
}

impl LinkContext<'_> {
    fn limit(&self, context: &Context, limit: QueueLimit) -> Result<Limit, Reported> {
        Ok(match limit.0 {
            // A limit is of whole packets that fit.
            QueueLength::Packets(n) => Limit::Packets(n as u32),
            QueueLength::Bytes(n) => Limit::Bytes(n),
            QueueLength::Bdp(factor) => Limit::Bytes(self.bdp(context, factor)?),
        })
    }

    /// A length in packets of `mean` bytes.
    fn length(&self, context: &Context, length: QueueLength, mean: f64) -> Result<f64, Reported> {
        match length {
            QueueLength::Packets(n) => Ok(n),
            QueueLength::Bytes(n) => Ok(n.as_f64() / mean),
            QueueLength::Bdp(factor) => Ok(self.bdp(context, factor)?.as_f64() / mean),
        }
    }

    /// Bandwidth-delay products in bytes.
    fn bdp(&self, context: &Context, factor: f64) -> Result<Bytes, Reported> {
        let bdp = self.rate.bytes_in(self.round_trip).as_f64();
        let bytes = Bytes::new((bdp * factor + 0.5) as u64);
        if bytes != Bytes::ZERO {
            return Ok(bytes);
        }
        let message = format!(
            "the bandwidth-delay product of link `{}` is zero",
            self.name
        );
        let error = Diagnostic::new(self.place, message)
            .label(format!("{} x {}", self.rate, self.round_trip))
            .help("say with `bdp_round_trip` which round trip `BDP` refers to");
        Err(context.report(error))
    }
}
