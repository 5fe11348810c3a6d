//! Names of scenarios that another contract of the same target has as well.

use std::sync::Arc;

use crate::{
    dialect::clawspec::siblings::Sibling,
    document::Pointer,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, OtherFile, Severity},
    relations::Items,
};

/// Maximum number of locations to show in another contract.
const MAX_PLACES: usize = 10;

/// Another contract of the same target with scenarios of the same names.
#[derive(Debug)]
struct SharedNames(String);

/// Reports scenarios of other contracts with the same names.
pub(crate) fn check_siblings(root: &LintNode<'_>, items: Items<'_>, siblings: &[Sibling], report: &mut Report) {
    let Some(target) = root.find(&["target", "path"]) else { return };
    let is_own = |name: &str| items.named(name).is_some();
    for Sibling { path, bytes, document } in siblings {
        let Some(scenarios) = document.root().and_then(|root| root.get("scenarios")) else { continue };
        let names = scenarios.items().enumerate().filter_map(|(index, scenario)| Some((index, scenario.get("name")?)));
        let mut shared = names.filter(|(_, name)| name.as_str().is_some_and(is_own)).take(MAX_PLACES).peekable();
        if shared.peek().is_none() {
            continue;
        }
        let finding = target.finding(SharedNames(path.clone()));
        report.push(shared.fold(finding, |finding, (index, name)| {
            let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
            let at = Pointer::root().key("scenarios").index(index).key("name");
            finding.with_other_file("the same name", file, at, name.range())
        }));
    }
}

impl Rule for SharedNames {
    const CODE: Code = Code::DuplicateName;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` has scenarios with the same names for the same target", self.0))
            .note("ClawSpec gives their reports the same name and counts them together")
            .help("rename the scenarios of one of the two files")
    }
}
