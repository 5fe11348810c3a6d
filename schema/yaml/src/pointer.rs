//! A place in a document, as JSON Pointer (RFC 6901) text: `/tests/0/expect/output`.
//!
//! Everything but the tree speaks in pointers: problems, claims, verdicts and reports. They survive
//! edits that move text around, and a type needs no span wrapper to be found again.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// A JSON Pointer. The root is the empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub fn root() -> Pointer {
        Pointer(String::new())
    }

    /// Reads pointer text; text that does not begin with `/` counts as one step.
    pub fn parse(text: &str) -> Pointer {
        if text.is_empty() || text.starts_with('/') { Pointer(text.to_owned()) } else { Pointer::root().key(text) }
    }

    /// The member `key` of what this points at.
    pub fn key(&self, key: &str) -> Pointer {
        let mut text = String::with_capacity(self.0.len() + key.len() + 1);
        text.push_str(&self.0);
        text.push('/');
        for character in key.chars() {
            match character {
                '~' => text.push_str("~0"),
                '/' => text.push_str("~1"),
                other => text.push(other),
            }
        }
        Pointer(text)
    }

    /// Item `index` (from 0) of what this points at.
    pub fn index(&self, index: usize) -> Pointer {
        Pointer(format!("{}/{index}", self.0))
    }

    /// This pointer followed by a relative one.
    pub fn join(&self, relative: &Pointer) -> Pointer {
        Pointer(format!("{}{}", self.0, relative.0))
    }

    /// The steps from the root, unescaped.
    pub fn steps(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescaped)
    }

    /// The last step, unescaped; nothing at the root.
    pub fn last(&self) -> Option<String> {
        self.0.rfind('/').map(|at| unescaped(&self.0[at + 1..]).into_owned())
    }

    /// What holds the place this points at; nothing at the root.
    pub fn parent(&self) -> Option<Pointer> {
        self.0.rfind('/').map(|end| Pointer(self.0[..end].to_owned()))
    }

    /// What remains of this pointer below `base`, when it lies there.
    pub fn below(&self, base: &Pointer) -> Option<Pointer> {
        let rest = self.0.strip_prefix(&base.0)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| Pointer(rest.to_owned()))
    }

    /// Whether this is the whole document.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The pointer's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Pointer {
    fn from(text: &str) -> Pointer {
        Pointer::parse(text)
    }
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

#[cfg(test)]
mod tests {
    use super::Pointer;

    #[test]
    fn steps_are_escaped_and_come_back() {
        let pointer = Pointer::root().key("a/b").key("c~d").index(3);
        assert_eq!(pointer.as_str(), "/a~1b/c~0d/3");
        assert_eq!(pointer.steps().collect::<Vec<_>>(), ["a/b", "c~d", "3"]);
        assert_eq!(pointer.parent().unwrap().as_str(), "/a~1b/c~0d");
        assert_eq!(pointer.below(&Pointer::parse("/a~1b")).unwrap().as_str(), "/c~0d/3");
        assert_eq!(pointer.below(&Pointer::parse("/a")), None);
    }
}
