//! The meaning of plain scalars: the core schema of YAML 1.2, and YAML 1.1 as PyYAML reads it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarRules {
    /// YAML 1.1 as PyYAML reads it: `yes` is a boolean, `012` is ten, `2024-01-01` is a date; merge keys apply.
    Yaml11,
    /// The core schema of YAML 1.2: `yes` is a string, `012` is twelve; merge keys are ordinary keys.
    Yaml12,
    /// The same, with merge keys.
    Yaml12Merging,
}

impl ScalarRules {
    /// Returns whether `<<` merges the entries of another mapping.
    pub fn merges(self) -> bool {
        match self {
            ScalarRules::Yaml11 | ScalarRules::Yaml12Merging => true,
            ScalarRules::Yaml12 => false,
        }
    }

    pub(crate) fn is_yaml11(self) -> bool {
        match self {
            ScalarRules::Yaml11 => true,
            ScalarRules::Yaml12 | ScalarRules::Yaml12Merging => false,
        }
    }
}

use super::tree::Style;

#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text,
    /// A date or a point in time (YAML 1.1 only).
    Timestamp,
}

impl Scalar {
    /// Returns whether YAML 1.1 reads a plain scalar as a date or a point in time.
    pub fn is_timestamp(text: &str) -> bool {
        is_timestamp(text)
    }
}

/// Resolves a scalar. `tag` is the resolved tag, if there is one.
#[inline]
pub(super) fn resolve(value: &str, style: Style, tag: Option<&str>, rules: ScalarRules) -> Scalar {
    if let Some(core) = tag.and_then(|tag| tag.strip_prefix("tag:yaml.org,2002:")) {
        return match core {
            "null" => Scalar::Null,
            "bool" | "int" | "float" => plain(value, rules),
            "timestamp" if rules.is_yaml11() && (is_timestamp(value) || is_short_date(value)) => Scalar::Timestamp,
            _ => Scalar::Text,
        };
    }
    if tag == Some("!") || style != Style::Plain {
        return Scalar::Text;
    }
    plain(value, rules)
}

/// Length of `false`: no other word with a meaning is longer.
const LONGEST_WORD: usize = 5;

/// Returns whether a plain scalar without a tag is text under all rules, judging by its length and first letters. Most
/// texts need no closer look.
#[inline]
pub(super) fn is_surely_text(value: &str) -> bool {
    match value.as_bytes() {
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] | [b'~'] | [] => false,
        [first, second, ..] if value.len() <= LONGEST_WORD => {
            let begins_a_word = [b"on", b"of", b"no", b"nu", b"ye", b"tr", b"fa"];
            !begins_a_word.contains(&&[first.to_ascii_lowercase(), second.to_ascii_lowercase()])
        }
        [_, ..] => true,
    }
}

#[inline]
fn plain(value: &str, rules: ScalarRules) -> Scalar {
    if is_surely_text(value) {
        return Scalar::Text;
    }
    match rules {
        ScalarRules::Yaml12 | ScalarRules::Yaml12Merging => core12(value),
        ScalarRules::Yaml11 => python11(value),
    }
}

/// Returns whether the two versions of YAML read this plain scalar differently.
pub fn is_ambiguous(value: &str) -> bool {
    match (core12(value), python11(value)) {
        (Scalar::Float(one), Scalar::Float(other)) => one != other && !(one.is_nan() && other.is_nan()),
        // `-0` is the same number in both.
        (Scalar::Float(float), Scalar::Int(int)) => float != int as f64,
        (one, other) => one != other,
    }
}

/// Returns whether a text begins as numbers and dates do. That alone decides most texts.
fn may_be_number(value: &str) -> bool {
    matches!(value.as_bytes().first(), Some(b'0'..=b'9' | b'+' | b'-' | b'.'))
}

fn core12(value: &str) -> Scalar {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ if !may_be_number(value) => return Scalar::Text,
        _ => {}
    }
    if let Some(special) = special_float(value) {
        return Scalar::Float(special);
    }
    if let Some(digits) = value.strip_prefix("0o") {
        return radix(digits, 8, false);
    }
    if let Some(digits) = value.strip_prefix("0x") {
        return radix(digits, 16, false);
    }
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return decimal(value);
    }
    if is_float12(unsigned) { value.parse().map_or(Scalar::Text, Scalar::Float) } else { Scalar::Text }
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float12(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_is_number = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    mantissa_is_number && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

fn special_float(value: &str) -> Option<f64> {
    match value {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        _ => None,
    }
}

fn decimal(value: &str) -> Scalar {
    // `-0` is a signed double in the tools that read these files.
    if value.starts_with('-') && value[1..].bytes().all(|byte| byte == b'0') {
        return Scalar::Float(-0.0);
    }
    match value.parse::<i64>() {
        Ok(number) => Scalar::Int(number),
        Err(_) => value.parse().map_or(Scalar::Text, Scalar::Float),
    }
}

fn radix(digits: &str, base: u32, negative: bool) -> Scalar {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return Scalar::Text;
    }
    match i64::from_str_radix(digits, base) {
        Ok(number) => Scalar::Int(if negative { -number } else { number }),
        Err(_) => {
            let number = digits
                .chars()
                .fold(0.0, |sum: f64, digit| sum * f64::from(base) + f64::from(digit.to_digit(base).unwrap_or(0)));
            Scalar::Float(if negative { -number } else { number })
        }
    }
}

/// Resolves a scalar as PyYAML's safe loader does.
fn python11(value: &str) -> Scalar {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Scalar::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Scalar::Bool(false),
        _ if !may_be_number(value) => return Scalar::Text,
        _ => {}
    }
    if let Some(special) = special_float(value) {
        return Scalar::Float(special);
    }
    if is_timestamp(value) {
        return Scalar::Timestamp;
    }
    int11(value).or_else(|| float11(value)).unwrap_or(Scalar::Text)
}

fn int11(value: &str) -> Option<Scalar> {
    let negative = value.starts_with('-');
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    if !unsigned.bytes().next()?.is_ascii_digit() {
        return None;
    }
    let digits = unsigned.replace('_', "");
    let all = |text: &str, base: u32| !text.is_empty() && text.chars().all(|digit| digit.is_digit(base));
    if let Some(binary) = digits.strip_prefix("0b") {
        return all(binary, 2).then(|| radix(binary, 2, negative));
    }
    if let Some(hex) = digits.strip_prefix("0x") {
        return all(hex, 16).then(|| radix(hex, 16, negative));
    }
    if digits == "0" {
        return Some(Scalar::Int(0));
    }
    if let Some(octal) = digits.strip_prefix('0') {
        return all(octal, 8).then(|| radix(octal, 8, negative));
    }
    if digits.contains(':') {
        return sexagesimal(unsigned, negative, false);
    }
    if !all(&digits, 10) {
        return None;
    }
    let signed = if negative { format!("-{digits}") } else { digits };
    Some(signed.parse::<i64>().map_or_else(|_| Scalar::Float(signed.parse().unwrap_or(f64::NAN)), Scalar::Int))
}

/// `[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?`, `\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?`, base 60 with a fraction.
fn float11(value: &str) -> Option<Scalar> {
    let negative = value.starts_with('-');
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    if unsigned.contains(':') {
        return sexagesimal(unsigned, negative, true);
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-'])?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    let (whole, fraction) = mantissa.split_once('.')?;
    let spaced_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let starts_with_digit = |text: &str| text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let fits = if whole.is_empty() {
        unsigned.len() == value.len() && starts_with_digit(fraction) && spaced_digits(fraction)
    } else {
        starts_with_digit(whole) && spaced_digits(whole) && spaced_digits(fraction)
    };
    let number: f64 = fits.then(|| unsigned.replace('_', "").parse().ok()).flatten()?;
    Some(Scalar::Float(if negative { -number } else { number }))
}

fn sexagesimal(unsigned: &str, negative: bool, with_fraction: bool) -> Option<Scalar> {
    let minutes = unsigned.split_once(':')?.1;
    if minutes.split('.').next()?.contains('_') {
        return None;
    }
    let digits = unsigned.replace('_', "");
    let mut total = 0.0;
    let parts: Vec<&str> = digits.split(':').collect();
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let whole = if last && with_fraction { part.split_once('.')?.0 } else { part };
        let well_formed = !whole.is_empty()
            && whole.bytes().all(|byte| byte.is_ascii_digit())
            && (index == 0 || (whole.len() <= 2 && whole.parse::<u32>().is_ok_and(|number| number < 60)));
        if !well_formed || (index == 0 && !with_fraction && whole.starts_with('0')) {
            return None;
        }
        total = total * 60.0 + part.parse::<f64>().ok()?;
    }
    let signed = if negative { -total } else { total };
    Some(if with_fraction { Scalar::Float(signed) } else { Scalar::Int(signed as i64) })
}

/// `2026-03-11`, or a date with a time after `T` or blanks.
fn is_timestamp(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    if bytes.len() == 10 {
        return digits(0, 4) && bytes[4] == b'-' && digits(5, 7) && bytes[7] == b'-' && digits(8, 10);
    }
    let Some((date, time)) = value.find(['T', 't', ' ', '\t']).map(|at| (&value[..at], &value[at + 1..])) else {
        return false;
    };
    let date_parts: Vec<&str> = date.split('-').collect();
    let number = |text: &str, least: usize, most: usize| {
        (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let [year, month, day] = date_parts[..] else { return false };
    if !number(year, 4, 4) || !number(month, 1, 2) || !number(day, 1, 2) {
        return false;
    }
    let time = time.trim_start_matches([' ', '\t']);
    let clock_end = time.find(['Z', '+', '-', ' ', '\t']).unwrap_or(time.len());
    let mut clock = time[..clock_end].split(':');
    let hour = clock.next().is_some_and(|text| number(text, 1, 2));
    let minute = clock.next().is_some_and(|text| number(text, 2, 2));
    let second = clock.next().is_some_and(|text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        number(whole, 2, 2) && fraction.bytes().all(|byte| byte.is_ascii_digit())
    });
    let zone = time[clock_end..].trim_start_matches([' ', '\t']);
    let zone_fits = zone.is_empty()
        || zone == "Z"
        || zone.strip_prefix(['+', '-']).is_some_and(|offset| {
            let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
            number(hours, 1, 2) && number(minutes, 2, 2)
        });
    hour && minute && second && clock.next().is_none() && zone_fits
}

/// `2026-3-1`, which is a date only after a tag.
fn is_short_date(value: &str) -> bool {
    let is_number =
        |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = value.split('-').collect();
    matches!(parts[..], [year, month, day] if year.len() == 4 && is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}

#[cfg(test)]
mod tests {
    use super::{Scalar, core12, is_ambiguous, is_surely_text, python11};

    #[test]
    fn the_core_schema_of_yaml_12() {
        for (text, meaning) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("NULL", Scalar::Null),
            ("nUll", Scalar::Text),
            ("True", Scalar::Bool(true)),
            ("yes", Scalar::Text),
            ("010", Scalar::Int(10)),
            ("0o17", Scalar::Int(15)),
            ("0x1F", Scalar::Int(31)),
            ("0b11", Scalar::Text),
            ("1_000", Scalar::Text),
            ("1.", Scalar::Float(1.0)),
            (".5", Scalar::Float(0.5)),
            ("1e3", Scalar::Float(1000.0)),
            ("-.INF", Scalar::Float(f64::NEG_INFINITY)),
            ("12:30", Scalar::Text),
            ("2026-03-11", Scalar::Text),
            ("9223372036854775808", Scalar::Float(9_223_372_036_854_775_808.0)),
        ] {
            assert_eq!(core12(text), meaning, "{text}");
        }
    }

    #[test]
    fn yaml_11_as_pyyaml_reads_it() {
        for (text, meaning) in [
            ("yes", Scalar::Bool(true)),
            ("Off", Scalar::Bool(false)),
            ("y", Scalar::Text),
            ("010", Scalar::Int(8)),
            ("08", Scalar::Text),
            ("0o17", Scalar::Text),
            ("0b11", Scalar::Int(3)),
            ("1_000", Scalar::Int(1000)),
            ("1e3", Scalar::Text),
            ("1.0e+3", Scalar::Float(1000.0)),
            ("12:30", Scalar::Int(750)),
            ("1_9:30", Scalar::Int(1170)),
            ("1:3_0", Scalar::Text),
            ("190:20:30.15", Scalar::Float(685_230.15)),
            ("190:2_0:30.15", Scalar::Text),
            ("1_90:20:30.1_5", Scalar::Float(685_230.15)),
            ("2026-03-11", Scalar::Timestamp),
            ("2026-03-11T10:00:00Z", Scalar::Timestamp),
            ("2026-03-11 10:00:00 +01:00", Scalar::Timestamp),
            ("2026-3-1", Scalar::Text),
        ] {
            assert_eq!(python11(text), meaning, "{text}");
        }
    }

    #[test]
    fn first_look_does_not_mistake_a_value_for_text() {
        let words = ["", "~", "null", "yes", "no", "true", "false", "on", "off"];
        let numbers = ["0", "-1", "+2", ".5", "-.INF", ".nan", "12:30", "2026-03-11", "1_000"];
        for text in words
            .iter()
            .map(|word| word.to_uppercase())
            .chain([&words[..], &numbers].concat().into_iter().map(str::to_owned))
        {
            assert!(!is_surely_text(&text), "{text}");
        }
        for text in ["type", "tool", "name", "falsehood", "nullable", "y", "~/notes", "onto the list", "é"] {
            assert!(is_surely_text(text), "{text}");
        }
    }

    #[test]
    fn scalars_that_the_two_versions_read_differently() {
        for text in ["yes", "010", "12:30", "2026-03-11", "1_000", "1e3"] {
            assert!(is_ambiguous(text), "{text}");
        }
        for text in ["true", "10", "1.5", "text", ""] {
            assert!(!is_ambiguous(text), "{text}");
        }
    }
}
