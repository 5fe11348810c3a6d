//! Checks of ClawSpec files that a schema cannot express.
//!
//! As in every dialect, the result about an item depends only on its node and on files, so that it can be cached.

mod assertions;
pub(crate) mod contract;
mod handoff;
pub(crate) mod keys;
mod ledger;
mod pipeline;
pub(crate) mod scenario;
pub(crate) mod stale_files;
mod target;
pub(crate) mod unknown_type;
pub(crate) mod yaml;

use crate::{
    document::NodeRef,
    files::Files,
    finding::{MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Severity},
};

use super::kinds::ContractFile;
use crate::gateway::workspace::is_placed;

/// Consequence of what ClawSpec's parser or schema does not allow.
const REJECTED: &str = "ClawSpec rejects the file";

/// Reports problems outside of the items, and between them. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = &LintNode::root(root);
    yaml::check_root(root, report);
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
