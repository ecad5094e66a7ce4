//! Questions asked side by side, each on one thread.
//!
//! Not on rayon's pool: a worker of it that waits for the pool of a comparison takes the next
//! question meanwhile, within the one that waits, until its stack is full.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `ask` finds of each number, in their order, or the first error by time.
pub(crate) fn side_by_side<T: Send>(
    numbers: &[u64],
    ask: impl Fn(u64) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let found = Mutex::new(Vec::with_capacity(numbers.len()));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(number) = numbers.get(at) else {
                return;
            };
            match ask(*number) {
                Ok(one) => found.lock().expect("no holder panics").push((at, one)),
                Err(error) => {
                    failed
                        .lock()
                        .expect("no holder panics")
                        .get_or_insert(error);
                    next.store(numbers.len(), Ordering::Relaxed);
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    if let Some(error) = failed.into_inner().expect("no holder panics") {
        return Err(error);
    }
    let mut found = found.into_inner().expect("no holder panics");
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn answers_are_in_order_and_an_error_ends_it() {
        let numbers: Vec<u64> = (0..50).collect();
        let doubled = side_by_side(&numbers, |number| Ok(2 * number)).unwrap();
        assert_eq!(doubled, numbers.iter().map(|n| 2 * n).collect::<Vec<_>>());
        let failed = side_by_side(&numbers, |number| match number {
            7 => Err("seven".to_owned()),
            other => Ok(other),
        });
        assert_eq!(failed, Err("seven".to_owned()));
    }
}
