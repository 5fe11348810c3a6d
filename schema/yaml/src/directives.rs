//! Finds comments that may be addressed to speclens. Their content is read elsewhere.

use crate::tree::{Node, NodeKind};

/// The word that such a comment begins with.
pub const NAME: &str = "speclens";

/// Returns the position of the `#` of each such comment in a block's text. Strings of the tree may look like one.
pub(super) fn marks(text: &str, root: Option<&Node>) -> Vec<usize> {
    let begins = |at: usize| at == 0 || text[..at].ends_with([' ', '\t', '\n', '\r', '\u{feff}']);
    let hashes = memchr::memchr_iter(b'#', text.as_bytes()).filter(|&at| begins(at) && may_be_name(&text[at + 1..]));
    hashes.filter(|&at| !root.is_some_and(|root| holds_in_text(root, at))).collect()
}

/// Returns whether a comment begins with the name, or with a word that may be a typo for it: up to two fifths of it may
/// be wrong.
fn may_be_name(comment: &str) -> bool {
    let comment = comment.trim_start_matches([' ', '\t']);
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let word = &comment[..comment.find(|letter| !is_of_word(letter)).unwrap_or(comment.len())];
    let letters: String = word.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect();
    let most = (letters.len() * 2 / 5).max(2);
    letters.len().abs_diff(NAME.len()) <= most && strsim::osa_distance(&letters, NAME) <= most
}

/// Returns whether a position is within a string of the tree.
fn holds_in_text(node: &Node, at: usize) -> bool {
    if !node.range().contains(&at) {
        return false;
    }
    match &node.kind {
        NodeKind::Scalar { .. } => node.range().start < at,
        NodeKind::Alias(_) => false,
        NodeKind::Sequence(items) => items.iter().any(|item| holds_in_text(item, at)),
        NodeKind::Mapping(entries) => {
            entries.iter().any(|entry| holds_in_text(&entry.key, at) || holds_in_text(&entry.value, at))
        }
    }
}
