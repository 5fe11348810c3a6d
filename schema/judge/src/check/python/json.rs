//! JSON with integers of any size.

use std::collections::HashMap;

use serde_json::Value;

use super::{MAX_DIGITS, NoValue, PythonValue, too_long};

impl PythonValue {
    pub fn of_json(text: &str) -> Result<PythonValue, NoValue> {
        // The text is known to be valid, and not to be nested deeply, before its values are read.
        serde_json::from_str::<Value>(text).map_err(|error| NoValue::Json(error.to_string()))?;
        Reader { rest: text }.value().ok_or_else(|| NoValue::Refused(too_long()))
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Returns the next value. `None` if it contains an integer that Python does not read.
    fn value(&mut self) -> Option<PythonValue> {
        self.skip_space();
        match self.rest.as_bytes().first()? {
            b'{' => {
                self.skip(1);
                let mut members: Vec<(PythonValue, PythonValue)> = Vec::new();
                let mut places: HashMap<String, usize> = HashMap::new();
                while !self.ends(b'}') {
                    let key = self.string();
                    self.skip_space();
                    self.skip(1);
                    let value = self.value()?;
                    // Of several equal keys, the last one counts.
                    match places.get(&key) {
                        Some(place) => members[*place].1 = value,
                        None => {
                            places.insert(key.clone(), members.len());
                            members.push((PythonValue::Text(key), value));
                        }
                    }
                }
                Some(PythonValue::Map(members))
            }
            b'[' => {
                self.skip(1);
                let mut items = Vec::new();
                while !self.ends(b']') {
                    items.push(self.value()?);
                }
                Some(PythonValue::List(items))
            }
            b'"' => Some(PythonValue::Text(self.string())),
            _ => self.word(),
        }
    }

    fn skip(&mut self, length: usize) -> &'t str {
        let (skipped, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        skipped
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Skips the comma before the next entry. Returns whether there is none, and skips the closing bracket.
    fn ends(&mut self, close: u8) -> bool {
        self.skip_space();
        self.rest = self.rest.strip_prefix(',').unwrap_or(self.rest);
        self.skip_space();
        let is_end = self.rest.as_bytes().first().is_none_or(|next| *next == close);
        if is_end {
            self.skip(1);
        }
        is_end
    }

    fn string(&mut self) -> String {
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        while bytes.get(end).is_some_and(|byte| *byte != b'"') {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        serde_json::from_str(self.skip(end + 1)).unwrap_or_default()
    }

    fn word(&mut self) -> Option<PythonValue> {
        let is_end = |letter: char| matches!(letter, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r');
        let word = self.skip(self.rest.find(is_end).unwrap_or(self.rest.len()));
        Some(match word {
            "null" => PythonValue::None,
            "true" => PythonValue::Bool(true),
            "false" => PythonValue::Bool(false),
            "-0" => PythonValue::Int("0".to_owned()),
            _ if word.contains(['.', 'e', 'E']) => PythonValue::Float(word.parse().unwrap_or(f64::NAN)),
            _ if word.len() > MAX_DIGITS => return None,
            _ => PythonValue::Int(word.to_owned()),
        })
    }
}
