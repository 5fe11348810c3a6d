//! `JSON.parse`, without recursion.

use std::fmt;

use serde_json::{Map, Value};

use super::number;

/// Maximum nesting of lists and objects.
pub const MAX_DEPTH: usize = 1_000;

/// The reason why a text cannot be read as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The kind of reason.
    pub kind: JsonErrorKind,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem, as a lower-case sentence without a final period.
    pub message: String,
}

/// Kinds of reasons why a text cannot be read as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// It is not JSON.
    Syntax,
    /// It may be JSON, and is nested too deeply to be read here.
    TooDeep,
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at line {}, column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// Reads one JSON value, surrounded by white space at most.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut reader = Reader { text, at: 0 };
    reader.document().map_err(|(kind, at, message)| {
        let before = &text[..text.floor_char_boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        JsonError { kind, line, column: before[line_start..].chars().count() + 1, message }
    })
}

type Failure = (JsonErrorKind, usize, String);

/// A list or object that is still open.
enum OpenCollection {
    List(Vec<Value>),
    Object(Map<String, Value>, String),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, Failure> {
        let mut stack: Vec<OpenCollection> = Vec::new();
        loop {
            // A value begins here.
            self.space();
            let mut value = match self.peek() {
                Some(b'[') => {
                    self.at += 1;
                    self.space();
                    if self.eat(b']') {
                        Value::Array(Vec::new())
                    } else {
                        self.push(&mut stack, OpenCollection::List(Vec::new()))?;
                        continue;
                    }
                }
                Some(b'{') => {
                    self.at += 1;
                    self.space();
                    if self.eat(b'}') {
                        Value::Object(Map::new())
                    } else {
                        let key = self.key()?;
                        self.push(&mut stack, OpenCollection::Object(Map::new(), key))?;
                        continue;
                    }
                }
                Some(b'"') => Value::String(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => self.word()?,
            };
            // It ends here, and perhaps so do some of those around it.
            loop {
                self.space();
                match stack.pop() {
                    None if self.at == self.text.len() => return Ok(value),
                    None => return Err(self.unexpected("the end")),
                    Some(OpenCollection::List(mut items)) => {
                        items.push(value);
                        if self.eat(b',') {
                            stack.push(OpenCollection::List(items));
                            break;
                        }
                        if !self.eat(b']') {
                            return Err(self.unexpected("`,` or `]`"));
                        }
                        value = Value::Array(items);
                    }
                    Some(OpenCollection::Object(mut members, key)) => {
                        members.insert(key, value);
                        if self.eat(b',') {
                            self.space();
                            let key = self.key()?;
                            stack.push(OpenCollection::Object(members, key));
                            break;
                        }
                        if !self.eat(b'}') {
                            return Err(self.unexpected("`,` or `}`"));
                        }
                        value = Value::Object(members);
                    }
                }
            }
        }
    }

    fn push(&self, stack: &mut Vec<OpenCollection>, open: OpenCollection) -> Result<(), Failure> {
        if stack.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err((JsonErrorKind::TooDeep, self.at, message));
        }
        stack.push(open);
        Ok(())
    }

    fn key(&mut self) -> Result<String, Failure> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        self.space();
        if !self.eat(b':') {
            return Err(self.unexpected("`:`"));
        }
        Ok(key)
    }

    fn word(&mut self) -> Result<Value, Failure> {
        for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("a value"))
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') && self.digits() == 0 {
            return Err(self.unexpected("a digit"));
        }
        if self.eat(b'.') && self.digits() == 0 {
            return Err(self.unexpected("a digit"));
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            if self.digits() == 0 {
                return Err(self.unexpected("a digit"));
            }
        }
        // Rust reads every JSON number, to the nearest double or infinity.
        Ok(number(self.text[start..self.at].parse().unwrap_or(f64::INFINITY)))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Result<String, Failure> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count();
            text.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => return Err((JsonErrorKind::Syntax, self.at, "unescaped control character".to_owned())),
                None => return Err((JsonErrorKind::Syntax, self.at, "unterminated string".to_owned())),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Failure> {
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        Ok(character)
    }

    /// Reads the part after `\u`. A surrogate without its other half becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, Failure> {
        let Some(first) = self.hexadecimal(self.at) else { return Err(self.unexpected("four hexadecimal digits")) };
        self.at += 4;
        if (0xD800..0xDC00).contains(&first)
            && self.text[self.at..].starts_with("\\u")
            && let Some(second @ 0xDC00..=0xDFFF) = self.hexadecimal(self.at + 2)
        {
            self.at += 6;
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 4)?;
        digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&self, wanted: &str) -> Failure {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(character) => format!("`{}`", character.escape_debug()),
            None => "the end".to_owned(),
        };
        (JsonErrorKind::Syntax, self.at, format!("expected {wanted}, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{JsonErrorKind, MAX_DEPTH, parse};
    use crate::check::json::{matches, same, text};

    #[test]
    fn json_accepted_by_javascript_is_accepted() {
        assert_eq!(parse(r#" {"a":1,"b":[true,null,"x"],"a":2} "#).unwrap(), json!({"a": 2, "b": [true, null, "x"]}));
        assert_eq!(parse(r#""\ud83d\ude00 \ud83d \ude00 \u0041""#).unwrap(), json!("😀 \u{fffd} \u{fffd} A"));
        assert_eq!(parse("1e400").unwrap(), json!(f64::MAX));
        assert_eq!(parse("12345678901234567890").unwrap(), json!(12345678901234567890.0));
        assert!(parse("-0").unwrap().as_f64().unwrap().is_sign_negative());
        assert_eq!(parse("2.0").unwrap(), json!(2));
    }

    #[test]
    fn json_refused_by_javascript_is_refused_with_place() {
        for (text, message) in [
            ("", "expected a value, found the end at line 1, column 1"),
            ("{\"a\":\n  é}", "expected a value, found `é` at line 2, column 3"),
            ("[1,]", "expected a value, found `]` at line 1, column 4"),
            ("{a:1}", "expected a key in double quotes, found `a` at line 1, column 2"),
            ("01", "expected the end, found `1` at line 1, column 2"),
            ("1.", "expected a digit, found the end at line 1, column 3"),
            ("\"a\nb\"", "unescaped control character at line 1, column 3"),
            ("\"a", "unterminated string at line 1, column 3"),
            ("\u{a0}1", "expected a value, found `\\u{a0}` at line 1, column 1"),
            ("NaN", "expected a value, found `N` at line 1, column 1"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn nesting_is_bounded_and_a_small_stack_is_enough() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = move |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().kind, JsonErrorKind::TooDeep);
            assert_eq!(parse(&nested(200_000)).unwrap_err().kind, JsonErrorKind::TooDeep);
            std::thread::Builder::new()
                .stack_size(2 << 20)
                .spawn(move || {
                    let value = parse(&nested(MAX_DEPTH)).unwrap();
                    let copy = value.clone();
                    assert!(value == copy && same(&value, &copy) && matches(&value, &copy));
                    assert_eq!(text(&value).len(), value.to_string().len());
                })
                .unwrap()
                .join()
                .unwrap();
        }
    }

    fn ordinary() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-1_000_000_000_i64..1_000_000_000).prop_map(Value::from),
            (-1e9..1e9_f64).prop_filter("not whole", |it| it.fract() != 0.0).prop_map(Value::from),
            "[a-zé\\n\"\\\\\u{1}😀]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-c]{1,2}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn ordinary_values_are_read_as_serde_json_reads_them(value in ordinary(), pretty: bool) {
            let written = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(parse(&written).unwrap(), value);
        }

        #[test]
        fn both_refuse_the_same_texts(text in r#"[\[\]{}",:0-9a-e.\\ntrufals -]{0,16}"#) {
            prop_assert_eq!(parse(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }
    }
}
