//! Unknown keys of ClawSpec assertions with a known intended meaning.

use crate::{
    dialect::{
        Dialect,
        clawspec::{config::Config, type_fields::log_members},
    },
    document::{NodeRef, Pointer},
    edit,
    finding::{Explanation, Finding, Location, MessageParts, Scope},
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    rules::{
        unknown_key::ignored_by,
        unknown_type::{literal, opposite_type},
    },
    validate::Context,
    words::{all_of, listed},
};

/// An unknown key of an assertion type.
#[derive(Debug)]
struct InAssertion {
    kind: &'static str,
    meant: IntendedAssertionKey,
}

/// Its intended meaning.
#[derive(Debug)]
enum IntendedAssertionKey {
    /// The opposite of the assertion.
    Opposite,
    /// A threshold that is not on the scale of a judge.
    NoScore,
    /// A tool that must not be called, in a list of allowed tools.
    ForbiddenTool,
    /// A tool that must not be called, next to the list.
    ToolBesideList,
    /// The caller of a delegation.
    Caller,
    /// A variable at this key.
    Variable(String),
    /// A path of the gateway without its address, and whether the request method is GET.
    Route { is_get: bool },
    /// The absence of a file.
    NoFile,
    /// A string in a file, at this key.
    Text(&'static str),
    /// A section of compared files, and the missing files.
    Section { missing: Vec<&'static str> },
}

/// A key of a mapping that lacks all of several keys of which one is required.
#[derive(Debug)]
struct InPlaceOfAny {
    keys: Vec<&'static str>,
}

/// Explains a key of a mapping with this type.
pub(super) fn explain(context: &Context<'_>, finding: Finding, parent: &Pointer, key: &str) -> Finding {
    let form = context.mapping(parent).variant;
    let (Some(assertion), Some(("type", kind))) = (context.node.find(parent), form) else { return finding };
    let finding = match IntendedAssertionKey::of(assertion, kind, key) {
        Some(meant) => {
            let better = meant.says_better(parent);
            let is_idle = matches!(meant, IntendedAssertionKey::Caller);
            let finding = if is_idle { finding.with_severity(Severity::Hint) } else { finding };
            let finding = finding.explained(InAssertion { kind, meant });
            better.into_iter().fold(finding, Finding::instead_of)
        }
        None => finding,
    };
    let any_of = context.shape(parent).map(|shape| shape.any_of()).unwrap_or_default();
    match Some(any_of).filter(|keys| !keys.is_empty() && keys.iter().all(|key| assertion.get(key).is_none())) {
        // The missing key has the same cause.
        Some(keys) => {
            finding.explained(InPlaceOfAny { keys }).instead_of(Scope::CodeAt(Code::MissingField, parent.clone()))
        }
        None => finding,
    }
}

impl IntendedAssertionKey {
    fn of(assertion: NodeRef<'_>, kind: &str, key: &str) -> Option<IntendedAssertionKey> {
        let has = |key: &str| assertion.get(key).is_some();
        let lint_node = LintNode::root(assertion).get(key)?;
        let first_of = |keys: &[&'static str], fits: &dyn Fn(NodeRef<'_>) -> bool| {
            keys.iter().copied().find(|key| assertion.get(key).is_some_and(fits)).filter(|first| *first == key)
        };
        let contains_nothing = || !has("sections") && !has("fields");
        match (kind, key) {
            (_, "not" | "negate" | "negated" | "invert" | "inverted") => Some(IntendedAssertionKey::Opposite),
            (_, "expected") if lint_node.bool() == Some(false) => Some(IntendedAssertionKey::Opposite),
            ("llm_judge", "threshold") => {
                let is_score = lint_node.number().is_some_and(|number| (1.0..=5.0).contains(&number));
                (!is_score).then_some(IntendedAssertionKey::NoScore)
            }
            ("tool_not_permitted", "tool") if has("allowed_tools") => Some(IntendedAssertionKey::ToolBesideList),
            ("tool_not_permitted", "tool") => Some(IntendedAssertionKey::ForbiddenTool),
            ("delegation_occurred", "from") => Some(IntendedAssertionKey::Caller),
            ("env_present", _) if !has("vars") => first_of(&["var", "name", "variable"], &|_| true)
                .map(|key| IntendedAssertionKey::Variable(key.to_owned())),
            ("gateway_response", "route") if !has("endpoint") => {
                let method = assertion.get("method").and_then(NodeRef::as_str);
                Some(IntendedAssertionKey::Route {
                    is_get: method.is_none_or(|method| method.eq_ignore_ascii_case("get")),
                })
            }
            ("artifact_contains", "absent") if contains_nothing() && lint_node.bool() == Some(true) => {
                Some(IntendedAssertionKey::NoFile)
            }
            ("artifact_contains", _) if contains_nothing() => {
                first_of(&["text", "contains", "pattern"], &|node| node.as_str().is_some())
                    .map(IntendedAssertionKey::Text)
            }
            ("agent_identity_consistent", "section_id") => {
                let missing = ["output_path", "soul_path"].into_iter().filter(|key| !has(key)).collect();
                Some(IntendedAssertionKey::Section { missing })
            }
            (_, _) => None,
        }
    }

    /// Returns the findings about the assertion that have the same cause.
    fn says_better(&self, assertion: &Pointer) -> Vec<Scope> {
        let missing = |key: &str| Scope::CodeAt(Code::MissingField, assertion.key(key));
        match self {
            IntendedAssertionKey::ForbiddenTool => vec![missing("allowed_tools")],
            IntendedAssertionKey::Variable(_) => vec![missing("vars")],
            IntendedAssertionKey::Route { .. } => {
                vec![missing("endpoint"), Scope::CodeAt(Code::UnknownKey, assertion.key("method"))]
            }
            IntendedAssertionKey::Section { missing: keys } => keys.iter().map(|key| missing(key)).collect(),
            IntendedAssertionKey::Opposite
            | IntendedAssertionKey::NoScore
            | IntendedAssertionKey::ToolBesideList
            | IntendedAssertionKey::Caller
            | IntendedAssertionKey::NoFile
            | IntendedAssertionKey::Text(_) => Vec::new(),
        }
    }
}

/// Returns the edits of the fixes for a forbidden tool: by the log, and by the trace.
fn forbidding(assertion: &LintNode<'_>, kind: &LintNode<'_>) -> [Option<Vec<Edit>>; 2] {
    let members = log_members(&Config::default().log_path(), "{{run_id}}");
    let missing: Vec<(&str, String)> = members.into_iter().filter(|(key, _)| assertion.get(key).is_none()).collect();
    let by_log = kind.replaced("tool_not_called").map(|mut edits| {
        edits.extend(assertion.with_behind("tool", &missing).into_iter().flatten());
        edits
    });
    [by_log, kind.replaced("tool_not_invoked")]
}

/// Returns the message for a tool that must not be called.
fn forbidden_tool(assertion: &LintNode<'_>, kind: &LintNode<'_>, tool: &LintNode<'_>) -> MessageParts {
    let words = MessageParts::new("`tool_not_permitted` is an allow-list and has no key `tool`")
        .help("to forbid one tool, use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)");
    if tool.text().is_none() {
        return words;
    }
    let [by_log, by_trace] = forbidding(assertion, kind);
    let (by_log_title, by_trace_title) =
        ("change the type to `tool_not_called`", "change the type to `tool_not_invoked`");
    // The keys of the log belong to only one type. Otherwise, the log or the trace may be meant, so the user must
    // choose. ClawSpec rejects a file with `tool_not_invoked`, so no safe fix uses it.
    if ["log_path", "run_id"].iter().any(|key| assertion.get(key).is_some()) {
        return words.fix(by_log.map(|edits| Fix::safe(by_log_title, edits)));
    }
    words
        .fix(by_log.map(|edits| Fix::guess(by_log_title, edits)))
        .fix(by_trace.map(|edits| Fix::suggestion(by_trace_title, edits)))
}

/// Returns the fix that converts one variable, or a list under another key, to a list of variables.
fn variables(member: &LintNode<'_>, title: &str) -> Option<Fix> {
    let rename = member.renamed("vars")?;
    let value = match member.is_list() {
        true => Vec::new(),
        false => member.replaced(format!("[{}]", edit::words(member.node)?))?,
    };
    let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let mut names = member.text().into_iter().chain(member.texts().into_iter().map(|(text, _)| text));
    let fix = if names.all(is_name) { Fix::safe } else { Fix::guess };
    Some(fix(title.to_owned(), [rename, value].concat()))
}

/// Returns the edits that complete the address of a path of the gateway.
fn whole_address(assertion: &LintNode<'_>, route: &LintNode<'_>) -> Option<Vec<Edit>> {
    let path = route.text().filter(|path| path.starts_with('/'))?;
    let mut edits = [route.renamed("endpoint")?, route.replaced(format!("{}{path}", Config::GATEWAY))?].concat();
    if let Some(method) = assertion.get("method") {
        edits.extend(assertion.without(&method)?);
    }
    Some(edits)
}

/// Returns the edits that search for a string in a file.
fn searched(kind: &LintNode<'_>, member: &LintNode<'_>) -> Option<Vec<Edit>> {
    Some([literal(member, "log_entry")?, kind.replaced("log_entry")?].concat())
}

/// Returns the edits that forbid a file. `file_absent` does not support wildcards.
fn forbidden_file(assertion: &LintNode<'_>, kind: &LintNode<'_>, absent: &LintNode<'_>) -> Option<Vec<Edit>> {
    let path = assertion.get("path")?;
    path.text().filter(|path| !path.contains(['*', '?', '[']))?;
    Some([kind.replaced("file_absent")?, assertion.without(absent)?].concat())
}

impl Explanation for InAssertion {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let kind = self.kind;
        let (Some(assertion), Some(member)) = (location.holder(), location.lint_node()) else { return said };
        let Some(kind_spot) = assertion.get("type") else { return said };
        match &self.meant {
            IntendedAssertionKey::Opposite => {
                let help = match opposite_type(kind) {
                    _ if kind == "log_entry" => "write `absent: true`".to_owned(),
                    Some(opposite) => format!("use `{opposite}`, which checks the opposite"),
                    None => format!("remove the assertion: no type checks the opposite of `{kind}`"),
                };
                MessageParts { note: Some(ignored_by(Dialect::CLAWSPEC)), fixes: Vec::new(), ..said }.help(help)
            }
            IntendedAssertionKey::NoScore => {
                let help = said.help.map(|help| format!("{help}, and write a score, usually from 1 to 5"));
                let fixes = said.fixes.into_iter().map(|fix| Fix::guess(fix.title, fix.edits)).collect();
                MessageParts { help, fixes, ..said }
            }
            IntendedAssertionKey::ForbiddenTool => forbidden_tool(&assertion, &kind_spot, &member),
            IntendedAssertionKey::ToolBesideList => MessageParts::new("unknown key `tool` in `tool_not_permitted`")
                .note("calls to tools that are not in `allowed_tools` already fail")
                .remedy("remove it", Fix::suggestion, assertion.without(&member)),
            IntendedAssertionKey::Caller => MessageParts::new("unknown key `from` in `delegation_occurred`")
                .note("ClawSpec does not check who delegated, and ignores `from_agent` too")
                .remedy("remove `from`", Fix::suggestion, assertion.without(&member)),
            IntendedAssertionKey::Variable(key) => {
                let help = "rename it to `vars`, and write its value as a list";
                let words = MessageParts::new(format!("unknown key `{key}` in `env_present`"))
                    .note(ignored_by(Dialect::CLAWSPEC))
                    .help(help);
                words.fix(variables(&member, help))
            }
            IntendedAssertionKey::Route { is_get } => {
                let words = match is_get {
                    true => MessageParts::new("unknown key `route` in `gateway_response`")
                        .note(ignored_by(Dialect::CLAWSPEC)),
                    false => MessageParts::new("unknown keys `route` and `method` in `gateway_response`")
                        .note("ClawSpec sends only GET requests"),
                };
                // The result of another method cannot be checked here.
                let edits = whole_address(&assertion, &member).filter(|_| *is_get);
                let title = "write `endpoint` with the gateway's default URL";
                words.help("set `endpoint` to the full URL").fix(edits.map(|edits| Fix::guess(title, edits)))
            }
            IntendedAssertionKey::NoFile => MessageParts::new("unknown key `absent` in `artifact_contains`")
                .note(ignored_by(Dialect::CLAWSPEC))
                .remedy(
                    "change the type to `file_absent` to require that the file does not exist",
                    Fix::guess,
                    forbidden_file(&assertion, &kind_spot, &member),
                ),
            IntendedAssertionKey::Text(key) => MessageParts::new(format!("unknown key `{key}` in `artifact_contains`"))
                .note("ClawSpec checks only `sections` and `fields`, and ignores unknown keys")
                .remedy(
                    "change the type to `log_entry`, which searches for text in a file",
                    Fix::guess,
                    searched(&kind_spot, &member),
                ),
            IntendedAssertionKey::Section { missing } => {
                let words = MessageParts::new("unknown key `section_id` in `agent_identity_consistent`")
                    .note("ClawSpec compares whole files");
                match missing.as_slice() {
                    [] => words.help("remove it"),
                    missing => words.help(format!("remove it, and add {}", all_of(missing.iter().copied()))),
                }
            }
        }
    }
}

impl Explanation for InPlaceOfAny {
    fn message(&self, mut words: MessageParts, _: &Location<'_>) -> MessageParts {
        // Without the key, the assertion would lack one.
        words.fixes.retain(|fix| !fix.is_comment);
        if words.help.is_none() && words.fixes.is_empty() {
            words = words.help(format!("remove it, and add {}", listed(self.keys.iter().copied())));
        }
        words
    }
}
