//! `output`: expectations about the text or the JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::{SchemaFile, actual, text_of, verdict, without};
use crate::{
    acceptable::{Amount, Limit},
    act::Act,
    check::{
        json::{self, JsonErrorKind},
        text::{CloseLine, closest_line, length, shortened},
    },
    dialect::kindlm::expect::{OutputExpect, OutputFormat},
    document::Pointer,
    evidence::MaskingLoss,
    mask::texts_of,
    seen::{Proof, Seen, Why},
    text::{MASKED, Text},
    verdict::{Check, FailureCode, Judged, Mismatch, Row, Verdict},
};

/// All expectations of `output`: if the JSON cannot be read, the others are not judged.
#[derive(Clone, Debug)]
pub(crate) struct OutputClaim {
    pub expect: OutputExpect,
    pub schema_file: Option<SchemaFile>,
}

/// Type of every verdict about the output in KindLM.
const KIND: &str = "schema";

/// A value to compare with a schema.
type Instance<'e> = Seen<(Cow<'e, Value>, Proof)>;

impl Check for OutputClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let instance = match self.expect.format {
            OutputFormat::Text => text_of(act).and_then(|text| {
                // An output may be large, so it is copied only if needed.
                let (text, proof) = text.complete()?;
                let value = if self.schema_file.is_some() { Value::from(text) } else { Value::Null };
                Ok((Cow::Owned(value), proof))
            }),
            OutputFormat::Json => {
                let parsed = self.parsed(act);
                let row = match &parsed {
                    Ok((_, proof)) => Ok(Row::pass("", *proof)),
                    Err(row) => Err(row.clone()),
                };
                let kind = (KIND, FailureCode::SchemaParseError);
                let verdict = verdict(kind, "format", "Output is valid JSON", row);
                let has_failed = verdict.outcome.mismatch().is_some();
                verdicts.push(verdict);
                if has_failed {
                    return verdicts;
                }
                parsed.map_err(|_| Why::unknown("the output could not be read as JSON"))
            }
        };
        if let Some(file) = &self.schema_file {
            let kind = (KIND, FailureCode::SchemaInvalid);
            verdicts.push(verdict(kind, "schemaFile", "Output matches JSON Schema", schema(file, instance)));
        }
        let text = text_of(act);
        self.substrings(&text, &mut verdicts);
        if let Some(most) = self.expect.max_length {
            let kind = (KIND, FailureCode::MaxLengthExceeded);
            verdicts.push(verdict(kind, "maxLength", format!("Output length <= {most}"), max_length(most, &text)));
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(&self.expect).unwrap_or_default())
    }
}

impl OutputClaim {
    /// Returns the structured output, or else the text read as JSON.
    fn parsed<'e>(&self, act: Act<'e>) -> Result<(Cow<'e, Value>, Proof), Row> {
        let seen = act.output()?;
        let (&output, proof) = seen.complete()?;
        if let Some(value) = &output.json {
            return Ok((Cow::Borrowed(value), proof));
        }
        if output.concealed == MaskingLoss::Json {
            return Err(Why::unknown(MASKED).into());
        }
        match json::parse(&output.text) {
            Ok(value) => Ok((Cow::Owned(value), proof)),
            Err(error) if error.kind == JsonErrorKind::Limit => Err(Why::unknown(error.to_string()).into()),
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
                let mismatch = Mismatch::new(
                    format!("Failed to parse output as JSON: {error}"),
                    "one JSON value",
                    actual(&output.text),
                )
                .notes(notes)
                .help(help);
                Err(Row::fail("", proof, mismatch))
            }
        }
    }

    fn substrings(&self, text: &Seen<Text<'_>>, verdicts: &mut Vec<Verdict>) {
        // An output may be large.
        if self.expect.contains.iter().chain(&self.expect.not_contains).all(Vec::is_empty) {
            return;
        }
        let lower = text.as_ref().map(Text::lowercase).map_err(Why::clone);
        let text = text.as_ref().map(Text::so_far).unwrap_or_default();
        for (index, wanted) in self.expect.contains.iter().flatten().enumerate() {
            let mismatch = || {
                Mismatch::new(format!("Expected output to contain \"{wanted}\""), wanted.clone(), actual(text))
                    .near(closest_line(text, wanted).map(CloseLine::near))
                    .accepting_closest()
            };
            let found = lower.as_ref().map_err(Why::clone).and_then(|lower| lower.contains(&wanted.to_lowercase()));
            let judged = found.map(|found| Row::present("", found, mismatch)).map_err(Row::from);
            let at = Pointer::root().key("contains").index(index);
            let label = format!("Output contains \"{wanted}\"");
            verdicts.push(verdict((KIND, FailureCode::ContainsFailed), at, label, judged));
        }
        for (index, unwanted) in self.expect.not_contains.iter().flatten().enumerate() {
            let message = format!("Expected output to NOT contain \"{unwanted}\"");
            let judged = without(&lower, text, unwanted, message);
            let at = Pointer::root().key("notContains").index(index);
            let label = format!("Output does not contain \"{unwanted}\"");
            verdicts.push(verdict((KIND, FailureCode::NotContainsFailed), at, label, judged));
        }
    }
}

fn schema(file: &SchemaFile, instance: Instance<'_>) -> Judged {
    let schema = file.schema()?;
    let (instance, proof) = instance?;
    let found = schema.validate(&instance)?;
    if found.is_empty() {
        return Ok(Row::pass("", proof));
    }
    let lines: Vec<String> = found.iter().map(|it| it.line()).collect();
    let mismatch = Mismatch::new(
        format!("Schema validation failed: {}", lines.join(", ")),
        format!("a value that matches {}", file.path),
        actual(&json::text(&instance)),
    )
    .notes(found.iter().map(|it| format!("{} (rule {} of {})", it.line(), it.rule, file.path)));
    Ok(Row::fail("", proof, mismatch).relating(file.related(&found)))
}

fn max_length(most: u64, text: &Seen<Text<'_>>) -> Judged {
    let text = text.as_ref().map_err(Why::clone)?;
    let is_longer = |text: &str| {
        let length = length(text);
        u64::try_from(length).map_or(true, |length| length > most).then_some(length)
    };
    // Masking keeps the length.
    Ok(Row::absent("", text.observed().search(|text| is_longer(text))?, |length| {
        Mismatch::new(
            format!("Output length {length} exceeds max {most}"),
            format!("at most {most}"),
            length.to_string(),
        )
        .accepting_limit(Limit::Most, length as f64, Amount::Counted)
    }))
}
