//! Cached values of something that never changes.

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Cached values, one of each type, each with the key of the circumstances in which it is valid.
#[derive(Default)]
pub(super) struct Memos(Mutex<Vec<Memo>>);

/// The key and the value.
type Memo = (u64, Arc<dyn Any + Send + Sync>);

impl Memos {
    /// Returns the cached value for `key`, or computes it.
    pub(super) fn memo<T: Any + Send + Sync>(&self, key: u64, compute: impl FnOnce() -> T) -> Arc<T> {
        let known = |memos: &[Memo]| {
            let (_, found) = memos.iter().find(|(known, found)| *known == key && found.is::<T>())?;
            Arc::clone(found).downcast::<T>().ok()
        };
        if let Some(found) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return found;
        }
        // Without the lock: the computation may ask for other cached values.
        let found = Arc::new(compute());
        let mut memos = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memos.retain(|(_, found)| !found.is::<T>());
        // Most caches hold one value, and each of thousands of blocks may have a cache.
        memos.reserve_exact(1);
        memos.push((key, Arc::clone(&found) as Arc<dyn Any + Send + Sync>));
        found
    }
}

impl fmt::Debug for Memos {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memos")
    }
}
