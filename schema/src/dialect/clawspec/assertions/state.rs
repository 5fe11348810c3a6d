//! A YAML file that holds the state of the target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::artifacts::{is_zero, not_found, structured};
use crate::{
    check::python::PythonValue,
    dialect::clawspec::claim::{AssertionType, Row, Scope, Seen, Wait, lenient_number, mismatch},
    document::NodeRef,
    evidence::{Context, Need},
    words::Artifact,
};

/// A YAML file of the target's state has a certain status, or certain values.
///
/// ```yaml
/// - type: state_file
///   path: memory/state.yaml
///   expected_status: ready
///   expected_fields:
///     phase: complete
///     retries: 0
/// ```
///
/// Values are compared as Python compares them: `1`, `1.0` and `true` are equal, a number never equals a text, a date
/// in quotes is a text. `.json` files are read as JSON. Without anything expected the file must be there, and hold a mapping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["path"] }, { "required": ["state_path"] }]))]
pub struct StateFile {
    /// The file; of several matches the one that was written last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["memory/state.yaml"]))]
    pub path: Option<Artifact>,
    /// Another name for `path`. Give one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["memory/state.yaml"]))]
    pub state_path: Option<Artifact>,
    /// What the key `status` must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["ready"]))]
    pub expected_status: Option<Value>,
    /// What other keys must be; `a.b` is `b` inside of `a`. An expected null matches a key that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = [{ "phase": "complete" }]))]
    pub expected_fields: Option<Map<String, Value>>,
    /// Seconds to wait for the file. Without it there is one look.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "examples" = [60]))]
    pub timeout: f64,
    /// Only a file counts that was written at this time or later: ISO 8601, in quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_started_at}}"]))]
    pub updated_after: Option<String>,
    /// The expected values as Python reads them: the status, then the fields.
    #[serde(skip)]
    #[schemars(skip)]
    pub expected: (Option<PythonValue>, Vec<(String, PythonValue)>),
}

impl StateFile {
    fn wait(&self) -> Wait<'_> {
        Wait { timeout: self.timeout, updated_after: self.updated_after.as_deref() }
    }

    fn file(&self) -> Option<&Artifact> {
        self.state_path.as_ref().or(self.path.as_ref())
    }
}

impl AssertionType for StateFile {
    const NAME: &'static str = "state_file";
    const WAITS: bool = true;

    fn adopt(&mut self, node: NodeRef<'_>) {
        let status = node.get("expected_status").and_then(PythonValue::of_node);
        let fields = match node.get("expected_fields").and_then(PythonValue::of_node) {
            Some(PythonValue::Map(fields)) => fields,
            _ => Vec::new(),
        };
        self.expected = (status.filter(|status| *status != PythonValue::None), fields);
    }

    fn subject(&self) -> String {
        self.file().map(|path| path.0.clone()).unwrap_or_default()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.file().map(|path| self.wait().need(path, true, scope, context)).unwrap_or_default()
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let Some(path) = self.file() else { return Err(Row::broken("", "no file is named: give `path`")) };
        let field = if self.state_path.is_some() { "state_path" } else { "path" };
        let (pattern, fresh) = seen.fresh(path, &self.wait(), true)?;
        if fresh.files.is_empty() {
            return Ok(not_found(seen, &pattern, "State file", &self.wait()));
        }
        let file = seen.newest(&fresh)?;
        let text = seen.text(field, file)?;
        let state = structured(&file.path, text).map_err(|reason| {
            Row::broken(field, format!("`{}` cannot be read: {reason}", file.path)).unless(text.doubt)
        })?;
        if !state.is_map() {
            let message = format!("State file not found: {pattern} (it holds {})", state.kind());
            return Ok(Row::fail(field, mismatch(message, "a mapping", state.kind())).unless(text.doubt));
        }
        let (status, fields) = &self.expected;
        if let Some(expected) = status {
            let expected = filled(expected, "expected_status", seen)?;
            let found = state.get("status").cloned().unwrap_or(PythonValue::None);
            if !expected.equals(&found) {
                let message = format!("Expected status {}, got {}", expected.show(), found.show());
                let mismatch = mismatch(message, described(&expected), described(&found));
                return Ok(Row::fail("expected_status", mismatch).unless(text.doubt));
            }
        }
        let mut wrong: Vec<(&str, PythonValue, PythonValue)> = Vec::new();
        for (key, expected) in fields {
            let expected = filled(expected, "expected_fields", seen)?;
            let found = state.dotted(key).cloned().unwrap_or(PythonValue::None);
            if !expected.equals(&found) {
                wrong.push((key, expected, found));
            }
        }
        let Some((key, expected, found)) = wrong.first() else { return Ok(Row::pass(field).unless(text.doubt)) };
        let message = format!("Expected {key}={}, got {}", expected.show(), found.show());
        let mut mismatch = mismatch(message, described(expected), described(found));
        mismatch.help = wrong[1..]
            .iter()
            .map(|(key, expected, found)| format!("{key} is {} as well, not {}", found.show(), expected.show()))
            .collect();
        Ok(Row::fail("expected_fields", mismatch).at_key(key).unless(text.doubt))
    }
}

/// A value with its kind, so that `2` and the text `2` can be told apart.
fn described(value: &PythonValue) -> String {
    match value {
        PythonValue::None => "nothing".to_owned(),
        PythonValue::Text(_)
        | PythonValue::Int(_)
        | PythonValue::Float(_)
        | PythonValue::Bool(_)
        | PythonValue::Date(_) => format!("{} {}", value.kind(), value.show()).replacen("a text", "the text", 1),
        PythonValue::List(_) | PythonValue::Map(_) => value.show(),
    }
}

/// The expected value, its templates filled.
fn filled(value: &PythonValue, field: &str, seen: &Seen<'_>) -> Result<PythonValue, Row> {
    Ok(match value {
        PythonValue::Text(text) => PythonValue::Text(seen.expand(field, text)?),
        PythonValue::List(items) => {
            PythonValue::List(items.iter().map(|item| filled(item, field, seen)).collect::<Result<_, _>>()?)
        }
        PythonValue::Map(members) => PythonValue::Map(
            members
                .iter()
                .map(|(key, value)| Ok((key.clone(), filled(value, field, seen)?)))
                .collect::<Result<_, Row>>()?,
        ),
        PythonValue::None
        | PythonValue::Bool(_)
        | PythonValue::Int(_)
        | PythonValue::Float(_)
        | PythonValue::Date(_) => value.clone(),
    })
}
