//! The report for code scanning: the part of SARIF 2.1.0 that such services show.

use std::ops::Range;

use serde_json::{Value, json};
use speclens_schema::{
    document::LineColumn,
    fixing,
    problem::{Code, Fix, Severity},
};

use super::{
    SuiteReport,
    finding::{Finding, findings},
};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub fn render(reports: &[SuiteReport]) -> String {
    let findings = findings(reports);
    let mut codes: Vec<Code> = findings.iter().filter_map(|finding| Some(finding.problem?.code)).collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, &codes)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "speclens",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": codes.iter().copied().map(rule).collect::<Vec<_>>(),
                },
            },
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("a report is plain data with text keys");
    text.push('\n');
    text
}

fn rule(code: Code) -> Value {
    let docs = code.docs().lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned();
    let short = docs.split_once(". ").map_or(docs.as_str(), |(first, _)| first).trim_end_matches('.');
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": short },
        "fullDescription": { "text": docs },
        "help": { "text": docs, "markdown": docs },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

fn result(finding: &Finding<'_>, codes: &[Code]) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [location(&finding.source.path, &finding.place(&finding.range))],
    });
    if let Some(problem) = finding.problem {
        result["ruleIndex"] = json!(codes.binary_search(&problem.code).expect("the codes are those of the findings"));
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(id, other)| {
            let mut place = location(&other.path, &other.place);
            place["id"] = json!(id);
            place["message"] = json!({ "text": other.message });
            place
        });
        result["relatedLocations"] = related.collect();
    }
    // Fixes that create files are omitted: the format only changes existing texts.
    let fixes: Vec<Value> =
        finding.fixes.iter().filter(|one| one.creates.is_empty()).map(|one| fix(finding, one)).collect();
    if !fixes.is_empty() {
        result["fixes"] = fixes.into();
    }
    result
}

fn location(path: &str, place: &Range<LineColumn>) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(path) },
            "region": region(place),
        },
    })
}

fn fix(finding: &Finding<'_>, fix: &Fix) -> Value {
    let replacement = |edit: speclens_schema::problem::Edit| {
        let mut replacement = json!({ "deletedRegion": region(&finding.place(&edit.range)) });
        if !edit.text.is_empty() {
            replacement["insertedContent"] = json!({ "text": edit.text });
        }
        replacement
    };
    let edits = fixing::adapted(&finding.source.document, &fix.edits).into_iter().map(replacement);
    json!({
        "description": { "text": finding.source.secrets.mask(&fix.title) },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(&finding.source.path) },
            "replacements": edits.collect::<Vec<_>>(),
        }],
    })
}

/// Returns a region: lines and columns count from 1, the end is exclusive.
fn region(place: &Range<LineColumn>) -> Value {
    json!({
        "startLine": place.start.line + 1,
        "startColumn": place.start.column + 1,
        "endLine": place.end.line + 1,
        "endColumn": place.end.column + 1,
    })
}

/// Returns a path as a URI: relative to the working directory if it is below it.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    let mut address = scheme.to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                address.push(char::from(byte))
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_addresses() {
        assert_eq!(uri("a b/ü#1.yaml"), "a%20b/%C3%BC%231.yaml");
        assert_eq!(uri("/tmp/a:b"), "file:///tmp/a%3Ab");
    }
}
