//! A place in a document, as JSON Pointer (RFC 6901) text: `/tests/0/expect/output`.
//!
//! Problems, claims, verdicts and reports refer to nodes by pointers. They survive edits that move text around, and
//! types need no span wrapper.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::{SmolStr, SmolStrBuilder};

/// Description of a pointer in JSON Schemas.
const POINTER: &str = "A JSON Pointer. The empty string is the root.";

/// Maximum number of digits of an index.
const MAX_DIGITS: usize = 20;

/// A JSON Pointer. The empty string is the root.
///
/// As text, the key `"0"` and the first item look the same. A pointer that was built in code knows the kind of each
/// step; in one that was parsed, a number is an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    /// Rules make a pointer for nearly every node of an item; most fit in here without an allocation.
    text: SmolStr,
    /// Keys that look like the number of an item. Few pointers have one.
    numeric_keys: Option<Box<NumericKeys>>,
}

/// Start offsets of keys that look like the number of an item, in ascending order; at least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct NumericKeys(Vec<usize>);

impl NumericKeys {
    fn of(starts: impl IntoIterator<Item = usize>) -> Option<Box<NumericKeys>> {
        let starts: Vec<usize> = starts.into_iter().collect();
        (!starts.is_empty()).then(|| Box::new(NumericKeys(starts)))
    }
}

/// One step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'p> {
    /// To the entry of a mapping with this key.
    Key(Cow<'p, str>),
    /// To this item of a list, from 0.
    Index(usize),
}

impl Step<'_> {
    /// Returns the key, if it is a step to an entry.
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        }
    }

    /// Returns the index, if it is a step to an item.
    pub fn index(&self) -> Option<usize> {
        match self {
            Step::Key(_) => None,
            Step::Index(index) => Some(*index),
        }
    }

    /// Returns the key, or the index as text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Step::Key(key) => Cow::Borrowed(key),
            Step::Index(index) => index.to_string().into(),
        }
    }
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl PartialEq<&str> for Step<'_> {
    fn eq(&self, key: &&str) -> bool {
        self.key() == Some(key)
    }
}

/// The steps to a node while a tree is walked. Most nodes are never named, so their pointers are never made.
#[derive(Clone, Copy, Debug)]
pub enum Way<'w> {
    /// The node where the walk began.
    Root,
    /// An item of a list, from 0.
    Item(&'w Way<'w>, usize),
    /// The entry of a mapping with this key.
    Entry(&'w Way<'w>, &'w str),
}

impl Way<'_> {
    pub fn pointer(&self) -> Pointer {
        match self {
            Way::Root => Pointer::root(),
            Way::Item(list, index) => list.pointer().index(*index),
            Way::Entry(mapping, key) => mapping.pointer().key(key),
        }
    }
}

impl Pointer {
    /// Returns the whole document.
    pub fn root() -> Pointer {
        Pointer::default()
    }

    /// Parses a pointer; text that does not begin with `/` counts as one step.
    pub fn parse(text: &str) -> Pointer {
        if text.is_empty() || text.starts_with('/') {
            Pointer { text: text.into(), numeric_keys: None }
        } else {
            Pointer::root().key(text)
        }
    }

    pub fn key(&self, key: &str) -> Pointer {
        let numeric_keys = match number(key) {
            None => self.numeric_keys.clone(),
            Some(_) => NumericKeys::of(self.numeric_keys().iter().copied().chain([self.text.len() + 1])),
        };
        // Few keys need an escape.
        let key = match key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
            true => Cow::Owned(key.replace('~', "~0").replace('/', "~1")),
            false => Cow::Borrowed(key),
        };
        Pointer { text: joined(&[&self.text, "/", &key]), numeric_keys }
    }

    pub fn index(&self, index: usize) -> Pointer {
        let mut digits = [0; MAX_DIGITS];
        let (mut first, mut rest) = (MAX_DIGITS, index);
        while first == MAX_DIGITS || rest > 0 {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let digits = str::from_utf8(&digits[first..]).expect("digits are ASCII");
        Pointer { text: joined(&[&self.text, "/", digits]), numeric_keys: self.numeric_keys.clone() }
    }

    pub fn step(&self, step: &Step<'_>) -> Pointer {
        match step {
            Step::Key(key) => self.key(key),
            Step::Index(index) => self.index(*index),
        }
    }

    /// Returns this pointer followed by a relative one.
    pub fn join(&self, relative: &Pointer) -> Pointer {
        if relative.is_root() {
            return self.clone();
        }
        let below = relative.numeric_keys().iter().map(|at| at + self.text.len());
        let numeric_keys = NumericKeys::of(self.numeric_keys().iter().copied().chain(below));
        Pointer { text: joined(&[&self.text, &relative.text]), numeric_keys }
    }

    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.text.match_indices('/').map(|(at, _)| self.step_at(at + 1))
    }

    /// Returns the last step; `None` at the root.
    pub fn last_step(&self) -> Option<Step<'_>> {
        self.text.rfind('/').map(|at| self.step_at(at + 1))
    }

    /// Returns the step whose text begins at a byte.
    fn step_at(&self, start: usize) -> Step<'_> {
        let end = self.text[start..].find('/').map_or(self.text.len(), |length| start + length);
        let written = &self.text[start..end];
        match number(written).filter(|_| !self.numeric_keys().contains(&start)) {
            Some(index) => Step::Index(index),
            None => Step::Key(unescaped(written)),
        }
    }

    /// Returns the last step as text; `None` at the root.
    pub fn last(&self) -> Option<String> {
        self.last_step().map(|step| step.text().into_owned())
    }

    /// Returns the pointer to the parent; `None` at the root.
    pub fn parent(&self) -> Option<Pointer> {
        let end = self.text.rfind('/')?;
        let numeric_keys = NumericKeys::of(self.numeric_keys().iter().copied().filter(|at| *at < end));
        Some(Pointer { text: self.text[..end].into(), numeric_keys })
    }

    /// Returns the rest of this pointer below `base`; `None` if it is not below.
    pub fn below(&self, base: &Pointer) -> Option<Pointer> {
        let rest = self.text.strip_prefix(base.text.as_str())?;
        let start = base.text.len();
        let is_below = rest.is_empty() || rest.starts_with('/');
        let (above, below) = self.numeric_keys().split_at(self.numeric_keys().partition_point(|at| *at < start));
        let numeric_keys = || NumericKeys::of(below.iter().map(|at| at - start));
        (is_below && above == base.numeric_keys()).then(|| Pointer { text: rest.into(), numeric_keys: numeric_keys() })
    }

    fn numeric_keys(&self) -> &[usize] {
        self.numeric_keys.as_ref().map_or(&[], |keys| &keys.0)
    }

    /// Returns whether this is the whole document.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the pointer's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<&str> for Pointer {
    fn from(text: &str) -> Pointer {
        Pointer::parse(text)
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pointer, D::Error> {
        Ok(Pointer::parse(&String::deserialize(deserializer)?))
    }
}

impl JsonSchema for Pointer {
    fn schema_name() -> Cow<'static, str> {
        "Pointer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": POINTER, "type": "string" })
    }
}

/// Returns texts as one, with at most one allocation for nearly all pointers.
fn joined(texts: &[&str]) -> SmolStr {
    /// Length of a text that needs no allocation.
    const SHORT: usize = 23;
    const USUAL: usize = 120;
    let length = texts.iter().map(|text| text.len()).sum();
    if !(SHORT + 1..=USUAL).contains(&length) {
        let mut builder = SmolStrBuilder::new();
        texts.iter().for_each(|text| builder.push_str(text));
        return builder.finish();
    }
    let mut buffer = [0; USUAL];
    let mut end = 0;
    for text in texts {
        buffer[end..end + text.len()].copy_from_slice(text.as_bytes());
        end += text.len();
    }
    SmolStr::new(str::from_utf8(&buffer[..end]).expect("the texts are valid UTF-8"))
}

/// Returns the index of a step, if it looks like one.
fn number(step: &str) -> Option<usize> {
    let is_number = step.bytes().all(|byte| byte.is_ascii_digit()) && (step.len() == 1 || !step.starts_with('0'));
    is_number.then(|| step.parse().ok()).flatten()
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

#[cfg(test)]
mod tests {
    use super::{Pointer, Step};

    #[test]
    fn steps_are_escaped_and_come_back() {
        let pointer = Pointer::root().key("a/b").key("c~d").key("~0").index(3);
        assert_eq!(pointer.to_string(), "/a~1b/c~0d/~00/3");
        assert_eq!(
            pointer.steps().collect::<Vec<_>>(),
            [Step::Key("a/b".into()), Step::Key("c~d".into()), Step::Key("~0".into()), Step::Index(3)]
        );
        assert_eq!(Pointer::parse(&pointer.to_string()), pointer);
        assert_eq!(pointer.parent().unwrap().parent().unwrap().to_string(), "/a~1b/c~0d");
        assert_eq!(pointer.below(&Pointer::parse("/a~1b/c~0d")).unwrap().to_string(), "/~00/3");
        assert_eq!(pointer.below(&Pointer::parse("/a")), None);
        for index in [0, 9, 10, 307, usize::MAX] {
            assert_eq!(Pointer::root().index(index).to_string(), format!("/{index}"));
        }
    }

    #[test]
    fn key_that_is_a_number_is_not_an_item() {
        let (key, item) = (Pointer::root().key("vars").key("12"), Pointer::root().key("vars").index(12));
        assert_ne!(key, item);
        assert_eq!(key.to_string(), item.to_string());
        assert_eq!(key.last_step(), Some(Step::Key("12".into())));
        assert_eq!(item.last_step(), Some(Step::Index(12)));
        assert_eq!(key.key("a").steps().nth(1), Some(Step::Key("12".into())));
        assert_eq!(item.key("7").below(&item), Some(Pointer::root().key("7")));
        assert_eq!(item.join(&Pointer::root().key("7")).parent(), Some(item.clone()));
        assert_eq!((key.key("a").below(&item), key.key("7").parent()), (None, Some(key.clone())));
        assert_eq!(serde_json::to_string(&key).unwrap(), "\"/vars/12\"");
        // Such as a key in a mapping of months.
        assert_eq!(Pointer::root().key("01").last_step(), Some(Step::Key("01".into())));
        assert_eq!(Pointer::parse("/99999999999999999999999").last_step().unwrap().index(), None);
    }
}
