//! Integers of any size, as YAML 1.1 writes them.

/// Maximum number of digits of an integer that Python reads.
pub(super) const MAX_DIGITS: usize = 4_300;

/// Returns the reason why a longer integer is not read.
pub(super) fn too_long() -> String {
    format!("an integer has more than {MAX_DIGITS} digits")
}

/// Returns the decimal digits of an integer. `None` if the text is not one.
pub(super) fn read(text: &str) -> Option<String> {
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

/// Converts digits of another base.
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
    use super::read;

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
            assert_eq!(read(text).as_deref(), digits, "{text}");
        }
    }
}
