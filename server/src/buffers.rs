//! The texts of open documents: the editor's text takes precedence over the file, saved or not.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ropey::Rope;
use speclens_runner::files;

/// Texts by path. The lock is internal and is never held during other work.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    texts: Mutex<HashMap<PathBuf, Rope>>,
}

impl Buffers {
    /// Sets the text of a document.
    pub(crate) fn set(&self, path: &Path, text: Rope) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), text);
    }

    /// Whether a document is open.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// Removes a closed document: from now on its file on disk counts.
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
