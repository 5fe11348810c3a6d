//! Properties of blocks that every edit asks for, as a set. The set of many blocks shows whether any of them has one.

use std::ops::BitOr;

/// A property of a block that is searched for in the whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A part that is not readable.
    Fault,
    /// A key that occurs twice in one mapping.
    RepeatedKey,
    /// A name that is defined.
    Anchor,
    /// A name that is used.
    Alias,
    /// A comment that may address speclens.
    Directive,
    /// A NUL.
    Nul,
    /// A tab.
    Tab,
    /// A number sign with a digit after it.
    Number,
    /// Two less-than signs, which a key that merges consists of.
    Merge,
    /// An item that is not a mapping.
    PlainItem,
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u16);

impl Marks {
    /// Returns the marks that depend on the bytes of a text.
    pub(super) fn of_text(text: &str) -> Marks {
        let has = |byte: u8| memchr::memchr(byte, text.as_bytes()).is_some();
        Marks::default()
            .with(Mark::Nul, has(0))
            .with(Mark::Tab, has(b'\t'))
            .with(Mark::Number, numbers(text).next().is_some())
            .with(Mark::Merge, memchr::memmem::find(text.as_bytes(), b"<<").is_some())
    }

    /// Returns the set with a mark, if it applies.
    pub(super) fn with(self, mark: Mark, applies: bool) -> Marks {
        Marks(self.0 | u16::from(applies) << mark as u16)
    }

    /// Whether a mark is in the set.
    pub(super) fn has(self, mark: Mark) -> bool {
        self.0 & 1 << mark as u16 != 0
    }
}

impl BitOr for Marks {
    type Output = Marks;

    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

/// Returns where a number sign with a digit after it is.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'#', bytes).filter(|at| bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
}
