//! The texts of open documents: what is in the editor counts, saved or not.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ropey::Rope;
use speclens_runner::files;

/// Texts by path. It has a lock of its own, which is never held while anything else is done.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    texts: Mutex<HashMap<PathBuf, Rope>>,
}

impl Buffers {
    /// A document has this text now.
    pub(crate) fn set(&self, path: &Path, text: Rope) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), text);
    }

    /// Whether a document is open.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// A document was closed: what is on the disk counts.
    pub(crate) fn remove(&self, path: &Path) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}

impl files::Buffers for Buffers {
    fn text(&self, path: &Path) -> Option<String> {
        let text = self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        text.map(String::from)
    }

    fn below(&self, directory: &Path) -> Vec<PathBuf> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.keys().filter(|path| path.starts_with(directory)).cloned().collect()
    }
}
