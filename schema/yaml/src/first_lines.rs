//! The line that each block begins on. Most edits are within a line: versions before and after them share the lines.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The first line of each block of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstLines {
    lines: Arc<Vec<usize>>,
    /// Differs between versions whose lines differ; 0 without blocks.
    id: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl FirstLines {
    /// Returns the line that a block begins on.
    pub(super) fn of(&self, block: usize) -> usize {
        self.lines[block]
    }

    /// Returns a number that differs between versions whose lines differ.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Replaces the lines of some blocks. `next`: the line that the block after them begins on now.
    pub(super) fn replace(&mut self, old: Range<usize>, new: Vec<usize>, next: Option<usize>) {
        if self.lines[old.clone()] == new && self.lines.get(old.end).copied() == next {
            return;
        }
        self.id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let lines = Arc::make_mut(&mut self.lines);
        let rest = old.start + new.len();
        drop(lines.splice(old, new));
        if let Some(grown) = next.map(|next| next.wrapping_sub(lines[rest])).filter(|grown| *grown != 0) {
            lines[rest..].iter_mut().for_each(|line| *line = line.wrapping_add(grown));
        }
    }
}
