//! Patterns of commands, and of secrets to mask, that are not patterns.

use crate::{
    check::pattern::{EcmaPattern, PatternErrorKind},
    dialect::cli_bench::command_patterns::{Compiled, WrittenPattern},
    finding::{Report, Rule, Site, Words},
    mask,
    problem::{Code, Fix, Severity},
    spot::Spot,
};

/// A pattern of commands that is searched for as plain text, and why it is not a pattern.
#[derive(Debug)]
struct PlainText {
    pattern: String,
    reason: String,
}

/// A pattern of commands that cannot be searched for here.
#[derive(Debug)]
struct NotSearched(String);

/// A pattern of secrets that masks nothing.
#[derive(Debug)]
enum NothingMasked {
    /// It is not a pattern.
    Invalid(String),
    /// It takes more than linear time.
    NotLinear(String),
}

/// Looks at a pattern of commands.
pub(crate) fn check_pattern(pattern: &WrittenPattern<'_>, report: &mut Report) {
    match &pattern.compiled {
        Compiled::Broken(error) if error.kind == PatternErrorKind::Invalid => {
            let rule = PlainText { pattern: pattern.text.to_owned(), reason: error.message.clone() };
            report.push(pattern.spot.text_finding(rule));
        }
        Compiled::Broken(error) => report.push(pattern.spot.text_finding(NotSearched(error.message.clone()))),
        Compiled::Literal | Compiled::Pattern(_) => {}
    }
}

/// Looks at an item of `redact_patterns`. There is no falling back: it would let through what should be masked.
pub(crate) fn check_masked(spot: &Spot<'_>, report: &mut Report) {
    let Some(pattern) = spot.text() else { return };
    match EcmaPattern::compile(pattern, false) {
        Err(error) => report.push(spot.text_finding(NothingMasked::Invalid(error.message))),
        Ok(compiled) if pattern.is_empty() || compiled.matches_empty() => {}
        // Masking takes linear time, so it knows less than assertions do.
        Ok(_) => {
            if let Err(reason) = mask::pattern(pattern) {
                report.push(spot.text_finding(NothingMasked::NotLinear(reason)));
            }
        }
    }
}

/// Returns a pattern that matches a text literally.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if r"\^$.|?*+()[]{}".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

impl PlainText {
    /// Whether it begins with flags: it is meant as a pattern then, and the text itself is in no command.
    fn has_flags(&self) -> bool {
        self.pattern.starts_with("(?")
    }
}

impl Rule for PlainText {
    const CODE: Code = Code::InvalidPattern;

    fn severity(&self) -> Severity {
        if self.has_flags() { Severity::Warning } else { Severity::Information }
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let PlainText { pattern, reason } = self;
        let words = Words::new(format!("not a valid regular expression: {reason}"))
            .note("cli-bench falls back to a plain-text search");
        let bare = pattern.trim_start_matches("(?").trim_start_matches(['i', 'm', 's', '-']).strip_prefix(')');
        let (help, meant) = match bare.filter(|bare| self.has_flags() && !bare.is_empty() && !bare.contains('\n')) {
            Some(bare) => ("remove the flags".to_owned(), bare.to_owned()),
            None if self.has_flags() || pattern.contains('\n') => return words,
            None => (format!("escape it, `{}`", escaped(pattern)), escaped(pattern)),
        };
        let edits = site.spot().and_then(|spot| spot.replaced(serde_json::Value::from(meant).to_string()));
        words.mend(edits.map(|edits| Fix::guess(help, edits)))
    }
}

impl Rule for NotSearched {
    const CODE: Code = Code::InvalidPattern;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("unsupported regular expression: {}", self.0))
            .note("the result of the assertion is unknown")
    }
}

impl Rule for NothingMasked {
    const CODE: Code = Code::InvalidPattern;

    fn words(&self, _: &Site<'_>) -> Words {
        match self {
            NothingMasked::Invalid(reason) => Words::new(format!("not a valid regular expression: {reason}")),
            NothingMasked::NotLinear(reason) => {
                Words::new(format!("this pattern cannot be used for masking: {reason}"))
                    .help("write it without look-around and back-references")
            }
        }
        .note("nothing is masked")
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use crate::check::pattern::EcmaPattern;

    #[test]
    fn an_escaped_text_finds_itself() {
        for text in ["ls [a", "a(b", "x*+", "c:\\d", "{1", "$(x)"] {
            let pattern = EcmaPattern::compile(&escaped(text), false).unwrap();
            assert_eq!(pattern.find_iter(text).next().unwrap().unwrap().text, text);
        }
    }
}
