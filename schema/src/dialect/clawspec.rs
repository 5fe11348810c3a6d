//! ClawSpec: scenario, handoff and pipeline contracts of an OpenClaw workspace, its `clawspec.yaml`, its
//! coverage ledger and its baselines.
//!
//! The contracts are defined in [`contracts`]; [`assertion`] lists the assertion types, each of which is one Rust type
//! below [`assertions`].

pub(crate) mod agents;
pub mod assertion;
pub(crate) mod assertions;
pub mod baselines;
pub(crate) mod claim;
pub mod contracts;
pub mod coverage;
pub(crate) mod kinds;
pub(crate) mod likely;
pub(crate) mod lower;
pub(crate) mod new_file;
mod new_suite;
mod propose;
pub mod regression;
pub(crate) mod rules;
pub mod scope;
pub(crate) mod scoped_evidence;
mod signs;
pub mod stages;
pub(crate) mod statements;
pub mod template;
pub mod words;

#[cfg(test)]
mod tests;

use crate::{
    document::{Document, Fault, NodeRef, Pointer, ScalarRules},
    evidence::Evidence,
    files::Files,
    finding::{Finding, Report},
    format::{Directories, EffectiveDefault, Format, Lower, NewTest, Starter, Traced, Unit},
    gateway::{config::Config, trigger::last_reply, workspace},
    json_schema::SpecFile,
    lint_node::LintNode,
    new_file::Template,
    pattern::{Invalid, LetterCase, PatternUse},
    problem::{NewFile, Problem, Severity},
    proposal::Proposal,
    relations::{Facts, Items},
    settings::Settings,
    suite::{ActionKind, Case, Suite},
    template::TemplateSyntax,
    validate::{Context, Definition},
    walk::Value,
};

use rules::{contract, stale_files, unknown_key, unknown_type, yaml};

pub(crate) struct ClawSpec;

impl Format for ClawSpec {
    fn name(&self) -> &'static str {
        "clawspec"
    }

    fn program(&self) -> &'static str {
        "ClawSpec"
    }

    fn name_key(&self) -> &'static str {
        "name"
    }

    fn starter(&self) -> Option<Starter> {
        const FILES: &[(&str, &str)] = &[
            ("clawspec.yaml", include_str!("clawspec/starter/clawspec.yaml")),
            ("speclens.yaml", include_str!("clawspec/starter/speclens.yaml")),
            ("rehearsal.gateway.yaml", include_str!("clawspec/starter/rehearsal.gateway.yaml")),
            ("openclaw-otel.json", include_str!("clawspec/starter/openclaw-otel.json")),
            ("skills/greeter/SKILL.md", include_str!("clawspec/starter/skills/greeter/SKILL.md")),
            (
                "skills/greeter/tests/scenarios.yaml",
                include_str!("clawspec/starter/skills/greeter/tests/scenarios.yaml"),
            ),
        ];
        Some(Starter { docs: "`clawspec.yaml`, a skill with its contract, and a scripted gateway", files: FILES })
    }

    fn fixed_name(&self, kind: &str, name: &str) -> Option<&'static str> {
        let is_refusal = kind == "tags" && name == "negative";
        is_refusal.then_some(
            "ClawSpec requires a tag with the name `negative`, so it cannot be renamed; edit individual tags instead",
        )
    }

    fn new_file(&self, name: &str) -> Option<Template> {
        match name {
            "golden" => Some(new_file::GOLDEN),
            "soul" => Some(new_file::SOUL),
            _ => None,
        }
    }

    fn templates(&self) -> &'static [&'static TemplateSyntax] {
        &[&template::SYNTAX]
    }

    fn scalar_rules(&self) -> ScalarRules {
        ScalarRules::Yaml11
    }

    fn last_reply(&self, evidence: &Evidence) -> Option<String> {
        let answer = evidence.exchange.as_ref().and_then(|exchange| exchange.answer.as_ref());
        evidence.stdout().or(answer).and_then(|answer| last_reply(&answer.text))
    }

    fn unit(&self) -> Unit {
        Unit::Workspace
    }

    fn traced(&self) -> Traced {
        Traced::AboutTraces
    }

    fn in_force(
        &self,
        file: SpecFile,
        _: &Document,
        _: &Pointer,
        key: &str,
        files: &dyn Files,
    ) -> Option<EffectiveDefault> {
        match key {
            _ if !file.has_cases() => None,
            "log_path" => {
                let source = match files.kind(Config::FILE) {
                    Some(_) => format!("`{}`", Config::FILE),
                    None => "the default settings".to_owned(),
                };
                Some(EffectiveDefault { value: self.log(files)?, source: Some(source) })
            }
            "run_id" => Some(EffectiveDefault { value: "{{run_id}}".to_owned(), source: None }),
            _ => None,
        }
    }

    fn directories(&self, kind: &str) -> Option<&'static dyn Directories> {
        (kind == "agents").then_some(&agents::Agents)
    }

    fn log(&self, files: &dyn Files) -> Option<String> {
        Some(workspace::settings(files).log_path())
    }

    fn names_in_log(&self, kind: &str, log: &str) -> Vec<String> {
        likely::names_in_log(kind, log)
    }

    fn likely(&self, file: SpecFile, document: &Document, at: &Pointer, files: &dyn Files) -> Vec<String> {
        if file == SpecFile::CLAWSPEC_SCENARIOS { likely::of_scenarios(document, at, files) } else { Vec::new() }
    }

    fn act_of(&self, _: NodeRef<'_>) -> ActionKind {
        ActionKind::Trigger
    }

    fn explain(&self, context: &Context<'_>, finding: Finding) -> Finding {
        unknown_key::explain(context, finding)
    }

    fn knows(&self, fault: &Fault, document: &Document) -> bool {
        unknown_type::knows(fault, document)
    }

    fn path(&self, path: &str, files: &dyn Files) -> Option<Result<String, &'static str>> {
        workspace::below_root(path).filter(|_| workspace::is_placed(files)).map(Ok)
    }

    fn missing_file(&self) -> Severity {
        Severity::Warning
    }

    fn pattern_use(&self, _: &str) -> PatternUse {
        PatternUse {
            case: LetterCase::IgnoredByFlag,
            invalid: Invalid::Unusable(Severity::Warning, Some("ClawSpec aborts with an error")),
            unsupported: Some("the result of the assertion is unknown"),
            knows_new: true,
            empty: Some("every file contains it"),
            ..PatternUse::PLAIN
        }
    }

    fn report(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files, report: &mut Report) {
        match definition {
            Definition::Root(file) => rules::report_root(file, node, files, report),
            Definition::Item(file, _) if file == SpecFile::CLAWSPEC_SCENARIOS => {
                contract::check_scenario(&LintNode::root(node), files, report);
            }
            Definition::Item(..) => {}
        }
    }

    fn report_value(&self, value: &Value<'_, '_>, report: &mut Report) {
        yaml::check(value, report);
    }

    fn facts(&self, file: SpecFile, _: &'static str, item: NodeRef<'_>, _: &dyn Files) -> Option<Facts> {
        (file == SpecFile::CLAWSPEC_SCENARIOS).then(|| stale_files::facts_of(item))
    }

    fn report_relations(&self, file: SpecFile, _: NodeRef<'_>, items: Items<'_>, _: &dyn Files, report: &mut Report) {
        if file == SpecFile::CLAWSPEC_SCENARIOS {
            stale_files::check(items, report);
        }
    }

    fn fix_across(&self, root: NodeRef<'_>, problems: &mut [Problem]) {
        unknown_key::fix_across(root, problems);
        stale_files::fix_across(root, problems);
    }

    fn new_suite(&self, name: &str, tests: &[NewTest<'_>]) -> Result<Vec<NewFile>, String> {
        Ok(new_suite::new_suite(name, tests))
    }

    fn propose(&self, attempts: &[&Evidence]) -> Vec<Proposal> {
        propose::propose(attempts)
    }

    fn lower(&self, file: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Box<dyn Lower> {
        Box::new(lower::RootContext::of(file, document, files, settings))
    }
}

impl Lower for lower::RootContext {
    fn suite(&self, file: SpecFile, document: &Document, files: &dyn Files, _: &Settings) -> Suite {
        lower::lower_root(file, document, self, files)
    }

    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case> {
        lower::lower_item(item, at, self, files)
    }
}
