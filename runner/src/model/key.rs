//! Keys of providers: read from the environment once, sent to one host, never shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use reqwest::header::HeaderValue;

/// The key of a provider. Its value is never shown: it leaves only as a header that is marked as sensitive.
#[derive(Clone)]
pub(super) struct Key(Arc<str>);

impl Key {
    /// Reads the value of a variable. `None` if it is not a valid key: blank, or not allowed in a header.
    pub(super) fn read(text: &str) -> Option<Key> {
        let text = text.trim();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Key(text.into()))
    }

    /// Returns the header with the key, after a word such as `Bearer `.
    pub(super) fn header(&self, before: &str) -> HeaderValue {
        let text = format!("{before}{}", self.0);
        let mut value = HeaderValue::from_str(&text).expect("a key holds only characters that a header may hold");
        value.set_sensitive(true);
        value
    }

    /// Hides the key in a text that came back from a provider.
    pub(super) fn mask(&self, text: &str) -> String {
        text.replace(&*self.0, "***")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

/// Reads the variables with these names. Those that are not set, or have no valid key, are omitted.
pub(super) fn read_keys(
    names: &BTreeSet<String>,
    environment: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, Key> {
    let key = |name: &String| Some((name.clone(), Key::read(&environment(name)?)?));
    names.iter().filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::{Key, read_keys};

    #[test]
    fn key_has_no_visible_value() {
        let keys = read_keys(&["API_KEY".to_owned()].into(), |_| Some(" sk-secret-value\n".to_owned()));
        let key = keys.get("API_KEY").unwrap();
        let shown = format!("{keys:?} {key:?} {:?}", key.header("Bearer "));
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(key.header("Bearer ").to_str().unwrap(), "Bearer sk-secret-value");
        assert_eq!(key.mask("wrong key: sk-secret-value."), "wrong key: ***.");
    }

    #[test]
    fn blank_or_invalid_variable_is_not_a_key() {
        for text in ["", "  \n", "two words", "schlüssel", "line\nbreak"] {
            assert!(Key::read(text).is_none(), "{text:?}");
        }
    }
}
