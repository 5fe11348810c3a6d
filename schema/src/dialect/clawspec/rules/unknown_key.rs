//! Unknown keys of contracts, because of which ClawSpec rejects the file, and keys of the coverage ledger that resemble
//! known ones: other keys are allowed there.

use crate::{
    dialect::clawspec::kinds::ContractFile,
    document::{NodeRef, Pointer},
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    validate::{Context, rename_title},
    words::{all_of, nearest},
};

mod scenario;

/// Consequence of an unknown key of a contract.
const REJECTED: &str = "ClawSpec rejects the file";

/// A key because of which ClawSpec rejects the file.
#[derive(Debug)]
struct Refused;

/// A second kind of contract in one file.
#[derive(Debug)]
struct SecondKind {
    key: String,
}

/// A target under another name, with its known keys.
#[derive(Debug)]
struct Meta {
    known: Vec<&'static str>,
}

/// `orchestrator` instead of `name`, as in the guide.
#[derive(Debug)]
struct Orchestrator {
    has_name: bool,
}

/// Explains an unknown key.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let (Some(parent), Some(key)) = (finding.at().parent(), finding.at().last()) else { return finding };
    if !context.file.has_cases() || finding.code() != Code::UnknownKey {
        return finding;
    }
    let in_root = parent.is_root() && context.base.is_root();
    if in_root && ["target", "handoff", "pipeline"].contains(&key.as_str()) {
        return finding.explained(SecondKind { key }).with_severity(Severity::Error);
    }
    let is_of_scenario = parent.is_root() && context.file == SpecFile::CLAWSPEC_SCENARIOS && !in_root;
    let is_refused = is_of_scenario || finding.severity() == Severity::Warning;
    let finding = if is_refused { finding.explained(Refused).with_severity(Severity::Error) } else { finding };
    if is_of_scenario {
        return scenario::explain(context, finding, &key);
    }
    if context.file == SpecFile::CLAWSPEC_SCENARIOS && !context.base.is_root() && parent == Pointer::root().key("when")
    {
        return scenario::explain_sent(context, finding, &key);
    }
    let holder = context.node.find(&parent);
    match (ContractFile::of(context.file), key.as_str()) {
        (ContractFile::Scenarios, "meta") if in_root => explain_meta(context.node, finding),
        (ContractFile::Pipeline, "orchestrator") if parent == Pointer::root().key("pipeline") => {
            let has_name = holder.is_some_and(|pipeline| pipeline.get("name").is_some());
            // The missing `name` has the same cause.
            let same = Scope::CodeAt(Code::MissingField, parent.key("name"));
            finding.explained(Orchestrator { has_name }).instead_of(same)
        }
        _ => finding,
    }
}

fn explain_meta(root: NodeRef<'_>, finding: Finding) -> Finding {
    let meta = root.get("meta").filter(|meta| meta.get("path").is_some() && root.get("target").is_none());
    let Some(meta) = meta else { return finding };
    let known = ["path", "trigger"].into_iter().filter(|key| meta.get(key).is_some()).collect();
    finding.explained(Meta { known })
}

/// A key that resembles a known one.
#[derive(Debug)]
struct SimilarKey {
    key: String,
    near: &'static str,
}

/// Checks an entry of the coverage ledger.
pub(crate) fn check_entry(item: &LintNode<'_>, report: &mut Report) {
    const READ: [(Option<&str>, &[&str]); 4] = [
        (None, &["id", "path", "tier", "status", "contracts", "coverage", "verification"]),
        (Some("contracts"), &["scenario_file", "pipeline_file", "handoff_files"]),
        (Some("coverage"), &["negative"]),
        (Some("verification"), &["approved_smoke_scenario"]),
    ];
    for (block, names) in READ {
        let Some(mapping) = block.map_or_else(|| Some(item.clone()), |block| item.get(block)) else { continue };
        for (key, member) in mapping.entries() {
            if names.contains(&key.as_str()) || key.len() < 4 {
                continue;
            }
            if let Some(near) = nearest(&key, names.iter().copied().filter(|name| mapping.get(name).is_none())) {
                report.push(member.head_finding(SimilarKey { key, near }));
            }
        }
    }
}

impl Explanation for Refused {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        MessageParts { note: Some(REJECTED.to_owned()), ..said }
    }
}

impl Explanation for SecondKind {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        let message = "a contract must have exactly one of `target`, `handoff` and `pipeline`".to_owned();
        let words = MessageParts { message, fixes: Vec::new(), ..said };
        words.help(format!("move `{}` to a separate file", self.key))
    }
}

impl Explanation for Meta {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let help = rename_title("target");
        let edits = location.lint_node().and_then(|meta| meta.renamed("target"));
        let fixes = edits.map(|edits| Fix::guess(&help, edits)).into_iter().collect();
        let words = MessageParts { message: "unknown key `meta`".to_owned(), fixes, ..said };
        words.help(format!("{help}: it has {}", all_of(self.known.iter().copied())))
    }
}

impl Explanation for Orchestrator {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new("unknown key `orchestrator`")
            .note("ClawSpec's guide uses it, but its schema requires `name`");
        let words = MessageParts { subject: said.subject, ..words };
        if self.has_name {
            return words;
        }
        // The name of an agent becomes the name of the pipeline and of its reports.
        words.remedy(rename_title("name"), Fix::guess, location.lint_node().and_then(|old| old.renamed("name")))
    }
}

impl Rule for SimilarKey {
    const CODE: Code = Code::UnknownKey;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("unknown key `{}`", self.key)).help(rename_title(self.near))
    }
}
