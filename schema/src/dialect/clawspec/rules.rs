//! Checks of ClawSpec files that a schema cannot express: calls the rules for each part of a file.
//!
//! As in every dialect, the result of [`report_item`] depends only on the item's node and on files, so that it can be
//! cached. [`explain`] adds the format's knowledge to violations of the schema.

mod assertions;
pub(crate) mod contract;
mod handoff;
mod ledger;
pub(crate) mod missing_key;
mod pipeline;
mod scenario;
pub(crate) mod stale_files;
mod target;
mod unknown_key;
pub(crate) mod unknown_type;
pub(crate) mod yaml;

use crate::{
    document::NodeRef,
    files::Files,
    finding::{Explanation, Finding, Location, MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    validate::{Context, Definition},
};

use super::{kinds::ContractFile, paths::is_placed};

/// Consequence of what ClawSpec's parser or schema does not allow.
const REJECTED: &str = "ClawSpec rejects the file";

/// What the format knows better about a violation of the schema.
#[derive(Clone, Debug, Default)]
struct Better {
    message: Option<String>,
    note: Option<String>,
    help: Option<String>,
    fixes: Option<Vec<Fix>>,
    /// Whether a preferred fix shows that the general rule knows it better.
    yields: bool,
}

impl Explanation for Better {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        if self.yields && said.fixes.iter().any(|fix| fix.preferred) {
            return said;
        }
        let better = self.clone();
        MessageParts {
            message: better.message.unwrap_or(said.message),
            note: better.note.or(said.note),
            help: better.help.or(said.help),
            fixes: better.fixes.unwrap_or(said.fixes),
            ..said
        }
    }
}

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() == Code::UnknownKey && context.file.has_cases() {
        return unknown_key::explain(context, finding);
    }
    let is_missing = finding.code() == Code::MissingField;
    match is_missing.then(|| missing_key::better(context, finding.at())).flatten() {
        Some(better) => finding.explained(better),
        None => finding,
    }
}

/// Reports problems outside of the items, and between them. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = &LintNode::root(root);
    yaml::check_text(root.node.document(), report);
    yaml::check(root.node, Definition::Root(file), Definition::lists(file), report);
    match ContractFile::of(file) {
        ContractFile::Scenarios => {
            target::check_scenarios(root, files, report);
            contract::check(root, files, report);
        }
        ContractFile::Handoff => {
            handoff::check(root, files, report);
            for phase in ["pre_delegation", "post_delegation"] {
                assertions::check(root.node, root.find(&["assertions", phase]), files, report);
            }
        }
        ContractFile::Pipeline => {
            target::check_pipeline(root, files, report);
            pipeline::check(root, files, report);
            for phase in ["deterministic", "semantic"] {
                assertions::check(root.node, root.find(&["final_assertions", phase]), files, report);
            }
        }
        ContractFile::Ledger => ledger::check(root, files, report),
        ContractFile::Baselines => {}
        ContractFile::Settings => check_settings(root, files, report),
    }
}

/// Reports problems in one item of a top-level list. Pointers are relative to it, ranges as the nodes return them.
pub(crate) fn report_item(
    file: SpecFile,
    list: &'static str,
    item: NodeRef<'_>,
    files: &dyn Files,
    report: &mut Report,
) {
    yaml::check(item, Definition::Item(file, list), &[], report);
    if file == SpecFile::CLAWSPEC_SCENARIOS {
        scenario::check(&LintNode::root(item), files, report);
    }
}

/// Checks the settings of a workspace.
fn check_settings(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    if files.place().ends_with("clawspec.yml") {
        let words = MessageParts::new("`clawspec.yml` has no effect")
            .note("ClawSpec and speclens read only `clawspec.yaml`")
            .help("rename the file to `clawspec.yaml`");
        report.push(root.head_problem(Code::NoEffect, words).with_severity(Severity::Warning));
    }
    let patterns = root.get("scenario_patterns").filter(|_| is_placed(files)).map(|list| list.texts());
    for (text, pattern) in patterns.unwrap_or_default() {
        let found = files.glob(text);
        if !text.is_empty() && found.paths.is_empty() && !found.cut {
            let words =
                MessageParts::new(format!("no file matches `{text}`")).help("correct the pattern, or remove it");
            report.push(pattern.problem(Code::MissingFile, words).with_severity(Severity::Warning));
        }
    }
}
