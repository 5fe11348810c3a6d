//! cli-bench: `cli-bench.yaml`, and the task files that it includes.
//!
//! The main file is defined in [`config`], a task in [`tasks`], and the claims in [`assertions`].

pub mod assertions;
pub mod config;
pub(crate) mod facts;
pub(crate) mod gates;
mod kinds;
pub(crate) mod lower;
mod new_suite;
mod propose;
pub(crate) mod rules;
pub mod tasks;
pub mod template;

use crate::{
    document::{Document, NodeRef, Pointer, ScalarRules},
    evidence::Evidence,
    files::Files,
    finding::{Finding, Report},
    format::{EffectiveDefault, Format, Lower, NewTest, Starter, Unit},
    json_schema::SpecFile,
    pattern::{Invalid, Limit, Pattern, PatternUse},
    problem::{NewFile, Severity},
    proposal::Proposal,
    relations::{Facts, Items},
    settings::Settings,
    suite::{ActionKind, Case, Suite, task_files},
    template::TemplateSyntax,
    validate::{Context, Definition},
    walk::Value,
};

pub use gates::Gates;

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

    fn starter(&self) -> Option<Starter> {
        const FILES: &[(&str, &str)] = &[
            ("cli-bench.yaml", include_str!("cli_bench/starter/cli-bench.yaml")),
            ("rehearsal.script.yaml", include_str!("cli_bench/starter/rehearsal.script.yaml")),
            ("tasks/basics.yaml", include_str!("cli_bench/starter/tasks/basics.yaml")),
        ];
        Some(Starter { docs: "`cli-bench.yaml`, a task file, and a scripted model", files: FILES })
    }

    fn chooses_models(&self) -> bool {
        true
    }

    fn templates(&self) -> &'static [&'static TemplateSyntax] {
        &[&template::SYNTAX]
    }

    fn scalar_rules(&self) -> ScalarRules {
        ScalarRules::Yaml12Merging
    }

    fn unit(&self) -> Unit {
        Unit::Suite
    }

    fn in_force(
        &self,
        file: SpecFile,
        document: &Document,
        at: &Pointer,
        key: &str,
        files: &dyn Files,
    ) -> Option<EffectiveDefault> {
        // Keys of a task that apply to all tasks if they are next to `tasks`.
        const SHARED: [&str; 2] = ["repeat", "scaffold"];
        if !SHARED.contains(&key) || !at.steps().any(|step| step.index().is_some()) {
            return None;
        }
        if file == SpecFile::CLI_BENCH {
            let value = document.root()?.get(key)?.text()?.to_owned();
            return Some(EffectiveDefault { value, source: Some("this file".to_owned()) });
        }
        let main = files.main()?;
        let text = String::from_utf8(files.read(main).ok()?.to_vec()).ok()?;
        let suite = Document::read(&text, self.scalar_rules());
        let value = suite.root()?.get(key)?.text()?.to_owned();
        Some(EffectiveDefault { value, source: Some(format!("`{main}`")) })
    }

    fn act_of(&self, _: NodeRef<'_>) -> ActionKind {
        ActionKind::Agent
    }

    fn explain(&self, context: &Context<'_>, finding: Finding) -> Finding {
        rules::explain(context, finding)
    }

    fn path(&self, path: &str, files: &dyn Files) -> Option<Result<String, &'static str>> {
        Some(task_files::normalize(path, files))
    }

    fn pattern_use(&self, searches: &str) -> PatternUse {
        match searches {
            "secrets" => PatternUse {
                invalid: Invalid::Unusable(Severity::Error, Some("this pattern masks nothing")),
                empty: Some("an empty match masks nothing"),
                limit: Limit::Linear,
                ..PatternUse::PLAIN
            },
            _ => PatternUse {
                invalid: Invalid::PlainText,
                unsupported: Some("the result of the assertion is unknown"),
                knows_new: true,
                ..PatternUse::PLAIN
            },
        }
    }

    fn report_pattern(&self, pattern: &Pattern<'_>, report: &mut Report) {
        if pattern.usage.invalid == Invalid::PlainText {
            rules::assertions::check_pattern(pattern, report);
        }
    }

    fn report_value(&self, value: &Value<'_, '_>, report: &mut Report) {
        rules::report_value(value, report);
    }

    fn report(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files, report: &mut Report) {
        match definition {
            Definition::Root(file) => rules::report_root(file, node, report),
            Definition::Item(file, list) => rules::report_item(file, list, node, files, report),
        }
    }

    fn facts(&self, file: SpecFile, list: &'static str, item: NodeRef<'_>, files: &dyn Files) -> Option<Facts> {
        facts::item_facts(file, list, item, files)
    }

    fn report_relations(
        &self,
        file: SpecFile,
        root: NodeRef<'_>,
        items: Items<'_>,
        files: &dyn Files,
        report: &mut Report,
    ) {
        rules::report_relations(file, root, items, files, report);
    }

    fn new_suite(&self, name: &str, tests: &[NewTest<'_>]) -> Result<Vec<NewFile>, String> {
        new_suite::new_suite(name, tests)
    }

    fn propose(&self, attempts: &[&Evidence]) -> Vec<Proposal> {
        propose::propose(attempts)
    }

    fn lower(&self, file: SpecFile, document: &Document, files: &dyn Files, _: &Settings) -> Box<dyn Lower> {
        Box::new(lower::RootContext::of(file, document, files))
    }
}

impl Lower for lower::RootContext {
    fn suite(&self, _: SpecFile, document: &Document, _: &dyn Files, settings: &Settings) -> Suite {
        lower::lower_root(document, settings)
    }

    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case> {
        lower::lower_item(item, at, self, files)
    }
}
