//! The named values of a line, in whatever form they are written: `key=value` words, quoted or not, or JSON.
//!
//! A JSON line of an OpenClaw gateway contains the logged values under numbers (`"0"` the part of the gateway, then
//! fields, then the message), the level under `_meta.logLevelName`, and the trace under `traceId`. A truncated line is
//! read up to its end.

use std::{borrow::Cow, fmt, sync::LazyLock};

use regex::Regex;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The named values of a line, and its other words.
#[derive(Debug, Default)]
pub(super) struct Fields {
    named: Vec<Field>,
    /// The words without a name, as they are written.
    pub words: Vec<String>,
    /// The level, if the line has one.
    pub level: Option<String>,
    /// Whether it is JSON that cannot be read to its end.
    pub is_damaged: bool,
    /// The same words, in lower case, one blank around each. `_` and `-` separate words.
    plain: String,
}

#[derive(Debug)]
struct Field {
    /// The path in lower case, letters and digits only, parts separated by `.`: `params.agentid`.
    path: String,
    value: String,
}

/// Keys below which a tool's own data is, whose names mean nothing here.
const TOOL_DATA: [&str; 10] =
    ["params", "parameters", "args", "arguments", "input", "toolinput", "toolargs", "output", "result", "response"];

/// Keys whose value is a sentence, which continues until the next key.
const SENTENCES: [&str; 8] = ["summary", "error", "errormessage", "rawerror", "err", "reason", "message", "msg"];

/// Keys whose value says what happened, like words without a name.
const EVENT_KINDS: [&str; 7] = ["event", "type", "kind", "phase", "action", "message", "msg"];

/// Keys that are recognized before `: ` too.
const KEYS: [&str; 14] = [
    "runid", "parentrunid", "childrunid", "sessionid", "sessionkey", "traceid", "tool", "toolname", "toolcallid",
    "agent", "agentid", "agentname", "status", "iserror",
];

impl Fields {
    pub(super) fn read(text: &str) -> Fields {
        let mut fields = Fields::default();
        if !text.trim_start().starts_with('{') {
            fields.take_text(text);
        } else if fields.take_json(text).is_err() {
            fields = Fields::default();
            // Everything before an error is read.
            fields.is_damaged = fields.take_json(&readable(text)).is_err();
        }
        let said = fields.words.iter().map(String::as_str);
        let kinds = fields.named.iter().filter(|field| EVENT_KINDS.contains(&last(&field.path)));
        let kinds = kinds.flat_map(|field| field.value.split('.'));
        fields.plain = plain_words(said.chain(kinds));
        fields
    }

    /// Returns the first known value with one of these names, which are last parts of paths.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        self.named.iter().filter(|field| is_named(&field.path, names)).find_map(|field| known(&field.value))
    }

    pub(super) fn all<'f>(&'f self, names: &'f [&str]) -> impl Iterator<Item = &'f str> {
        self.named.iter().filter(|field| is_named(&field.path, names)).filter_map(|field| known(&field.value))
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.named.iter().any(|field| is_named(&field.path, names))
    }

    pub(super) fn has_word(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let keys = self.named.iter().flat_map(|field| own_path(&field.path).split('.'));
        keys.chain(self.plain.split(' ')).any(&is_it)
    }

    /// Returns whether the words of a phrase appear in this order.
    pub(super) fn says(&self, phrase: &str) -> bool {
        self.plain.contains(&format!(" {phrase} "))
    }

    fn take_json(&mut self, text: &str) -> serde_json::Result<()> {
        serde_json::Deserializer::from_str(text).deserialize_map(self)
    }

    fn take_text(&mut self, text: &str) {
        // JSON behind other words: its paths are needed.
        if let Some((before, json, behind)) = embedded(text) {
            let key = before.trim_end().trim_end_matches(['=', ':']);
            let is_value = key.len() < before.trim_end().len();
            let start = key.trim_end_matches(is_key_letter).len();
            let (words, path) = if is_value { (&key[..start], normal(&key[start..])) } else { (before, String::new()) };
            self.take_words(words);
            self.take_value(&path, json);
            self.take_text(behind);
        } else {
            self.take_words(text);
        }
    }

    fn take_words(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            rest = match named_value(rest) {
                Some((key, value, behind)) => {
                    self.named.push(Field { path: normal(key), value });
                    behind
                }
                None => {
                    let end = rest.find(is_between).unwrap_or(rest.len());
                    self.words.extend((end > 0).then(|| rest[..end].to_owned()));
                    let skipped = rest.chars().next().filter(|_| end == 0).map_or(0, char::len_utf8);
                    &rest[end + skipped..]
                }
            };
            rest = rest.trim_start_matches(|letter| is_between(letter) && !matches!(letter, '"' | '\''));
        }
    }

    fn take_member(&mut self, name: &str, value: Value) {
        let is_logged = name.bytes().all(|byte| byte.is_ascii_digit());
        match value {
            // Names of the parts of the gateway are JSON too.
            Value::String(text) if name == "0" && text.starts_with('{') => {}
            Value::String(text) if is_logged => self.take_text(&text),
            value if is_logged => self.take_value("", value),
            Value::Object(meta) if name == "_meta" => {
                self.level = meta.get("logLevelName").and_then(Value::as_str).map(str::to_owned);
            }
            // Of an OpenClaw gateway, it repeats the numbered message.
            Value::String(text) if matches!(name, "message" | "msg") && self.words.is_empty() => self.take_text(&text),
            value => self.take_value(&normal(name), value),
        }
    }

    fn take_value(&mut self, path: &str, value: Value) {
        let scalar = match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let name = normal(&name);
                    let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                    self.take_value(&path, value);
                }
                return;
            }
            Value::Array(items) => {
                items.into_iter().for_each(|item| self.take_value(path, item));
                return;
            }
            Value::String(text) => text,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null => return,
        };
        self.named.push(Field { path: path.to_owned(), value: scalar });
    }

    /// Returns a JSON line with the same content, but without long values and the middle of a long message.
    pub(super) fn excerpt(&self) -> String {
        let mut line = serde_json::Map::new();
        for field in self.named.iter().filter(|field| field.value.len() <= MAX_EXCERPT_VALUE) {
            line.entry(field.path.as_str()).or_insert_with(|| Value::String(field.value.clone()));
        }
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).filter(|word| word.len() <= MAX_EXCERPT_VALUE).collect();
        let end = words.len().saturating_sub(EXCERPT_WORDS).max(EXCERPT_WORDS.min(words.len()));
        let shown: Vec<&str> = words.iter().take(EXCERPT_WORDS).chain(&words[end..]).copied().collect();
        line.insert("message".to_owned(), Value::String(shown.join(" ")));
        if let Some(level) = &self.level {
            line.insert("_meta".to_owned(), serde_json::json!({ "logLevelName": level }));
        }
        Value::Object(line).to_string()
    }
}

/// Maximum number of bytes of a value in the excerpt of a line.
const MAX_EXCERPT_VALUE: usize = 200;

/// Number of words of a message to keep at its beginning and at its end.
const EXCERPT_WORDS: usize = 20;

impl<'de> Visitor<'de> for &mut Fields {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a line of a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value()?;
            self.take_member(&name, value);
        }
        Ok(())
    }
}

/// Returns JSON without halves of characters: JavaScript writes them for a text that was cut in the middle of one.
fn readable(text: &str) -> Cow<'_, str> {
    static HALVES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}").expect("a valid expression"));
    HALVES.replace_all(text, r"\ufffd")
}

/// Splits a line behind each of the JSON objects at its beginning: two programs may have written into one line.
pub(super) fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.trim_start().starts_with('{') {
        let mut objects = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        if !matches!(objects.next(), Some(Ok(_))) {
            break;
        }
        let (object, rest) = text.split_at(objects.byte_offset());
        pieces.push(object);
        text = rest;
    }
    if pieces.is_empty() || !text.trim().is_empty() {
        pieces.push(text);
    }
    pieces
}

/// Returns a value unless it is a placeholder.
fn known(text: &str) -> Option<&str> {
    (!matches!(text, "" | "unknown" | "undefined" | "null")).then_some(text)
}

/// Returns a key in lower case, without anything but letters, digits and the dots between its parts.
fn normal(key: &str) -> String {
    let letters = key.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '.');
    letters.map(|letter| letter.to_ascii_lowercase()).collect::<String>().trim_matches('.').to_owned()
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns whether a path is or ends with one of these names, and does not lead into the data of a tool.
fn is_named(path: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let above = path.strip_suffix(name).filter(|above| above.is_empty() || above.ends_with('.'));
        above.is_some_and(|above| above.split('.').all(|part| !TOOL_DATA.contains(&part)))
    })
}

/// Returns the part of a path that is not inside the data of a tool.
fn own_path(path: &str) -> &str {
    let mut end = 0;
    for part in path.split('.') {
        end += part.len();
        if TOOL_DATA.contains(&part) {
            break;
        }
        end += 1;
    }
    &path[..end.min(path.len())]
}

fn is_key_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

fn is_between(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, ',' | ';' | ':' | '|' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`')
}

/// Returns the words, in lower case, with one blank around each.
fn plain_words<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut plain = " ".to_owned();
    for word in words.flat_map(|word| word.split(|letter: char| is_between(letter) || matches!(letter, '_' | '-'))) {
        let word = word.trim_matches('.');
        if !word.is_empty() {
            plain.push_str(&word.to_ascii_lowercase());
            plain.push(' ');
        }
    }
    plain
}

/// Splits a text at the JSON object in it.
fn embedded(text: &str) -> Option<(&str, Value, &str)> {
    let starts = text.match_indices("{\"").map(|(at, _)| at).take(MAX_OBJECTS);
    starts.into_iter().find_map(|at| {
        let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let value = read.next()?.ok()?;
        let end = at + read.byte_offset();
        Some((&text[..at], value, &text[end..]))
    })
}

/// Maximum number of places at which JSON is looked for in a text.
const MAX_OBJECTS: usize = 4;

/// Reads `key=value`, `"key": "value"`, or a known key with `: `. Returns the key, the value, and the rest.
fn named_value(text: &str) -> Option<(&str, String, &str)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let (key, behind) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_at(text.find(|letter| !is_key_letter(letter)).unwrap_or(text.len())),
    };
    if key.is_empty() || !key.chars().all(is_key_letter) {
        return None;
    }
    let sign = behind.trim_start_matches([' ', '\t']);
    let is_spaced = sign.len() < behind.len();
    let name = normal(key);
    let (value, may_be_spaced) = if let Some(value) = sign.strip_prefix('=') {
        (value.strip_prefix('>').unwrap_or(value), is_spaced || quote.is_some())
    } else {
        let is_key = quote.is_some() || (!is_spaced && KEYS.contains(&name.as_str()));
        (sign.strip_prefix(':').filter(|_| is_key)?, true)
    };
    if is_spaced && quote.is_none() && !value.starts_with([' ', '\t']) {
        return None;
    }
    let value = if may_be_spaced { value.trim_start_matches([' ', '\t']) } else { value };
    let (value, rest) = match value.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => quoted(&value[1..], quote),
        // JSON that cannot be read.
        Some('{' | '[') => return None,
        _ if SENTENCES.contains(&last(&name)) => sentence(value),
        _ => {
            let ends =
                |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '|' | ')' | ']' | '}' | '"');
            let (value, rest) = value.split_at(value.find(ends).unwrap_or(value.len()));
            (value.to_owned(), rest)
        }
    };
    // `tool: runId=…` is a word before a named value.
    let is_word = quote.is_none() && !sign.starts_with('=') && value.contains('=');
    (!is_word).then_some((key, value, rest))
}

fn quoted(text: &str, quote: char) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            _ if letter == quote => return (value, &text[at + letter.len_utf8()..]),
            _ => value.push(letter),
        }
    }
    (value, "")
}

/// Reads a text up to the next named value.
fn sentence(text: &str) -> (String, &str) {
    let is_next = |at: usize| {
        let next = text[at..].trim_start();
        let end = next.find(|letter| !is_key_letter(letter)).unwrap_or(next.len());
        end > 0 && next[end..].starts_with('=')
    };
    let blanks = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let end = blanks.into_iter().find(|at| is_next(*at)).unwrap_or(text.len());
    (text[..end].trim_end().to_owned(), &text[end..])
}
