//! Checks of ClawSpec files that a schema cannot express.
//!
//! As in every dialect, the result about an item depends only on its node and on files, so that it can be cached.

mod assertions;
pub(crate) mod contract;
mod handoff;
mod ledger;
mod pipeline;
pub(crate) mod stale_files;
mod target;
pub(crate) mod unknown_key;
pub(crate) mod unknown_type;
pub(crate) mod yaml;

use crate::{
    document::NodeRef,
    files::Files,
    finding::{MessageParts, Report},
    gateway::workspace::is_placed,
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Reports problems outside of the items, and between them. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = &LintNode::root(root);
    yaml::check_root(root, report);
    let mut assertions = |block: &str, phases: [&str; 2]| {
        for phase in phases {
            assertions::check(root.node, root.find(&[block, phase]), files, report);
        }
    };
    if file == SpecFile::CLAWSPEC_SCENARIOS {
        target::check_scenarios(root, files, report);
        contract::check(root, files, report);
    } else if file == SpecFile::CLAWSPEC_HANDOFF {
        assertions("assertions", ["pre_delegation", "post_delegation"]);
        handoff::check(root, files, report);
    } else if file == SpecFile::CLAWSPEC_PIPELINE {
        assertions("final_assertions", ["deterministic", "semantic"]);
        target::check_pipeline(root, files, report);
        pipeline::check(root, files, report);
    } else if file == SpecFile::CLAWSPEC_LEDGER {
        ledger::check(root, files, report);
    } else if file == SpecFile::CLAWSPEC {
        check_settings(root, files, report);
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
