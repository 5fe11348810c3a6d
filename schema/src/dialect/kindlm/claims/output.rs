//! `output`: expectations about the text or the JSON.

use std::{borrow::Cow, cell::OnceCell};

use serde_json::Value;

use super::{Rated, ReliableOutput, SchemaFile, VerdictBuilder, actual};
use crate::{
    check::{
        json::{self, JsonErrorKind},
        schema_file::SchemaAnswer,
        text::{Folded, closest_line, length, shortened},
    },
    dialect::kindlm::expect::{OutputExpect, OutputFormat},
    document::Pointer,
    evidence::{Evidence, MaskingLoss, Output},
    verdict::{Check, FailureCode, Mismatch, Presence, Verdict},
};

/// All expectations of `output`: if the JSON cannot be read, the others are not judged.
#[derive(Clone, Debug)]
pub(crate) struct OutputClaim {
    /// Expectation to judge.
    pub expect: OutputExpect,
    /// File of `schemaFile`.
    pub schema_file: Option<SchemaFile>,
}

/// Type of every verdict about the output in KindLM.
const KIND: &str = "schema";

impl Check for OutputClaim {
    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let seen = ReliableOutput::of(evidence);
        let mut verdicts = Vec::new();
        let mut instance: Option<Cow<'_, Value>> = None;
        match self.expect.format {
            OutputFormat::Text => {
                // An output may be large, so it is copied only if needed.
                let text = self.schema_file.as_ref().and_then(|_| seen.output());
                instance = text.map(|output| Cow::Owned(Value::from(output.text.as_str())));
            }
            OutputFormat::Json => {
                let (verdict, value) = self.parsed(&seen);
                let failed = verdict.outcome.mismatch().is_some();
                verdicts.push(verdict);
                if failed {
                    return verdicts;
                }
                instance = value.or(instance);
            }
        }
        if let Some(file) = &self.schema_file {
            verdicts.push(schema(file, instance.as_deref(), &seen));
        }
        self.substrings(&seen, &mut verdicts);
        if let Some(most) = self.expect.max_length {
            verdicts.push(max_length(most, &seen));
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        let lists = self.expect.contains.iter().chain(&self.expect.not_contains);
        lists.flatten().cloned().chain(self.schema_file.iter().map(|file| file.text())).collect()
    }

    fn handles_masked_text(&self) -> bool {
        true
    }
}

impl OutputClaim {
    /// Returns the structured output, or else the text read as JSON.
    fn parsed<'e>(&self, seen: &ReliableOutput<'e>) -> (Verdict, Option<Cow<'e, Value>>) {
        let row = VerdictBuilder::new(Pointer::root().key("format"), KIND, "Output is valid JSON");
        let output: &'e Output = match seen {
            ReliableOutput::Whole(output) => output,
            ReliableOutput::Part(_) | ReliableOutput::Concealed | ReliableOutput::Nothing => {
                return (row.passed().unless(seen.uncertainty()), None);
            }
        };
        if let Some(value) = &output.json {
            return (row.passed(), Some(Cow::Borrowed(value)));
        }
        if output.concealed == MaskingLoss::Json {
            return (row.unknown(super::MASKED), None);
        }
        match json::parse(&output.text) {
            Ok(value) => (row.passed(), Some(Cow::Owned(value))),
            Err(error) if error.kind == JsonErrorKind::TooDeep => (row.unknown(error.to_string()), None),
            Err(error) => {
                let line = output.text.lines().nth(error.line - 1).unwrap_or_default();
                let (mut notes, mut help) = (Vec::new(), Vec::new());
                if !line.is_empty() {
                    notes.push(format!("line {}: {}", error.line, shortened(line, 200)));
                }
                if output.text.starts_with("```") {
                    notes.push("the output is in a Markdown code fence".to_owned());
                    help.push("have the command print only the JSON".to_owned());
                }
                help.push("if the command also prints other text, have it report its JSON as {\"kindlm\":\"output_json\",\"data\":…}".to_owned());
                let mismatch = Mismatch {
                    message: format!("Failed to parse output as JSON: {error}"),
                    expected: "one JSON value".to_owned(),
                    actual: actual(&output.text),
                    notes,
                    help,
                };
                (row.failed(FailureCode::SchemaParseError, mismatch), None)
            }
        }
    }

    fn substrings(&self, seen: &ReliableOutput<'_>, verdicts: &mut Vec<Verdict>) {
        let text = seen.output().map(|output| output.text.as_str()).unwrap_or_default();
        let folded = OnceCell::new();
        let found = |wanted: &str| match seen.output() {
            Some(_) => folded.get_or_init(|| Folded::new(&seen.text())).contains(wanted),
            None => Presence::No,
        };
        for (index, wanted) in self.expect.contains.iter().flatten().enumerate() {
            let at = Pointer::root().key("contains").index(index);
            let row = VerdictBuilder::new(at, KIND, format!("Output contains \"{wanted}\""));
            let found = found(wanted);
            if found == Presence::Yes {
                verdicts.push(row.passed());
                continue;
            }
            let close = closest_line(text, wanted);
            let mismatch = Mismatch {
                message: format!("Expected output to contain \"{wanted}\""),
                expected: wanted.clone(),
                actual: actual(text),
                notes: close
                    .iter()
                    .map(|line| format!("line {} is the closest match: {}", line.number, line.text))
                    .collect(),
                ..Mismatch::default()
            };
            verdicts.push(row.failed(FailureCode::ContainsFailed, mismatch).unless(seen.uncertainty_of(found)));
        }
        for (index, unwanted) in self.expect.not_contains.iter().flatten().enumerate() {
            let at = Pointer::root().key("notContains").index(index);
            let row = VerdictBuilder::new(at, KIND, format!("Output does not contain \"{unwanted}\""));
            let found = found(unwanted);
            if found != Presence::Yes {
                verdicts.push(row.passed().unless(seen.uncertainty_of(found)));
                continue;
            }
            let mismatch = Mismatch {
                message: format!("Expected output to NOT contain \"{unwanted}\""),
                expected: format!("no \"{unwanted}\""),
                actual: actual(text),
                notes: super::guardrails::line_with(text, unwanted).into_iter().collect(),
                ..Mismatch::default()
            };
            verdicts.push(row.failed(FailureCode::NotContainsFailed, mismatch));
        }
    }
}

fn schema(file: &SchemaFile, instance: Option<&Value>, seen: &ReliableOutput<'_>) -> Verdict {
    let row = VerdictBuilder::new(Pointer::root().key("schemaFile"), KIND, "Output matches JSON Schema");
    let schema = match file.schema(&row, FailureCode::SchemaInvalid) {
        Ok(schema) => schema,
        Err(verdict) => return *verdict,
    };
    let (None, Some(instance)) = (seen.uncertainty(), instance) else {
        return row.unknown(seen.uncertainty().unwrap_or("the output could not be read as JSON"));
    };
    match schema.validate(instance) {
        SchemaAnswer::Valid => row.passed(),
        SchemaAnswer::GaveUp(reason) => row.unknown(reason),
        SchemaAnswer::Hidden => row.unknown(super::MASKED),
        SchemaAnswer::Invalid(found) => {
            let lines: Vec<String> = found.iter().map(|it| it.line()).collect();
            let mismatch = Mismatch {
                message: format!("Schema validation failed: {}", lines.join(", ")),
                expected: format!("a value that matches {}", file.path),
                actual: actual(&json::text(instance)),
                notes: found.iter().map(|it| format!("{} (rule {} of {})", it.line(), it.rule, file.path)).collect(),
                ..Mismatch::default()
            };
            row.failed(FailureCode::SchemaInvalid, mismatch).relating(file.related(&found))
        }
    }
}

fn max_length(most: u64, seen: &ReliableOutput<'_>) -> Verdict {
    let row = VerdictBuilder::new(Pointer::root().key("maxLength"), KIND, format!("Output length <= {most}"));
    let Some(output) = seen.output() else { return row.unknown(seen.uncertainty().unwrap_or(super::NOT_RECORDED)) };
    let length = length(&output.text);
    if u64::try_from(length).is_ok_and(|length| length <= most) {
        return row.passed().unless(seen.uncertainty());
    }
    row.failed(
        FailureCode::MaxLengthExceeded,
        Mismatch {
            message: format!("Output length {length} exceeds max {most}"),
            expected: format!("at most {most}"),
            actual: length.to_string(),
            ..Mismatch::default()
        },
    )
}
