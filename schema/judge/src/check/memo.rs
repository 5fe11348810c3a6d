//! Shared values that are expensive to make: made once while one of them is in use.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// A table of shared values by key. It keeps nothing alive.
#[derive(Debug)]
pub struct Memo<K, V> {
    table: Mutex<HashMap<K, Weak<V>>>,
}

impl<K: Eq + Hash, V> Memo<K, V> {
    pub fn new() -> Memo<K, V> {
        Memo { table: Mutex::new(HashMap::new()) }
    }

    /// Returns the value for a key, which is made now unless it exists. `make` must be cheap: expensive work belongs
    /// into a cell of the value.
    pub fn get(&self, key: K, make: impl FnOnce(&K) -> V) -> Arc<V> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = table.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        if table.len() >= 256 && table.len().is_power_of_two() {
            table.retain(|_, held| held.strong_count() > 0);
        }
        let made = Arc::new(make(&key));
        table.insert(key, Arc::downgrade(&made));
        made
    }
}

impl<K: Eq + Hash, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Memo;

    #[test]
    fn a_thing_is_shared_while_it_is_held_and_forgotten_after() {
        let memo = Memo::<u32, String>::new();
        let first = memo.get(1, u32::to_string);
        assert!(Arc::ptr_eq(&first, &memo.get(1, |_| "made again".to_owned())));
        drop(first);
        assert_eq!(*memo.get(1, |_| "made again".to_owned()), "made again");
        for key in 0..5_000 {
            memo.get(key, u32::to_string);
        }
        assert!(memo.table.lock().unwrap().len() < 5_000);
    }
}
