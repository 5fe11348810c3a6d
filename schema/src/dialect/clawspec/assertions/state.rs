//! Assertion about a YAML file with the state of the target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    act::Until,
    check::python::PythonValue,
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::{ScopedEvidence, Wait, unread},
        statements::Statement,
        words::{Artifact, Moment, is_zero, lenient_number},
    },
    document::{Document, NodeRef, ScalarRules},
    evidence::{Context, Need},
    files::Files,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    verdict::{FilePlace, Judged, Mismatch, Row},
};

/// A YAML state file of the target has a certain status or values.
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
/// Values are compared as in Python: `1`, `1.0` and `true` are equal, integers are exact, a number never equals a
/// string, and a date in quotes is a string. Of several equal keys in the file, the last one counts. `.json` files are
/// read as JSON. Without expected values, the file must exist and contain a mapping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [{ "required": ["path"] }, { "required": ["state_path"] }]))]
#[schemars(extend("x-problems" = ["path", "state_path"].map(no_state)))]
pub struct StateFile {
    /// Path of the file; if several match, the most recently written one.
    #[schemars(extend("x-no-effect-with" = ["state_path"], "examples" = ["memory/state.yaml"]))]
    pub path: Option<Artifact>,
    /// Another name for `path`. Use only one of the two.
    #[schemars(extend("examples" = ["memory/state.yaml"]))]
    pub state_path: Option<Artifact>,
    /// Expected value of the key `status`.
    #[schemars(extend("x-template" = "clawspec", "x-compared" = "output", "x-seen" = { "status": ["state_path", "path"] }, "examples" = ["ready"]))]
    #[schemars(extend("x-synonyms" = ["status"], "x-problems" = [{
        "if": { "const": null }, "code": "vacuous-claim", "underline": "key", "unless-wrong": true,
        "message": "`expected_status` has no value, so nothing is checked", "help": "write the expected status",
    }]))]
    pub expected_status: Option<Value>,
    /// Expected values of other keys; `a.b` is `b` inside `a`. An expected null also matches a missing key.
    #[schemars(extend("x-template" = "clawspec", "x-compared" = "output", "x-seen" = { "fields": ["state_path", "path"] }, "examples" = [{ "phase": "complete" }]))]
    #[schemars(extend("x-non-empty" = "list the keys and the values that the file must have"))]
    #[schemars(extend("x-synonyms" = ["fields"]))]
    pub expected_fields: Option<Map<String, Value>>,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "x-in-quotes" = true, "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    pub updated_after: Option<Moment>,
    /// Expected values as Python reads them: the status, then the fields.
    #[serde(skip)]
    #[schemars(skip)]
    pub expected: (Option<PythonValue>, Vec<(String, PythonValue)>),
    /// Field whose value cannot be read, and the reason.
    #[serde(skip)]
    #[schemars(skip)]
    pub unreadable: Option<(&'static str, String)>,
}

impl StateFile {
    fn file(&self) -> Option<&Artifact> {
        self.state_path.as_ref().or(self.path.as_ref())
    }
}

impl AssertionType for StateFile {
    const NAME: &'static str = "state_file";

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        let path = if node.get("state_path").is_some() { "state_path" } else { "path" };
        Statement::value(node, path, "expected_status").into_iter().collect()
    }

    fn lint(node: &LintNode<'_>, _: &dyn Files, report: &mut Report) {
        let fields = node.get("expected_fields").filter(LintNode::is_mapping);
        for (key, field) in fields.map(|fields| fields.entries()).unwrap_or_default() {
            if key.split('.').skip(1).any(|step| step.parse::<usize>().is_ok()) || key.contains('[') {
                let words = MessageParts::new(format!("`{key}` is never found, because lists have no keys"))
                    .help("name the keys of mappings, as in `a.b`");
                report.push(field.head_problem(Code::Contradiction, words));
            }
            if key == STATUS
                && let (Some(status), Some(other)) = (node.text_at("expected_status"), field.text())
                && status != other
            {
                let words = MessageParts::new(format!("`status` cannot be both `{status}` and `{other}`"))
                    .help("remove one of the two");
                report.push(field.problem(Code::Contradiction, words));
            }
        }
    }

    const WAITS: bool = true;

    fn adopt(&mut self, node: NodeRef<'_>) {
        let mut read = |key: &'static str| match node.get(key).map(PythonValue::of_node)? {
            Ok(value) => Some(value),
            Err(error) => {
                self.unreadable = Some((key, unread(&error)));
                None
            }
        };
        let status = read("expected_status");
        let fields = match read("expected_fields") {
            Some(PythonValue::Map(fields)) => fields.into_iter().map(|(key, value)| (key.show(), value)).collect(),
            _ => Vec::new(),
        };
        self.expected = (status.filter(|status| *status != PythonValue::None), fields);
    }

    fn subject(&self) -> String {
        self.file().map(|path| path.0.clone()).unwrap_or_default()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.file()
            .map(|path| Wait::of(self.timeout, &self.updated_after).needs(path, true, scope, context))
            .unwrap_or_default()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let Some(path) = self.file() else { return Err(Row::broken("", "missing `path`")) };
        if let Some((field, reason)) = &self.unreadable {
            return Err(Row::broken(*field, format!("`{field}` cannot be read: {reason}")));
        }
        let field = if self.state_path.is_some() { "state_path" } else { "path" };
        let (pattern, fresh, _) =
            seen.appeared(path, Wait::of(self.timeout, &self.updated_after), true, "State file")?;
        let file = seen.newest(&fresh)?;
        let (state, proof) = seen.state(field, &pattern, file)?;
        let (status, fields) = &self.expected;
        let mut wrong: Vec<WrongValue<'_>> = Vec::new();
        let status = status.iter().map(|expected| ("expected_status", STATUS, expected));
        let fields = fields.iter().map(|(key, expected)| ("expected_fields", key.as_str(), expected));
        for (field, key, expected) in status.chain(fields) {
            let expected = expected.try_map_texts(&|text| seen.expand(field, text))?;
            let found = if field == "expected_status" { state.get(key) } else { state.dotted(key) };
            let found = found.cloned().unwrap_or(PythonValue::None);
            if !expected.equals(&found) {
                wrong.push(WrongValue { field, key, expected, found });
            }
        }
        let Some(first) = wrong.first() else { return Ok(Row::pass(field, proof)) };
        let all = wrong.iter().filter(|_| wrong.len() > 1).map(WrongValue::line);
        let mismatch = Mismatch::new(first.message(), described(&first.expected), described(&first.found)).notes(all);
        let mismatch = match first.found.scalar() {
            Some(found) => mismatch.accepting(found),
            None => mismatch,
        };
        let row = Row::fail(first.field, proof, mismatch);
        let row = if first.field == "expected_fields" { row.at_key(first.key) } else { row };
        let text = seen.text(field, file, Until::TimeLimit)?;
        let places = wrong.iter().filter_map(|wrong| wrong.place(&file.path, text.so_far()));
        Ok(row.with_places(places))
    }
}

/// Returns the problem of a path whose extension indicates that the file has no keys.
fn no_state(key: &str) -> Value {
    json!({
        "if": { "required": [key], "properties": { key: { "pattern": r"\.(md|html?|log)$" } } },
        "at": key, "code": "contradiction",
        "message": "`state_file` reads YAML or JSON, not `{value}`", "help": "name the file that has the keys",
    })
}

/// Key that `expected_status` refers to.
const STATUS: &str = "status";

struct WrongValue<'a> {
    field: &'static str,
    key: &'a str,
    expected: PythonValue,
    found: PythonValue,
}

impl WrongValue<'_> {
    fn message(&self) -> String {
        let wanted = match self.field {
            "expected_status" => format!("Expected status {}", self.expected.show()),
            _ => format!("Expected {}={}", self.key, self.expected.show()),
        };
        match &self.found {
            PythonValue::None => format!("{wanted}, but `{}` is missing or null", self.key),
            found => format!("{wanted}, got {}", found.show()),
        }
    }

    fn line(&self) -> String {
        format!("{}: expected {}, found {}", self.key, described(&self.expected), described(&self.found))
    }

    /// Returns the location of the value in the file, or that of its nearest existing parent.
    fn place(&self, path: &str, text: &str) -> Option<(String, FilePlace)> {
        let document = Document::read(text, ScalarRules::Yaml11);
        let mut node = document.root()?;
        let mut range = None;
        let mut steps = self.key.split('.').peekable();
        // Of several equal keys, the last one counts.
        while let Some(entry) =
            steps.peek().and_then(|step| node.entries().filter(|entry| entry.key.key_text() == *step).last())
        {
            range = Some(entry.key.own_range().start..entry.value.own_range().end.max(entry.key.own_range().end));
            node = entry.value;
            steps.next();
        }
        let message = match steps.peek() {
            None => format!("`{}` is here", self.key),
            Some(missing) => format!("`{missing}` is missing here"),
        };
        Some((message, FilePlace::bytes(path, text, range?)))
    }
}

fn described(value: &PythonValue) -> String {
    match value {
        PythonValue::None => "null".to_owned(),
        PythonValue::Text(_)
        | PythonValue::Int(_)
        | PythonValue::Float(_)
        | PythonValue::Bool(_)
        | PythonValue::Date(_) => format!("{} {}", value.kind(), value.show()).replacen("a ", "the ", 1),
        PythonValue::List(_) | PythonValue::Map(_) => value.show(),
    }
}
