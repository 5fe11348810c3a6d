//! Evaluation of the claims in `expect`. Each file contains one family; the rows, their labels, codes and order are
//! KindLM's.

mod bounds;
mod guardrails;
mod judge;
mod output;
mod tool_calls;

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock, OnceLock},
};

pub(crate) use bounds::{CostClaim, DriftClaim, LatencyClaim};
pub(crate) use guardrails::{KeywordsClaim, PiiClaim};
pub(crate) use judge::JudgeClaim;
pub(crate) use output::OutputClaim;
pub(crate) use tool_calls::ToolCallClaim;

use crate::{
    check::{
        memo::Memo,
        schema_file::{RulePlaces, SchemaError, SchemaMismatch, UserSchema},
        text::shortened,
    },
    evidence::{Evidence, MaskingLoss, Output},
    mask::MASK_CHARACTER,
    verdict::{FailureCode, MASKED, Mismatch, Outcome, Presence, Related, TRUNCATED, Verdict, VerdictBuilder},
};

/// A schema file of a claim, read when the claim was lowered.
#[derive(Clone, Debug)]
pub(crate) struct SchemaFile {
    /// The path as written.
    pub path: String,
    content: Result<Arc<SchemaContent>, String>,
}

/// Content of a schema file, compiled on first use.
#[derive(Debug)]
struct SchemaContent {
    bytes: Arc<[u8]>,
    schema: OnceLock<Result<UserSchema, SchemaError>>,
    /// Locations of its rules.
    places: OnceLock<RulePlaces>,
}

impl SchemaFile {
    /// Creates a file with this content, or with the reason why it could not be read.
    pub(crate) fn new(path: &str, bytes: Result<Arc<[u8]>, String>) -> SchemaFile {
        static KNOWN: LazyLock<Memo<Arc<[u8]>, SchemaContent>> = LazyLock::new(Memo::new);
        let content = bytes.map(|bytes| {
            KNOWN.get(bytes, |bytes| SchemaContent {
                bytes: bytes.clone(),
                schema: OnceLock::new(),
                places: OnceLock::new(),
            })
        });
        SchemaFile { path: path.to_owned(), content }
    }

    /// Returns the compiled schema, or the verdict if there is none. KindLM aborts the run for a file that is not valid
    /// JSON, and fails the claim for one that is not a valid schema.
    fn schema(&self, row: &VerdictBuilder, code: FailureCode) -> Result<&UserSchema, Box<Verdict>> {
        let compile_error = |reason: &str| format!("Schema compilation failed: {}: {reason}", self.path);
        let content = match &self.content {
            Ok(content) => content,
            Err(reason) => return Err(Box::new(row.clone().broken(code, compile_error(reason)))),
        };
        match content.schema.get_or_init(|| UserSchema::read(&content.bytes)) {
            Ok(schema) => Ok(schema),
            Err(error) if error.is_json => {
                let mismatch = Mismatch {
                    message: compile_error(&error.message),
                    expected: format!("a JSON Schema in {}", self.path),
                    actual: "a file that cannot be used".to_owned(),
                    help: error.help.iter().map(|help| (*help).to_owned()).collect(),
                    ..Mismatch::default()
                };
                Err(Box::new(row.clone().failed(code, mismatch)))
            }
            Err(error) => Err(Box::new(row.clone().broken(code, compile_error(&error.message)))),
        }
    }

    /// Returns the rules that a value violates, as locations in the file.
    fn related<'f>(&'f self, found: &'f [SchemaMismatch]) -> impl Iterator<Item = Related> + 'f {
        self.content.iter().flat_map(move |content| {
            let places = content.places.get_or_init(|| RulePlaces::of(&content.bytes));
            found.iter().map(move |mismatch| {
                let message = format!("`data{}` breaks this rule", mismatch.at);
                Related::in_file(message, places.of_rule(&self.path, &mismatch.rule))
            })
        })
    }

    /// Returns the content of the file as text.
    fn text(&self) -> String {
        self.content.as_ref().map(|content| String::from_utf8_lossy(&content.bytes).into_owned()).unwrap_or_default()
    }
}

const NOT_RECORDED: &str = "the output was not recorded";
/// Maximum number of characters of the observed output in a mismatch.
const ACTUAL_LENGTH: usize = 200_000;

/// Reliable part of the output.
enum ReliableOutput<'e> {
    /// The whole output.
    Whole(&'e Output),
    /// The beginning of the output.
    Part(&'e Output),
    /// No part, because of a masked secret.
    Concealed,
    /// No output.
    Nothing,
}

impl ReliableOutput<'_> {
    fn of(evidence: &Evidence) -> ReliableOutput<'_> {
        match &evidence.output {
            None => ReliableOutput::Nothing,
            Some(output) if output.concealed == MaskingLoss::Everything => ReliableOutput::Concealed,
            Some(output) if output.cut => ReliableOutput::Part(output),
            Some(output) => ReliableOutput::Whole(output),
        }
    }

    fn output(&self) -> Option<&Output> {
        match self {
            ReliableOutput::Whole(output) | ReliableOutput::Part(output) => Some(output),
            ReliableOutput::Concealed | ReliableOutput::Nothing => None,
        }
    }

    /// Returns the text to search in. Truncated text ends with a hidden part, which could change its meaning.
    fn text(&self) -> Cow<'_, str> {
        match self {
            ReliableOutput::Whole(output) => Cow::Borrowed(&output.text),
            ReliableOutput::Part(output) => Cow::Owned(format!("{}{MASK_CHARACTER}", output.text)),
            ReliableOutput::Concealed | ReliableOutput::Nothing => Cow::Borrowed(""),
        }
    }

    /// Returns the reason why something may exist although it was not found.
    fn uncertainty(&self) -> Option<&'static str> {
        match self {
            ReliableOutput::Whole(_) => None,
            ReliableOutput::Part(_) => Some(TRUNCATED),
            ReliableOutput::Concealed => Some(MASKED),
            ReliableOutput::Nothing => Some(NOT_RECORDED),
        }
    }

    /// Returns the reason why the result of a search is not certain.
    fn uncertainty_of(&self, found: Presence) -> Option<&'static str> {
        self.uncertainty().or(found.uncertainty())
    }
}

/// Verdicts with the scores and codes of KindLM.
trait Rated {
    fn passed(self) -> Verdict;
    fn failed(self, code: FailureCode, mismatch: Mismatch) -> Verdict;
    /// The claim itself is invalid.
    fn broken(self, code: FailureCode, reason: impl Into<String>) -> Verdict;
}

impl Rated for VerdictBuilder {
    fn passed(self) -> Verdict {
        self.pass().rated(None, Some(1.0))
    }

    fn failed(self, code: FailureCode, mismatch: Mismatch) -> Verdict {
        self.fail(mismatch).rated(Some(code), Some(0.0))
    }

    fn broken(self, code: FailureCode, reason: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Error(reason.into())).rated(Some(code), Some(0.0))
    }
}

/// Returns the output as a mismatch shows it.
fn actual(text: &str) -> String {
    shortened(text, ACTUAL_LENGTH)
}

#[cfg(test)]
mod tests;
