//! A text as it was meant, with a mapping from its positions back to those of the text as written.

use std::ops::Range;

use super::{
    fault::{Fault, Rewrite},
    layout::floor_boundary,
    tree::Node,
};

/// A text with some of its parts rewritten.
pub(super) struct Draft<'t> {
    written: &'t str,
    /// The rewritten text.
    pub text: String,
    changes: Vec<Change>,
}

/// A part that is rewritten.
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

impl<'t> Draft<'t> {
    /// Rewrites a text. Of overlapping rewrites, the first is applied.
    pub(super) fn of<'r>(written: &'t str, rewritings: impl IntoIterator<Item = &'r Rewrite>) -> Draft<'t> {
        let mut parts: Vec<(Range<usize>, &str)> =
            rewritings.into_iter().map(|rewrite| (rewrite.range.clone(), rewrite.text.as_str())).collect();
        parts.sort_by_key(|(range, _)| (range.start, range.end));
        let mut draft = Draft { written, text: String::with_capacity(written.len() + 64), changes: Vec::new() };
        let mut copied = 0;
        for (old, new) in parts {
            if old.start < copied {
                continue;
            }
            draft.text.push_str(&written[copied..old.start]);
            let start = draft.text.len();
            draft.text.push_str(new);
            copied = old.end;
            let (head, tail) = common_ends(&written[old.clone()], new);
            let new = start + head..draft.text.len() - tail;
            draft.changes.push(Change { old: old.start + head..old.end - tail, new });
        }
        draft.text.push_str(&written[copied..]);
        draft
    }

    pub(super) fn written(&self, at: usize) -> usize {
        let Some(last) = self.changes.partition_point(|change| change.new.start <= at).checked_sub(1) else {
            return at;
        };
        let Change { old, new } = &self.changes[last];
        let place = if at >= new.end { old.end + (at - new.end) } else { (old.start + (at - new.start)).min(old.end) };
        floor_boundary(self.written, place)
    }

    pub(super) fn written_node(&self, mut node: Node) -> Node {
        node.move_places(&|at| self.written(at));
        node
    }

    pub(super) fn written_fault(&self, mut fault: Fault) -> Fault {
        let written = |range: &Range<usize>| self.written(range.start)..self.written(range.end);
        fault.range = written(&fault.range);
        if let Some(rewrite) = &mut fault.rewrite {
            rewrite.range = written(&rewrite.range);
        }
        fault
    }
}

/// Returns the lengths of the beginning and of the end that two texts have in common, without overlap.
fn common_ends(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let length = |(letter, _): (char, char)| letter.len_utf8();
    let head: usize = one.chars().zip(other.chars()).take_while(same).map(length).sum();
    let rest = one[head..].chars().rev().zip(other[head..].chars().rev());
    (head, rest.take_while(same).map(length).sum())
}
