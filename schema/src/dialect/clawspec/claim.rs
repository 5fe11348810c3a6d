//! What an assertion type is, and an assertion as a claim.

use std::{fmt::Debug, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{scope::Scope, scoped_evidence::ScopedEvidence, statements::Statement};
use crate::{
    act::Act,
    document::NodeRef,
    evidence::{Context, Need},
    files::Files,
    finding::Report,
    lint_node::LintNode,
    mask::texts_of,
    problem::Code,
    verdict::{Check, Judged, Verdict},
};

/// An assertion type: its fields are the fields of the Rust type.
pub(crate) trait AssertionType:
    Clone + Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Value of `type`.
    const NAME: &'static str;
    /// Key whose value, a text or a list of texts, follows the name in labels.
    const SUBJECT: &'static str = "";
    /// Whether `timeout` and `updated_after` have an effect.
    const WAITS: bool = false;
    /// Evidence that every assertion of the type needs.
    const NEEDS: &'static [Need] = &[];

    /// Type that checks the opposite.
    const OPPOSITE: Option<&'static str> = None;
    /// Code of the problem that an assertion about the run itself is under `given`, before the run: that it always fails,
    /// always passes, or is not checked. `None` if it is about something else.
    const BEFORE_RUN: Option<Code> = None;

    /// Reports problems of an assertion of the type that its schema cannot declare.
    fn lint(_node: &LintNode<'_>, _files: &dyn Files, _report: &mut Report) {}

    /// Returns what an assertion of the type says, to find others that deny it.
    fn says<'d>(_node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Vec::new()
    }

    /// Reads values from the node that JSON cannot represent.
    fn adopt(&mut self, _node: NodeRef<'_>) {}

    fn read(&mut self, _files: &dyn Files) {}

    /// The part of the label after the type's name.
    fn subject(&self) -> String {
        let fields = serde_json::to_value(self).unwrap_or_default();
        match fields.get(Self::SUBJECT) {
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            text => text.and_then(Value::as_str).unwrap_or_default().to_owned(),
        }
    }

    /// Returns the minimum score, for types with a score.
    fn threshold(&self) -> Option<f64> {
        None
    }

    fn needs(&self, _scope: &Scope, _context: &Context) -> Vec<Need> {
        Self::NEEDS.to_vec()
    }

    /// Judges the evidence. `Err` is an early result, equivalent to `Ok`.
    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged;
}

#[derive(Clone, Debug)]
pub(crate) struct AssertionClaim<T> {
    pub assertion: T,
    pub scope: Arc<Scope>,
}

impl<T: AssertionType> Check for AssertionClaim<T> {
    fn needs(&self, context: &Context) -> Vec<Need> {
        self.assertion.needs(&self.scope, context)
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let (Ok(row) | Err(row)) = self.assertion.judge(&seen);
        let subject = self.assertion.subject();
        let label = if subject.is_empty() { T::NAME.to_owned() } else { format!("{} {subject}", T::NAME) };
        vec![row.named(T::NAME, label)]
    }

    fn threshold(&self) -> Option<f64> {
        self.assertion.threshold()
    }

    fn texts(&self) -> Vec<String> {
        let mut fields = serde_json::to_value(&self.assertion).unwrap_or_default();
        if let Value::Object(fields) = &mut fields {
            fields.retain(|_, value| !value.is_null());
        }
        texts_of(&fields)
    }
}
