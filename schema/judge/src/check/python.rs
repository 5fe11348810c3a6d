//! Values as Python compares and shows them, read from YAML 1.1 and JSON files for tools written in Python.

mod json;

use speclens_yaml::{Document, FaultKind, NodeRef, Scalar, ScalarRules, Shape, Style};

use crate::check::time;

#[derive(Clone, Debug, PartialEq)]
pub enum PythonValue {
    /// `None`.
    None,
    /// `True`, `False`.
    Bool(bool),
    Int(String),
    Float(f64),
    Text(String),
    Date(String),
    List(Vec<PythonValue>),
    Map(Vec<(PythonValue, PythonValue)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    Yaml(FaultKind),
    Json(String),
    /// It contains a value that Python cannot read.
    Refused(String),
    TooLarge,
}

const MAX_DEPTH: usize = 100;
const MAX_PARTS: usize = 200_000;

impl PythonValue {
    pub fn of_yaml(text: &str) -> Result<PythonValue, NoValue> {
        let document = Document::read(text, ScalarRules::Yaml11);
        // Of several equal keys, the last one counts.
        let is_refused = |kind: &FaultKind| !matches!(kind, FaultKind::DuplicateKey { .. });
        if let Some(fault) = document.faults().iter().find(|fault| is_refused(&fault.kind)) {
            return Err(NoValue::Yaml(fault.kind.clone()));
        }
        document.root().map_or(Ok(PythonValue::None), PythonValue::of_node)
    }

    pub fn of_node(node: NodeRef<'_>) -> Result<PythonValue, NoValue> {
        let mut left = MAX_PARTS;
        convert(node, 0, &mut left)
    }

    /// Returns whether two values are equal in Python: `1`, `1.0` and `True` are; a number never equals a string.
    pub fn equals(&self, other: &PythonValue) -> bool {
        match (self, other) {
            (PythonValue::None, PythonValue::None) => true,
            (PythonValue::Text(one), PythonValue::Text(other)) => one == other,
            (PythonValue::Date(one), PythonValue::Date(other)) => same_date(one, other),
            (PythonValue::List(one), PythonValue::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.equals(other))
            }
            (PythonValue::Map(one), PythonValue::Map(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(key, value)| other.iter().any(|(name, found)| name.equals(key) && value.equals(found)))
            }
            (PythonValue::Float(one), PythonValue::Float(other)) => one == other,
            _ => self.digits().is_some_and(|one| Some(one) == other.digits()),
        }
    }

    fn digits(&self) -> Option<String> {
        match self {
            PythonValue::Bool(value) => Some(u8::from(*value).to_string()),
            PythonValue::Int(digits) => Some(digits.clone()),
            // Negative zero is zero.
            PythonValue::Float(value) if value.fract() == 0.0 => Some(format!("{:.0}", value + 0.0)),
            PythonValue::Float(_)
            | PythonValue::None
            | PythonValue::Text(_)
            | PythonValue::Date(_)
            | PythonValue::List(_)
            | PythonValue::Map(_) => None,
        }
    }

    /// Returns the value of a key; `None` for null, which counts as missing.
    pub fn get(&self, key: &str) -> Option<&PythonValue> {
        let PythonValue::Map(members) = self else { return None };
        let is_key = |name: &PythonValue| matches!(name, PythonValue::Text(name) if name == key);
        let found = members.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value);
        found.filter(|value| **value != PythonValue::None)
    }

    pub fn dotted(&self, path: &str) -> Option<&PythonValue> {
        path.split('.').try_fold(self, |value, key| value.get(key))
    }

    pub fn try_map_texts<E>(&self, map: &impl Fn(&str) -> Result<String, E>) -> Result<PythonValue, E> {
        Ok(match self {
            PythonValue::Text(text) => PythonValue::Text(map(text)?),
            PythonValue::List(items) => {
                PythonValue::List(items.iter().map(|item| item.try_map_texts(map)).collect::<Result<_, E>>()?)
            }
            PythonValue::Map(members) => {
                let members = members.iter().map(|(key, value)| Ok((key.clone(), value.try_map_texts(map)?)));
                PythonValue::Map(members.collect::<Result<_, E>>()?)
            }
            PythonValue::None
            | PythonValue::Bool(_)
            | PythonValue::Int(_)
            | PythonValue::Float(_)
            | PythonValue::Date(_) => self.clone(),
        })
    }

    /// Returns the value as JSON; `None` for dates, lists, mappings and integers that JSON does not hold exactly.
    pub fn scalar(&self) -> Option<serde_json::Value> {
        match self {
            PythonValue::Text(text) => Some(text.as_str().into()),
            PythonValue::Bool(value) => Some((*value).into()),
            PythonValue::Int(digits) => digits.parse::<i64>().ok().map(Into::into),
            PythonValue::Float(value) => serde_json::Number::from_f64(*value).map(Into::into),
            PythonValue::None | PythonValue::Date(_) | PythonValue::List(_) | PythonValue::Map(_) => None,
        }
    }

    /// Returns the keys of a mapping that have a value; empty for other values.
    pub fn keys(&self) -> Vec<String> {
        let PythonValue::Map(entries) = self else { return Vec::new() };
        let filled = entries.iter().filter(|(_, value)| *value != PythonValue::None);
        filled.map(|(key, _)| key.show()).collect()
    }

    pub fn is_map(&self) -> bool {
        matches!(self, PythonValue::Map(_))
    }

    /// Returns a string as it is, and everything else as Python prints it.
    pub fn show(&self) -> String {
        match self {
            PythonValue::Text(text) | PythonValue::Date(text) => text.clone(),
            PythonValue::None => "None".to_owned(),
            PythonValue::Bool(true) => "True".to_owned(),
            PythonValue::Bool(false) => "False".to_owned(),
            PythonValue::Int(digits) => digits.clone(),
            PythonValue::Float(value) if value.fract() == 0.0 && value.abs() < 1e16 => format!("{value:.1}"),
            PythonValue::Float(value) => value.to_string(),
            PythonValue::List(items) => {
                format!("[{}]", items.iter().map(PythonValue::quoted).collect::<Vec<_>>().join(", "))
            }
            PythonValue::Map(members) => {
                let members = members.iter().map(|(key, value)| format!("{}: {}", key.quoted(), value.quoted()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn quoted(&self) -> String {
        match self {
            PythonValue::Text(text) => format!("'{text}'"),
            _ => self.show(),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            PythonValue::None => "null",
            PythonValue::Bool(_) => "a boolean",
            PythonValue::Int(_) | PythonValue::Float(_) => "a number",
            PythonValue::Text(_) => "a string",
            PythonValue::Date(_) => "a date",
            PythonValue::List(_) => "a list",
            PythonValue::Map(_) => "a mapping",
        }
    }
}

/// Returns whether two dates are equal. A date never equals a date with a time.
fn same_date(one: &str, other: &str) -> bool {
    let parsed = (time::parse(one), time::parse(other));
    let both_dates = (one.len() == 10) == (other.len() == 10);
    one == other || both_dates && matches!(parsed, (Some(one), Some(other)) if one == other)
}

fn convert(node: NodeRef<'_>, depth: usize, left: &mut usize) -> Result<PythonValue, NoValue> {
    *left = left.checked_sub(1).ok_or(NoValue::TooLarge)?;
    if depth > MAX_DEPTH {
        return Err(NoValue::TooLarge);
    }
    let shape = node.shape();
    match node.tag().filter(|tag| *tag != "!") {
        None => {}
        Some(tag) => {
            let core = tag.strip_prefix(CORE);
            let is_known = match shape {
                Shape::Scalar | Shape::Dangling => core.is_some_and(|core| SCALARS.contains(&core)),
                Shape::Sequence => core == Some("seq"),
                Shape::Mapping => core == Some("map"),
            };
            if !is_known {
                let written = core.map_or_else(|| tag.to_owned(), |core| format!("!!{core}"));
                return Err(NoValue::Refused(format!("the tag `{written}` is not supported here")));
            }
        }
    }
    match shape {
        Shape::Scalar => scalar(node),
        Shape::Dangling => Ok(PythonValue::None),
        Shape::Sequence => {
            Ok(PythonValue::List(node.items().map(|item| convert(item, depth + 1, left)).collect::<Result<_, _>>()?))
        }
        Shape::Mapping => mapping(node, depth, left),
    }
}

const CORE: &str = "tag:yaml.org,2002:";

/// Tags of scalars that PyYAML's safe loader knows. `!!binary` makes bytes, which equal no other value.
const SCALARS: [&str; 6] = ["null", "bool", "int", "float", "str", "timestamp"];

fn scalar(node: NodeRef<'_>) -> Result<PythonValue, NoValue> {
    let text = node.text().unwrap_or_default();
    let tag = node.tag().and_then(|tag| tag.strip_prefix(CORE));
    let meaning = node.scalar();
    let wrong = |what: &str| Err(NoValue::Refused(format!("`{text}` is not a valid {what}")));
    match (tag, meaning) {
        (Some("str"), _) => Ok(PythonValue::Text(text.to_owned())),
        (Some("null"), _) => Ok(PythonValue::None),
        (Some("timestamp"), _) if !Scalar::is_timestamp(text) => wrong("date"),
        (Some("timestamp"), _) => Ok(PythonValue::Date(text.to_owned())),
        (Some("float"), Some(Scalar::Int(value))) => Ok(PythonValue::Float(value as f64)),
        (Some("float"), Some(Scalar::Float(value))) => Ok(PythonValue::Float(value)),
        (Some("float"), _) => wrong("number"),
        (Some("bool"), Some(Scalar::Bool(value))) => Ok(PythonValue::Bool(value)),
        (Some("bool"), _) => wrong("boolean"),
        (_, Some(Scalar::Int(value))) => match read_integer(text) {
            Some(digits) => Ok(PythonValue::Int(digits)),
            None => Ok(PythonValue::Int(value.to_string())),
        },
        (_, Some(Scalar::Float(value))) => match read_integer(text) {
            Some(digits) if digits.len() > MAX_DIGITS => Err(NoValue::Refused(too_long())),
            Some(digits) => Ok(PythonValue::Int(digits)),
            None if tag == Some("int") => wrong("integer"),
            None => Ok(PythonValue::Float(value)),
        },
        (Some("int"), _) => wrong("integer"),
        (_, None | Some(Scalar::Null)) => Ok(PythonValue::None),
        (_, Some(Scalar::Bool(value))) => Ok(PythonValue::Bool(value)),
        (_, Some(Scalar::Timestamp)) => Ok(PythonValue::Date(text.to_owned())),
        (_, Some(Scalar::Text)) => Ok(PythonValue::Text(text.to_owned())),
    }
}

fn mapping(node: NodeRef<'_>, depth: usize, left: &mut usize) -> Result<PythonValue, NoValue> {
    let mut members: Vec<(PythonValue, PythonValue)> = Vec::new();
    let mut merged: Vec<(PythonValue, PythonValue)> = Vec::new();
    for entry in node.entries() {
        let is_merge = entry.key.text() == Some("<<") && entry.key.style() == Some(Style::Plain);
        if is_merge && entry.key.tag().is_none() {
            let bases: Vec<_> = match entry.value.shape() {
                Shape::Sequence => entry.value.items().collect(),
                Shape::Scalar | Shape::Mapping | Shape::Dangling => vec![entry.value],
            };
            let mut new: Vec<(PythonValue, PythonValue)> = Vec::new();
            for base in bases {
                let PythonValue::Map(found) = convert(base, depth + 1, left)? else {
                    return Err(NoValue::Refused("`<<` needs a mapping, or a list of mappings".to_owned()));
                };
                for (key, value) in found {
                    if !new.iter().any(|(known, _)| known.equals(&key)) {
                        new.push((key, value));
                    }
                }
            }
            // A later `<<` overrides an earlier one.
            merged.retain(|(key, _)| !new.iter().any(|(known, _)| known.equals(key)));
            merged.extend(new);
            continue;
        }
        let key = convert(entry.key, depth + 1, left)?;
        if matches!(key, PythonValue::List(_) | PythonValue::Map(_)) {
            return Err(NoValue::Refused(format!("{} is not a valid key", key.kind())));
        }
        let value = convert(entry.value, depth + 1, left)?;
        match members.iter_mut().find(|(known, _)| known.equals(&key)) {
            Some((_, former)) => *former = value,
            None => members.push((key, value)),
        }
    }
    merged.retain(|(key, _)| !members.iter().any(|(known, _)| known.equals(key)));
    merged.extend(members);
    Ok(PythonValue::Map(merged))
}

/// Maximum number of digits of an integer that Python reads.
const MAX_DIGITS: usize = 4_300;

fn too_long() -> String {
    format!("an integer has more than {MAX_DIGITS} digits")
}

/// Returns the decimal digits of an integer. `None` if the text is not one.
fn read_integer(text: &str) -> Option<String> {
    let (is_negative, unsigned) = match text.strip_prefix(['+', '-']) {
        Some(unsigned) => (text.starts_with('-'), unsigned),
        None => (false, text),
    };
    if !unsigned.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let bare = unsigned.replace('_', "");
    let (digits, base) = match (bare.strip_prefix("0b"), bare.strip_prefix("0x"), bare.strip_prefix('0')) {
        (Some(digits), ..) => (digits, 2),
        (_, Some(digits), _) => (digits, 16),
        (.., Some("")) => ("0", 10),
        (.., Some(digits)) => (digits, 8),
        (None, None, None) => (bare.as_str(), 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    let decimal = if base == 10 || digits.len() > MAX_DIGITS { digits.to_owned() } else { decimal(digits, base) };
    let significant = decimal.trim_start_matches('0');
    Some(match (significant, is_negative) {
        ("", _) => "0".to_owned(),
        (digits, true) => format!("-{digits}"),
        (digits, false) => digits.to_owned(),
    })
}

fn decimal(digits: &str, base: u32) -> String {
    // Groups of nine decimal digits, the lowest first.
    const GROUP: u64 = 1_000_000_000;
    let mut groups: Vec<u64> = vec![0];
    for digit in digits.chars().filter_map(|digit| digit.to_digit(base)) {
        let mut carry = u64::from(digit);
        for group in &mut groups {
            let sum = *group * u64::from(base) + carry;
            (*group, carry) = (sum % GROUP, sum / GROUP);
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    groups.iter().rev().map(|group| format!("{group:09}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{NoValue, PythonValue, read_integer};

    fn yaml(text: &str) -> PythonValue {
        PythonValue::of_yaml(text).unwrap()
    }

    #[test]
    fn equality_is_pythons() {
        for (one, other, equal) in [
            ("1", "1.0", true),
            ("1", "yes", true),
            ("1", "'1'", false),
            ("010", "8", true),
            ("2026-05-14", "2026-05-14", true),
            ("2026-05-14", "'2026-05-14'", false),
            ("[1, a]", "[1.0, a]", true),
            ("{a: 1, b: 2}", "{b: 2, a: 1}", true),
            ("{a: 1}", "{a: 1, b: 2}", false),
            // A later merge counts, and in a list an earlier one.
            ("{<<: {a: 1, b: 1}, <<: {a: 2}}", "{a: 2, b: 1}", true),
            ("{<<: [{a: 1, b: 1}, {a: 2}]}", "{a: 1, b: 1}", true),
            // Integers are exact.
            ("9007199254740993", "9007199254740992", false),
            ("1234567890123456788", "1234567890123456789", false),
            ("12345678901234567890", "12345678901234567891", false),
            ("12345678901234567890", "12_345_678_901_234_567_890", true),
            ("-18446744073709551616", "-0x1_0000_0000_0000_0000", true),
            ("0b1", "1", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("9007199254740992", "9007199254740992.0", true),
            ("1.5", "1", false),
            ("-0", "0.0", true),
            ("-0.0", "0", true),
            (".nan", ".nan", false),
            // Keys are values.
            ("{1: one}", "{'1': one}", false),
            ("{1: one}", "{1.0: one}", true),
            ("{yes: one}", "{1: one}", true),
            // Tags decide.
            ("!!str 1", "'1'", true),
            ("!!int '1'", "1", true),
            ("!!float 1", "1", true),
            ("!!timestamp '2026-05-14'", "2026-05-14", true),
        ] {
            assert_eq!(yaml(one).equals(&yaml(other)), equal, "{one} and {other}");
        }
    }

    #[test]
    fn dotted_keys_lead_through_mappings_only() {
        let state = yaml("a: {b: {c: 1}, n: null}\nl: [x]\nbase: &b {q: 1}\nd: {<<: *b, r: 2}\n");
        assert_eq!(state.dotted("a.b.c"), Some(&PythonValue::Int("1".to_owned())));
        assert_eq!(state.dotted("a.n"), None);
        assert_eq!(state.dotted("l.0"), None);
        assert_eq!(state.dotted("d.q"), Some(&PythonValue::Int("1".to_owned())));
    }

    #[test]
    fn last_of_equal_keys_counts() {
        assert!(yaml("a: 1\na: 2\n").equals(&yaml("a: 2")));
        assert!(yaml("1: x\ntrue: y\n").equals(&yaml("1: y")));
        assert!(yaml("base: &b {q: 1}\nd: {<<: *b, q: 2, q: 3}\n").equals(&yaml("{base: {q: 1}, d: {q: 3}}")));
        assert!(PythonValue::of_json("{\"a\": 1, \"a\": 2}").unwrap().equals(&yaml("a: 2")));
        assert!(yaml("{'<<': 1}").equals(&yaml("{'<<': 1}")));
    }

    #[test]
    fn values_of_json_are_exact() {
        let json = |text: &str| PythonValue::of_json(text).unwrap();
        let text = "{\"id\": 12345678901234567890, \"list\": [-0, 1.5, \"\\u00e9\\n\", true, null, {}], \"e\": []}";
        assert!(json(text).equals(&yaml("{id: 12345678901234567890, list: [0, 1.5, \"é\\n\", yes, ~, {}], e: []}")));
        assert!(!json("12345678901234567890").equals(&json("12345678901234567891")));
        assert_eq!(json("[12345678901234567890]").show(), "[12345678901234567890]");
    }

    #[test]
    fn what_pyyaml_refuses_has_no_value() {
        for text in
            ["a: !foo 1", "a: !!binary eA==", "!!str [a]", "!!int yes", "!!bool 1", "[a]: 1", "<<: 1", "!!timestamp x"]
        {
            assert!(matches!(PythonValue::of_yaml(text), Err(NoValue::Refused(_))), "{text}");
        }
    }

    #[test]
    fn unreadable_file_has_reason() {
        assert!(PythonValue::of_yaml("a: [").is_err());
        assert!(PythonValue::of_yaml("---\na: 1\n---\nb: 2\n").is_err(), "two documents");
        assert!(PythonValue::of_json("{\"a\": }").is_err());
        assert_eq!(yaml(""), PythonValue::None);
    }

    #[test]
    fn integers_of_every_base_are_decimal() {
        for (text, digits) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("+1_000", Some("1000")),
            ("010", Some("8")),
            ("0b101", Some("5")),
            ("-0xfFfFfFfFfFfFfFfFf", Some("-295147905179352825855")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("08", None),
            ("1.0", None),
            ("0x", None),
            ("_1", None),
            ("1:30", None),
            ("", None),
        ] {
            assert_eq!(read_integer(text).as_deref(), digits, "{text}");
        }
    }
}
