//! The event queue, and one flow from end to end.

#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use bentpipe_sim::queue::{Class, Event, EventQueue};
use bentpipe_units::Time;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The hold model: take the earliest event, put another one further on, with
/// the distances of satellite links (transmission, propagation, timers).
fn hold(c: &mut Criterion) {
    const DISTANCES_NS: [u64; 4] = [12_000, 5_000_000, 290_000_000, 900_000_000];
    let mut group = c.benchmark_group("event queue, hold");
    group.throughput(Throughput::Elements(1));
    for pending in [16u32, 256, 4_096, 65_536] {
        let mut queue = EventQueue::default();
        for component in 0..pending {
            let at = Time::from_nanos(DISTANCES_NS[component as usize % 4] + u64::from(component));
            queue.push(Event {
                at,
                class: Class::Arrival,
                component,
            });
        }
        group.bench_function(pending.to_string(), |b| {
            b.iter(|| {
                if let Some(event) = queue.pop() {
                    let distance = DISTANCES_NS[event.component as usize % 4];
                    let at = Time::from_nanos(event.at.as_nanos() + distance);
                    queue.push(Event { at, ..event });
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
