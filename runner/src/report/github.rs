//! The report for GitHub workflows: commands that annotate lines of files.

use std::fmt::Write;

use speclens_schema::{problem::Severity, words::plural};

use super::{SuiteReport, finding::findings, plain};

pub fn render(reports: &[SuiteReport]) -> String {
    let mut text = String::new();
    let (mut errors, mut warnings, mut notices) = (0, 0, 0);
    for finding in findings(reports) {
        let (command, count) = match finding.severity {
            Severity::Error => ("error", &mut errors),
            Severity::Warning => ("warning", &mut warnings),
            Severity::Information => ("notice", &mut notices),
            // Meant for editors; in a review it would be noise.
            Severity::Hint => continue,
        };
        *count += 1;
        let place = finding.place(&finding.range);
        let _ = write!(text, "::{command} file={},line={}", property(&finding.source.path), place.start.line + 1);
        let _ = write!(text, ",endLine={}", place.end.line + 1);
        // Columns are meaningful within one line only.
        if place.start.line == place.end.line {
            let _ = write!(text, ",col={},endColumn={}", place.start.column + 1, place.end.column + 1);
        }
        let mut message = finding.message.clone();
        // A command annotates one place, so the others are named.
        for other in finding.related.iter().filter(|other| other.path != finding.source.path) {
            let _ = write!(message, "\n{}:{}: {}", other.path, other.place.start.line + 1, other.message);
        }
        let _ = writeln!(text, ",title={}::{}", property(&format!("speclens: {}", finding.rule)), data(&message));
    }
    let counts = [plural(errors, "error"), plural(warnings, "warning"), plural(notices, "notice")];
    // A check has one report for each file, a run one for each suite.
    let noun = if reports.iter().any(|report| report.result.is_some()) { "suite" } else { "file" };
    let _ = writeln!(text, "{} in {}", counts.join(", "), plural(reports.len(), noun));
    text
}

/// Escapes a message: a line end would end the command.
fn data(text: &str) -> String {
    plain::block(&text.replace("\r\n", "\n")).replace('%', "%25").replace('\n', "%0A")
}

/// Escapes a property, which `,` and `:` would end as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn command_terminators_are_escaped() {
        assert_eq!(data("50%\r\n::error::x\u{1b}[31m"), "50%25%0A::error::x");
        assert_eq!(property("a,b:c%"), "a%2Cb%3Ac%25");
    }
}
