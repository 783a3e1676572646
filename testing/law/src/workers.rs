//! Threads with room for deep queries.

/// Runs `work` in so many threads, at least one, until all have returned.
pub(crate) fn run(threads: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let spawned = sqlgauge_base::deep_thread().spawn_scoped(scope, work);
            drop(spawned);
        }
    });
}
