//! Unknown keys of ClawSpec scenarios: keys of older guides that differ in more than the name, and data next to
//! `params`.

use crate::{
    dialect::clawspec::assertion_lists::scenario_fields,
    edit,
    finding::{Explanation, Finding, Location, MessageParts, Scope},
    lint_node::LintNode,
    problem::{Code, Fix},
    validate::Context,
};

/// A key as in older guides.
#[derive(Debug)]
struct OldKey {
    /// The current key.
    real: &'static str,
    form: Form,
}

/// Form of such a key.
#[derive(Debug)]
enum Form {
    /// A list of actions.
    Steps,
    /// The command or message.
    Invoke,
    /// The data to send.
    Params,
    /// The data to send, under another name.
    Inputs,
    /// A second list of assertions.
    Assertions,
    /// A second name.
    Id,
    /// A value that is not a list of assertions, with a type that it could contain.
    NoList(&'static str),
}

/// A key of an action that may be data to send.
#[derive(Debug)]
struct Sent {
    key: String,
}

/// Keys of a scenario: under `when`, they are not sent.
const OF_SCENARIO: [&str; 9] = ["name", "description", "tags", "given", "then", "type", "path", "trigger", "timeout"];

/// Explains a key of a scenario.
pub(super) fn explain(context: &Context<'_>, finding: Finding, key: &str) -> Finding {
    let scenario = LintNode::root(context.node);
    let Some((real, form)) = Form::of(&scenario, key) else { return finding };
    // The missing current key has the same cause.
    let same = Scope::CodeAt(Code::MissingField, scenario.at.key(real));
    finding.explained(OldKey { real, form }).instead_of(same)
}

/// Explains a key of an action.
pub(super) fn explain_sent(context: &Context<'_>, finding: Finding, key: &str) -> Finding {
    let invokes = context.node.get("when").is_some_and(|when| when.get("invoke").is_some());
    if !invokes || OF_SCENARIO.contains(&key) {
        return finding;
    }
    finding.explained(Sent { key: key.to_owned() })
}

impl Form {
    /// Returns the form of a key, with the current key.
    fn of(scenario: &LintNode<'_>, key: &str) -> Option<(&'static str, Form)> {
        let (has, member) = (|key: &str| scenario.get(key).is_some(), scenario.get(key)?);
        Some(match key {
            "steps" => ("when", Form::Steps),
            "invoke" => ("when", Form::Invoke),
            "params" => ("when", Form::Params),
            "inputs" => ("when", Form::Inputs),
            "assertions" if has("then") && member.is_list() => ("then", Form::Assertions),
            "id" if has("name") => ("name", Form::Id),
            _ if !member.is_list() => {
                let is_called = |shape: &crate::shape::Shape| shape.other_names().iter().any(|known| known.name == key);
                match scenario_fields().iter().find(|field| is_called(&field.shape))?.name {
                    "given" => ("given", Form::NoList("file_present")),
                    "then" => ("then", Form::NoList("artifact_exists")),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns the help.
    fn help(&self, real: &str) -> String {
        match self {
            Form::Steps => "write the action as `when: { invoke, params }`".to_owned(),
            Form::Invoke | Form::Params => "move it under `when`".to_owned(),
            Form::Inputs => "move it under `when`, as `params`".to_owned(),
            Form::Assertions => "move its items to `then`".to_owned(),
            Form::Id => "remove it; `name` identifies the scenario".to_owned(),
            Form::NoList(example) => {
                format!("write a list of assertions under `{real}`, such as `- type: {example}`")
            }
        }
    }

    /// Returns the fix.
    fn fix(&self, scenario: &LintNode<'_>, key: &str, member: &LintNode<'_>, title: &str) -> Option<Fix> {
        let has_action = scenario.get("when").is_some();
        let below_when = || Some(Fix::guess(title, edit::below(scenario.node, key, "when")?));
        match self {
            Form::Steps => only_step(scenario, member).filter(|_| !has_action),
            Form::Invoke => below_when(),
            // Without `invoke`, `when` would be invalid.
            Form::Params => below_when().filter(|_| has_action),
            Form::Inputs => {
                let edits = edit::below_as(scenario.node, key, "when", "params").filter(|_| has_action)?;
                Some(Fix::guess(title, edits))
            }
            Form::Assertions => joined(scenario, member, title),
            Form::Id => second_name(scenario, member),
            Form::NoList(_) => None,
        }
    }
}

/// Returns the fix for a single step that contains only what to invoke: it becomes `when`.
fn only_step(scenario: &LintNode<'_>, steps: &LintNode<'_>) -> Option<Fix> {
    let items = steps.items();
    let [step] = items.as_slice() else { return None };
    let is_plain = |(key, value): &(String, LintNode<'_>)| match key.as_str() {
        "type" => value.text() == Some("invoke"),
        "invoke" => value.node.text().is_some() && value.node.alias().is_none(),
        _ => false,
    };
    let invoke = step.get("invoke")?;
    if !step.is_own() || step.node.anchor().is_some() || !step.entries().iter().all(is_plain) {
        return None;
    }
    let lines = ["when:".to_owned(), format!("  invoke: {}", edit::words(invoke.node)?)];
    let edits = edit::replace_entry(scenario.node, steps.entry()?, &lines, invoke.node)?;
    Some(Fix::guess("rewrite it as `when`", edits))
}

/// Returns the fix for a second list of assertions directly after the first one: removing its key joins the lists.
fn joined(scenario: &LintNode<'_>, member: &LintNode<'_>, title: &str) -> Option<Fix> {
    let then = scenario.get("then").filter(LintNode::is_list)?;
    let edits = edit::joined(scenario.node, then.entry()?, member.entry()?)?;
    // An anchored list is used elsewhere, where it would change too.
    let is_named = [then.node, member.node].iter().any(|list| list.anchor().is_some());
    Some(if is_named { Fix::suggestion(title, edits) } else { Fix::guess(title, edits) })
}

/// Returns the fix for an `id` next to an equal name.
fn second_name(scenario: &LintNode<'_>, id: &LintNode<'_>) -> Option<Fix> {
    let name = scenario.get("name")?;
    let same = id.node.text().is_some() && name.text() == id.node.text() && id.node.anchor().is_none();
    let edits = scenario.without(id).filter(|_| same)?;
    // Another program may read it.
    Some(Fix::suggestion("remove it", edits))
}

impl Explanation for OldKey {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let OldKey { real, form } = self;
        let (scenario, help) = (LintNode::root(location.root), form.help(real));
        let fix = location
            .at
            .last()
            .zip(location.lint_node())
            .and_then(|(key, member)| form.fix(&scenario, &key, &member, &help));
        // If it is commented out, the scenario lacks the key that it replaces.
        let may_go = *real == "given" || scenario.get(real).is_some();
        let fix = fix.or_else(|| edit::comment_out(location.root, location.at).filter(|_| may_go).map(Fix::comment));
        MessageParts { fixes: fix.into_iter().collect(), ..said }.help(help)
    }
}

impl Explanation for Sent {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let key = &self.key;
        // A misspelling has its own fix.
        if said.fixes.iter().any(|fix| fix.preferred) {
            return said;
        }
        let edits = location.parent().and_then(|when| edit::below(when, key, "params"));
        let fix = if key == "test_mode" { Fix::safe } else { Fix::guess };
        let words = MessageParts::new(format!("unknown key `{key}` in `when`"))
            .note(super::REJECTED)
            .help("if it is data for the target, move it under `params`")
            .fix(edits.map(|edits| fix("move it under `params`", edits)));
        MessageParts { subject: said.subject, ..words }
    }
}
