//! What was found out about something that never changes.

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Answers, one of each type, each under the circumstances of which it is true.
#[derive(Default)]
pub struct Memos(Mutex<Vec<Memo>>);

/// The circumstances, and what was found out.
type Memo = (u64, Arc<dyn Any + Send + Sync>);

impl Memos {
    /// Returns what was found out under the circumstances `key`, or is found out now.
    pub fn memo<T: Any + Send + Sync>(&self, key: u64, find_out: impl FnOnce() -> T) -> Arc<T> {
        let known = |memos: &[Memo]| {
            let (_, found) = memos.iter().find(|(known, found)| *known == key && found.is::<T>())?;
            Arc::clone(found).downcast::<T>().ok()
        };
        if let Some(found) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return found;
        }
        // Without the lock: who finds out may ask for others.
        let found = Arc::new(find_out());
        let mut memos = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memos.retain(|(_, found)| !found.is::<T>());
        memos.push((key, Arc::clone(&found) as Arc<dyn Any + Send + Sync>));
        found
    }
}

impl fmt::Debug for Memos {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memos")
    }
}
