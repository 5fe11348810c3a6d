//! JSON as JavaScript reads, compares and writes it.
//!
//! The original tool reads output with `JSON.parse`: lone surrogates are accepted, the last of repeated members counts,
//! every number is a double. Nesting is bounded, because every use of a [`Value`] (even dropping it) takes stack space
//! for each level of nesting.

mod compare;
mod read;
mod write;

use serde_json::Value;

pub use compare::{Difference, differences, matches, same};
pub use read::{JsonError, JsonErrorKind, parse};
pub use speclens_yaml::{NAN, number};
pub use write::{number_text, text};

fn is_nan(value: &Value) -> bool {
    value.as_u64() == Some(NAN)
}

#[cfg(test)]
mod tests {
    use super::{differences, matches, same, text};
    use speclens_yaml::{Document, Pointer, ScalarRules};

    #[test]
    fn the_numbers_that_json_lacks() {
        let document = Document::read("a: .nan\nb: .NaN\nc: .inf\nd: 1e300\n", ScalarRules::Yaml12);
        let value = document.root().unwrap().to_value().unwrap();
        let object = value.as_object().unwrap();
        assert!(!same(&object["a"], &object["b"]) && !matches(&object["a"], &object["a"]));
        assert_eq!(differences(&value, &value).len(), 2);
        assert_eq!(text(&object["a"]), "null");
        let checked = document.root().unwrap().to_checked_value(100).unwrap();
        assert!(checked["a"].is_null() && checked["c"].as_f64().is_some_and(|it| it.fract() != 0.0), "{checked}");
        assert!(document.find(&Pointer::parse("/a")).unwrap().as_str().is_none());
    }
}
