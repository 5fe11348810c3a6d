//! The positions of a schema's keywords in its file.

use crate::verdict::FilePlace;
use speclens_yaml::{Document, Pointer, ScalarRules};

/// Maximum number of references that are followed from one keyword: they may be circular.
const MAX_REFERENCES: usize = 100;

#[derive(Debug)]
pub struct RulePlaces {
    text: String,
    document: Document,
}

impl RulePlaces {
    /// Reads the content of a schema file. JSON is YAML, as far as positions are concerned.
    pub fn of(bytes: &[u8]) -> RulePlaces {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        RulePlaces { document: Document::read(&text, ScalarRules::Yaml12), text }
    }

    /// Returns the position of a keyword, or of the nearest node around it if the file is written differently.
    pub fn of_rule(&self, path: &str, rule: &Pointer) -> FilePlace {
        let at = self.resolved(rule);
        let line = |offset: usize| self.document.text().byte_to_line(offset.min(self.text.len()));
        let range = self.document.range_of(&at);
        let range = match line(range.start) == line(range.end) {
            true => range,
            // Its key identifies it.
            false => self.document.key_range_of(&at),
        };
        FilePlace { node: Some(at), ..FilePlace::bytes(path, &self.text, range) }
    }

    /// Returns the node at a keyword's path. If the path goes through a reference, it continues at the target.
    fn resolved(&self, rule: &Pointer) -> Pointer {
        let mut at = Pointer::root();
        let mut references = 0;
        for step in rule.steps() {
            let next = at.step(&step);
            let Some(node) = self.document.find(&next) else { break };
            let target = node.as_str().filter(|_| step == "$ref").and_then(|target| target.strip_prefix('#'));
            at = match target.map(Pointer::parse) {
                Some(target) if references < MAX_REFERENCES && self.document.find(&target).is_some() => {
                    references += 1;
                    target
                }
                Some(_) | None => next,
            };
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{super::UserSchema, RulePlaces};
    use speclens_yaml::Pointer;

    /// Returns the keywords that a value violates: line from 1, and the marked text.
    fn places(schema: &str, value: &Value) -> Vec<String> {
        let found = UserSchema::read(schema.as_bytes()).unwrap().validate(value).unwrap();
        assert!(!found.is_empty(), "{value} is valid");
        let places = RulePlaces::of(schema.as_bytes());
        let shown = found.iter().map(|mismatch| {
            let line_part = places.of_rule("f.json", &mismatch.rule).line_part.unwrap();
            format!("{}: {}", line_part.line + 1, &line_part.text[line_part.range()])
        });
        shown.collect()
    }

    #[test]
    fn rule_is_found_in_its_file_through_references_in_any_layout() {
        let schema = r##"{
  "required": ["n", "s"],
  "properties": {
    "n": {"$ref": "#/definitions/number"},
    "list": {
      "items": [{"type": "string"}, {"minimum": 5}]
    }
  },
  "definitions": {
    "number": {
      "type":
        "integer"
    }
  }
}"##;
        let value = serde_json::json!({ "n": "x", "list": [1, 2] });
        let expected = [r#"2: ["n", "s"]"#, r#"12: "integer""#, r#"6: "string""#, "6: 5"].map(str::to_owned).to_vec();
        let sorted = |mut found: Vec<String>| {
            found.sort();
            found
        };
        let layouts =
            [schema.to_owned(), schema.replace('\n', "\r\n"), schema.replace("  ", "\t"), format!("\u{feff}{schema}")];
        for layout in layouts {
            assert_eq!(sorted(places(&layout, &value)), sorted(expected.clone()), "{layout:?}");
        }
    }

    #[test]
    fn rule_in_other_words_is_where_the_file_has_what_is_around_it() {
        let places = RulePlaces::of(b"{\"properties\": {\"n\": {\"nullable\": true}}}");
        let found = places.of_rule("f.json", &Pointer::parse("/properties/n/anyOf/0/type"));
        assert_eq!(found.node, Some(Pointer::parse("/properties/n")));
    }
}
