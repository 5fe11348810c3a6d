//! cli-bench: `cli-bench.yaml`, and the task files that it names.
//!
//! What the main file may say stands in [`config`], a task in [`tasks`], what is claimed in [`assertions`].

pub mod assertions;
pub mod config;
pub mod gates;
pub mod lint;
pub mod lower;
pub mod task_files;
pub mod tasks;
pub mod template;
pub mod thresholds;

use super::format::{Facts, Format, Lower, known};
use crate::{
    document::{Document, NodeRef, Pointer, ScalarRules},
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    problem::Problem,
    rules::ambiguous_scalar::yaml_1_1,
    settings::Settings,
    suite::{ActionKind, Case, Suite},
    validate::Definition,
};

pub use gates::Gates;

/// The format.
pub(crate) struct CliBench;

impl Format for CliBench {
    fn name(&self) -> &'static str {
        "cli-bench"
    }

    fn program(&self) -> &'static str {
        "cli-bench"
    }

    fn name_key(&self) -> &'static str {
        "id"
    }

    fn scalar_rules(&self) -> ScalarRules {
        ScalarRules::Yaml12Merging
    }

    fn act_of(&self, _: NodeRef<'_>) -> ActionKind {
        ActionKind::Agent
    }

    fn refine(&self, node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
        lint::slips(node, definition, problems);
        lint::refine(node, definition, problems);
    }

    fn lint_root(&self, file: SpecFile, root: NodeRef<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
        problems.extend(lint::lint_root(file, root, files));
    }

    fn report(&self, node: NodeRef<'_>, definition: Definition, _: &dyn Files, report: &mut Report) {
        match definition {
            Definition::Item(file, list) if file.case_list() == Some(list) => {
                yaml_1_1::check_item(node, definition, report);
            }
            Definition::Root(_) | Definition::Item(..) => {}
        }
    }

    fn lint_item(
        &self,
        file: SpecFile,
        list: &'static str,
        item: NodeRef<'_>,
        files: &dyn Files,
        problems: &mut Vec<Problem>,
    ) -> Option<Facts> {
        problems.extend(lint::lint_item(file, list, item, files));
        Some(Box::new(lint::item_facts(file, list, item, files)?))
    }

    fn lint_relations(
        &self,
        file: SpecFile,
        root: NodeRef<'_>,
        items: &[(usize, &Facts)],
        files: &dyn Files,
        problems: &mut Vec<Problem>,
    ) {
        problems.extend(lint::lint_relations(file, root, &known(items), files));
    }

    fn lower(&self, file: SpecFile, document: &Document, files: &dyn Files, _: &Settings) -> Box<dyn Lower> {
        Box::new(lower::RootContext::of(file, document, files))
    }
}

impl Lower for lower::RootContext {
    fn suite(&self, _: SpecFile, document: &Document, _: &dyn Files, _: &Settings) -> Suite {
        lower::lower_root(document)
    }

    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case> {
        lower::lower_item(item, at, self, files)
    }
}
