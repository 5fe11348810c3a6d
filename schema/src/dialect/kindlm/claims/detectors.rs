//! The named detectors of `guardrails.pii`: patterns, which respect case, and checks of what they match.

use crate::dialect::kindlm::expect::Detector;

impl Detector {
    /// Returns the name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Detector::Ssn => "ssn",
            Detector::CreditCard => "credit_card",
            Detector::Email => "email",
            Detector::Phone => "phone",
            Detector::Iban => "iban",
            Detector::Ip => "ip",
            Detector::Jwt => "jwt",
            Detector::ApiKey => "api_key",
        }
    }

    pub(super) fn pattern(self) -> &'static str {
        match self {
            Detector::Ssn => r"\b\d{3}-\d{2}-\d{4}\b|\b\d{9}\b",
            Detector::CreditCard => r"\b(?:\d[ -]?){12,18}\d\b",
            Detector::Email => r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b",
            Detector::Phone => r"(?:\+?\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}\b|\+\d{8,15}\b",
            Detector::Iban => r"\b[A-Z]{2}\d{2}[A-Z0-9]{10,30}\b",
            Detector::Ip => r"\b(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\b",
            Detector::Jwt => r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\b",
            Detector::ApiKey => {
                r"\b(?:AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9]{16,}|ghp_[A-Za-z0-9]{20,}|xox[baprs]-[A-Za-z0-9-]{10,})\b"
            }
        }
    }

    /// Whether a text that the pattern matches is personal data.
    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Detector::CreditCard => has_luhn_digit(text),
            Detector::Iban => has_iban_digits(text),
            Detector::Ssn | Detector::Email | Detector::Phone | Detector::Ip | Detector::Jwt | Detector::ApiKey => true,
        }
    }
}

/// Whether the last of at least 12 digits is the check digit of the others.
fn has_luhn_digit(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let of_pair = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let value = |(index, digit): (usize, &u32)| if index % 2 == 1 { of_pair(*digit) } else { *digit };
    digits.len() >= 12 && digits.iter().rev().enumerate().map(value).sum::<u32>() % 10 == 0
}

/// Whether the two check digits of an account number are right: moved to the end with its country, it is 1 modulo 97.
fn has_iban_digits(text: &str) -> bool {
    let Some((country, account)) = text.split_at_checked(4) else { return false };
    let digits = account.chars().chain(country.chars()).filter_map(|letter| letter.to_digit(36));
    digits.fold(0, |rest, digit| (rest * if digit > 9 { 100 } else { 10 } + digit) % 97) == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::pattern::{EcmaPattern, refused_by_original};

    fn found(detector: Detector, text: &str) -> Vec<String> {
        let pattern = EcmaPattern::compile(detector.pattern(), false).unwrap();
        let matches = pattern.find_iter(text).map(|it| it.unwrap().text);
        matches.filter(|it| detector.accepts(it)).collect()
    }

    #[test]
    fn detectors_find_what_they_are_named_after_and_no_near_miss() {
        for (detector, text, expected) in [
            (Detector::Ssn, "123-45-6789 123456789 12345678 1234567890", &["123-45-6789", "123456789"][..]),
            (Detector::CreditCard, "4111 1111 1111 1111 and 4111-1111-1111-1112", &["4111 1111 1111 1111"]),
            (Detector::CreditCard, "0000 0000 000", &[]),
            (Detector::Email, "a@b.co A@B.C c@d|e", &["a@b.co"]),
            (Detector::Phone, "(415) 555-2671 555-2671 +420777123456", &["(415) 555-2671", "+420777123456"]),
            (Detector::Iban, "GB29NWBK60161331926819 GB29NWBK60161331926818", &["GB29NWBK60161331926819"]),
            (Detector::Iban, "gb29nwbk60161331926819", &[]),
            (Detector::Ip, "192.168.0.1 256.1.1.1 1.2.3.4.5 ::1", &["192.168.0.1", "1.2.3.4"]),
            (Detector::Jwt, "eyJa.b.c eyj0.a.b", &["eyJa.b.c"]),
            (Detector::ApiKey, "sk-short AKIAABCDEFGHIJKLMNOP", &["AKIAABCDEFGHIJKLMNOP"]),
        ] {
            assert_eq!(found(detector, text), expected, "{detector:?}: {text}");
            assert!(!refused_by_original(detector.pattern()), "{detector:?}");
        }
    }
}
