//! The formats of KindLM's validator. They are more lenient than the standards in places (a time zone without a colon)
//! and stricter in others (a host with a dot in an address).

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use regex::{Captures, Regex};
use serde_json::Value;

use crate::check::{text::is_space, time::date_of};

#[derive(Clone, Copy)]
pub(super) enum Format {
    /// Checks strings; everything else is valid.
    Text(fn(&str) -> bool),
    Pattern(&'static LazyLock<Option<Regex>>),
    /// Checks numbers; everything else is valid.
    Number(fn(f64) -> bool),
    Anything,
}

impl Format {
    /// Returns the format of this name. KindLM ignores all others.
    pub(super) fn of(name: &str) -> Option<Format> {
        Some(match name {
            "date" => Format::Text(is_date),
            "time" => Format::Text(|text| is_time(text, true)),
            "date-time" => Format::Text(|text| is_date_time(text, true)),
            "iso-time" => Format::Text(|text| is_time(text, false)),
            "iso-date-time" => Format::Text(|text| is_date_time(text, false)),
            "duration" => Format::Text(|text| text.len() > 1 && !text.ends_with('T') && matches(&DURATION, text)),
            "uri" => Format::Text(|text| text.contains(['/', ':']) && matches(&URI, text)),
            "uri-reference" => Format::Pattern(&URI_REFERENCE),
            "uri-template" => Format::Pattern(&URI_TEMPLATE),
            "url" => Format::Text(is_url),
            "email" => Format::Pattern(&EMAIL),
            "hostname" => {
                Format::Text(|text| text.strip_suffix('.').unwrap_or(text).len() <= 253 && matches(&HOSTNAME, text))
            }
            "ipv4" => Format::Text(|text| text.parse::<Ipv4Addr>().is_ok()),
            "ipv6" => Format::Text(|text| text.parse::<Ipv6Addr>().is_ok()),
            "regex" => Format::Text(is_pattern),
            "uuid" => Format::Pattern(&UUID),
            "json-pointer" => Format::Pattern(&POINTER),
            "json-pointer-uri-fragment" => Format::Pattern(&POINTER_FRAGMENT),
            "relative-json-pointer" => Format::Pattern(&RELATIVE_POINTER),
            "byte" => Format::Text(is_base64),
            "int32" => {
                Format::Number(|number| number.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(&number))
            }
            "int64" => Format::Number(|number| number.fract() == 0.0),
            "float" | "double" | "password" | "binary" => Format::Anything,
            _ => return None,
        })
    }

    pub(super) fn takes(self, value: &Value) -> bool {
        match (self, value) {
            (Format::Text(check), Value::String(text)) => check(text),
            (Format::Pattern(pattern), Value::String(text)) => matches(pattern, text),
            (Format::Number(check), Value::Number(number)) => number.as_f64().is_none_or(check),
            (Format::Text(_) | Format::Pattern(_) | Format::Number(_) | Format::Anything, _) => true,
        }
    }
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Returns the number in a named group; 0 if the group takes no part.
fn number(found: &Captures<'_>, group: &str) -> i32 {
    found.name(group).and_then(|it| it.as_str().parse().ok()).unwrap_or_default()
}

fn is_date(text: &str) -> bool {
    let Some(found) = DATE.as_ref().and_then(|pattern| pattern.captures(text)) else { return false };
    let number = |group| i64::from(number(&found, group));
    date_of(number("year"), number("month"), number("day")).is_some()
}

/// Returns whether a text is a time of day, to the second or finer, with a zone. A leap second may occur where it would
/// be in UTC.
fn is_time(text: &str, needs_zone: bool) -> bool {
    let Some(found) = TIME.as_ref().and_then(|pattern| pattern.captures(text)) else { return false };
    let (hour, minute, second) = (number(&found, "hour"), number(&found, "minute"), number(&found, "second"));
    let sign = if found.name("sign").is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    let (zone_hours, zone_minutes) = (sign * number(&found, "hours"), sign * number(&found, "minutes"));
    if zone_hours.abs() > 23 || zone_minutes.abs() > 59 || needs_zone && found.name("zone").is_none() {
        return false;
    }
    if hour <= 23 && minute <= 59 && second < 60 {
        return true;
    }
    let utc_minute = minute - zone_minutes;
    let utc_hour = hour - zone_hours - i32::from(utc_minute < 0);
    matches!(utc_hour, 23 | -1) && matches!(utc_minute, 59 | -1) && second < 61
}

fn is_date_time(text: &str, needs_zone: bool) -> bool {
    let mut parts = text.split(|it: char| matches!(it, 't' | 'T') || is_space(it));
    match (parts.next(), parts.next(), parts.next()) {
        (Some(date), Some(time), None) => is_date(date) && is_time(time, needs_zone),
        _ => false,
    }
}

fn is_base64(text: &str) -> bool {
    text.split(['\n', '\r', '\u{2028}', '\u{2029}']).any(|line| {
        let body = line.trim_end_matches('=');
        let signs = line.len() - body.len();
        line.len() % 4 == 0
            && signs <= 2
            && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    })
}

fn is_pattern(text: &str) -> bool {
    let ends_as_in_perl = text.match_indices("\\Z").any(|(at, _)| at > 0 && !text[..at].ends_with('\\'));
    !ends_as_in_perl && crate::check::pattern::is_pattern(text)
}

/// Returns whether a text is a web or FTP address whose host has a dot, without addresses of private networks.
fn is_url(text: &str) -> bool {
    let scheme = ["http://", "https://", "ftp://"]
        .into_iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let Some(rest) = scheme.map(|scheme| &text[scheme.len()..]) else { return false };
    if rest.contains(is_space) {
        return false;
    }
    let is_host = |host: &str| matches(&URL_NAME, host) || matches(&URL_NUMBER, host) && is_public(host);
    // Anything may precede an `@`.
    is_host(rest) || rest.match_indices('@').any(|(at, _)| at > 0 && is_host(&rest[at + 1..]))
}

fn is_public(host: &str) -> bool {
    let mut parts = host.split('.');
    let first = parts.next().unwrap_or_default();
    let second = parts.next().unwrap_or_default();
    let is_private = match first {
        "10" | "127" => true,
        "169" => second == "254",
        "192" => second == "168",
        "172" => second.len() == 2 && second.parse().is_ok_and(|number: u8| (16..=31).contains(&number)),
        _ => false,
    };
    !is_private
}

/// Returns a pattern for the part after the scheme: a host with a path, an absolute path, or a relative one; then a
/// query and a fragment. The characters in `more` are accepted, too.
fn behind_scheme(more: &str, optional: &str) -> String {
    let path = format!(r"(?:[a-z0-9\-._~!$&'()*+,;=:@{more}]|%[0-9a-f]{{2}})");
    let after = format!(r"(?:[a-z0-9\-._~!$&'()*+,;=:@/?{more}]|%[0-9a-f]{{2}})*");
    let octet = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)";
    let ipv4 = format!(r"(?:{octet}\.){{3}}{octet}");
    let group = "[0-9a-f]{1,4}";
    let last = format!("(?:{group}:{group}|{ipv4})");
    let mut ipv6 = vec![format!("(?:{group}:){{6}}{last}")];
    for left in (0..=5).rev() {
        let front = match 5 - left {
            0 => String::new(),
            most => format!("(?:(?:{group}:){{0,{}}}{group})?", most - 1),
        };
        let groups = if left == 0 { String::new() } else { format!("(?:{group}:){{{left}}}") };
        ipv6.push(format!("{front}::{groups}{last}"));
    }
    ipv6.push(format!("(?:(?:{group}:){{0,5}}{group})?::{group}"));
    ipv6.push(format!("(?:(?:{group}:){{0,6}}{group})?::"));
    let ipv6 = ipv6.join("|");
    let user = r"(?:[a-z0-9\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*";
    let future = r"[vV][0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+";
    let name = format!(r"(?:[a-z0-9\-._~!$&'()*+,;={more}]|%[0-9a-f]{{2}})*");
    let authority = format!(r"(?:{user}@)?(?:\[(?:{ipv6}|{future})\]|{ipv4}|{name})(?::[0-9]*)?");
    let hierarchy = format!(r"(?:/?/{authority}(?:/{path}*)*|/(?:{path}+(?:/{path}*)*)?|{path}+(?:/{path}*)*)");
    format!(r"{hierarchy}{optional}(?:\?{after})?(?:#{after})?")
}

/// Compiles a pattern that ignores case for ASCII only. The patterns are fixed, and a test compiles each.
fn compiled(pattern: &str) -> Option<Regex> {
    let pattern = pattern.replace("a-z", "a-zA-Z").replace("a-f", "a-fA-F");
    Regex::new(&format!(r"\A(?:{pattern})\z")).ok()
}

static URI: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(&format!(r"[a-z][a-z0-9+\-.]*:{}", behind_scheme("", ""))));

static URI_REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(&format!(r"(?:[a-z][a-z0-9+\-.]*:)?{}", behind_scheme("\"", "?"))));

static URI_TEMPLATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?";
    compiled(&format!(r#"(?:[^\x00-\x20"'<>%\\^`{{|}}]|%[0-9a-f]{{2}}|\{{[+#./;?&=,!@|]?{name}(?:,{name})*\}})*"#))
});

static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
    compiled(&format!(r"{word}(?:\.{word})*@(?:{label}\.)+{label}"))
});

static DATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled("(?<year>[0-9]{4})-(?<month>[0-9]{2})-(?<day>[0-9]{2})"));

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let zone = "[zZ]|(?<sign>[+-])(?<hours>[0-9]{2})(?::?(?<minutes>[0-9]{2}))?";
    let time = "(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})";
    compiled(&format!(r"{time}(?:\.[0-9]+)?(?<zone>{zone})?"))
});

static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = |units: [char; 3]| units.map(|unit| format!("(?:[0-9]+{unit})?")).concat();
    compiled(&format!("P(?:{}(?:T{})?|[0-9]+W)", parts(['Y', 'M', 'D']), parts(['H', 'M', 'S'])))
});

static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
    compiled(&format!(r"{label}(?:\.{label})*\.?"))
});

static UUID: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled("(?i:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"));

static POINTER: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("(?:/(?:[^~]|~[01])*)?"));

static RELATIVE_POINTER: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled("(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~]|~[01])*)?)"));

static POINTER_FRAGMENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"#(?:/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*"));

static URL_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let letter = r"a-z\x{a1}-\x{ffff}";
    let label = format!("(?:[{letter}0-9]+-)*[{letter}0-9]+");
    compiled(&format!(r"{label}(?:\.{label})*\.[{letter}]{{2,}}{URL_END}"))
});

static URL_NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let first = "(?:[1-9][0-9]?|1[0-9][0-9]|2[01][0-9]|22[0-3])";
    let middle = "(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])";
    let last = "(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-4])";
    compiled(&format!(r"{first}(?:\.{middle}){{2}}\.{last}{URL_END}"))
});

const URL_END: &str = "(?::[0-9]{2,5})?(?:/(?s:.)*)?";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Format;

    /// Results of KindLM's validator, recorded from it.
    #[test]
    fn formats_take_what_the_original_takes() {
        let recorded: Value = serde_json::from_str(include_str!("formats.json")).unwrap();
        for (name, answers) in recorded.as_object().unwrap() {
            let format = Format::of(name).unwrap();
            for (index, expected) in ["invalid", "valid"].iter().enumerate() {
                for value in answers[expected].as_array().unwrap() {
                    assert_eq!(format.takes(value), index == 1, "{name}: {value}");
                }
            }
        }
        assert!(Format::of("iri").is_none() && Format::of("password").is_some_and(|format| format.takes(&json!(1))));
    }
}
