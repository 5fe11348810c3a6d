//! KindLM: `kindlm.yaml`.
//!
//! The file is defined in [`config`], from the whole to its parts; [`expect`] contains the expectations.

pub mod baselines;
pub(crate) mod claims;
pub mod config;
mod conversation;
pub(crate) mod expect;
pub(crate) mod facts;
mod gates;
mod kinds;
mod lower;
mod new_suite;
mod prompt;
mod propose;
pub(crate) mod protocol;
pub mod providers;
pub mod redteam;
pub(crate) mod rules;
pub mod template;
pub(crate) mod test;
pub mod trace;

use crate::{
    document::{Document, NodeRef, Pointer, Scalar, ScalarRules},
    evidence::{Capture, Evidence, MaskingLoss, ToolCall},
    files::Files,
    finding::Report,
    format::{EffectiveDefault, Format, Lower, NewTest, Starter, Traced},
    json_schema::SpecFile,
    pattern::{Invalid, LetterCase, Limit, PatternUse},
    problem::{NewFile, Problem, Severity},
    proposal::Proposal,
    relations::{Facts, Items},
    settings::Settings,
    suite::{ActionKind, Case, Suite},
    template::TemplateSyntax,
    validate::Definition,
};

pub use gates::Gates;

pub(crate) struct KindLm;

impl Format for KindLm {
    fn name(&self) -> &'static str {
        "kindlm"
    }

    fn program(&self) -> &'static str {
        "KindLM"
    }

    fn name_key(&self) -> &'static str {
        "name"
    }

    fn starter(&self) -> Option<Starter> {
        const FILES: &[(&str, &str)] = &[
            ("kindlm.yaml", include_str!("kindlm/starter/kindlm.yaml")),
            ("speclens.yaml", include_str!("kindlm/starter/speclens.yaml")),
            ("small.script.yaml", include_str!("kindlm/starter/small.script.yaml")),
        ];
        Some(Starter { docs: "`kindlm.yaml`", files: FILES })
    }

    fn known_models(&self) -> &'static [(&'static str, &'static [&'static str])] {
        providers::MODELS
    }

    fn chooses_models(&self) -> bool {
        true
    }

    fn templates(&self) -> &'static [&'static TemplateSyntax] {
        &[&template::VARS, &template::BODY]
    }

    fn scalar_rules(&self) -> ScalarRules {
        ScalarRules::Yaml12
    }

    fn keeps_background(&self) -> bool {
        true
    }

    fn traced(&self) -> Traced {
        Traced::All
    }

    fn in_force(
        &self,
        _: SpecFile,
        document: &Document,
        at: &Pointer,
        key: &str,
        _: &dyn Files,
    ) -> Option<EffectiveDefault> {
        const DEFAULTS: &str = "defaults";
        if at.steps().next().is_some_and(|step| step == DEFAULTS) {
            return None;
        }
        let value = document.root()?.get(DEFAULTS)?.get(key)?.text()?.to_owned();
        Some(EffectiveDefault { value, source: Some(format!("`{DEFAULTS}` in this file")) })
    }

    fn is_skipped(&self, case: NodeRef<'_>) -> bool {
        case.get("skip").and_then(NodeRef::scalar) == Some(Scalar::Bool(true))
    }

    fn act_of(&self, case: NodeRef<'_>) -> ActionKind {
        let is_prompt = case.get("prompt").is_some() && case.get("command").is_none();
        if is_prompt { ActionKind::Prompt } else { ActionKind::Command }
    }

    fn pattern_use(&self, searches: &str) -> PatternUse {
        match searches {
            "spans" => PatternUse {
                invalid: Invalid::Unusable(Severity::Warning, Some("KindLM ignores the filter, so every span counts")),
                ..PatternUse::PLAIN
            },
            _ => PatternUse {
                case: LetterCase::Ignored,
                unsupported: Some("the result of the expectation is unknown"),
                empty: Some("a match without a character does not count"),
                limit: Limit::NotNested("the expectation fails"),
                ..PatternUse::PLAIN
            },
        }
    }

    fn report(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files, report: &mut Report) {
        match definition {
            Definition::Root(_) => rules::report_root(node, report),
            Definition::Item(file, list) if file.case_list() == Some(list) => rules::report_test(node, files, report),
            Definition::Item(..) => {}
        }
    }

    fn facts(&self, file: SpecFile, list: &'static str, item: NodeRef<'_>, _: &dyn Files) -> Option<Facts> {
        (file.case_list() == Some(list)).then(|| facts::test_facts(item))
    }

    fn report_relations(&self, _: SpecFile, root: NodeRef<'_>, items: Items<'_>, _: &dyn Files, report: &mut Report) {
        rules::report_relations(root, items, report);
    }

    fn fix_across(&self, root: NodeRef<'_>, problems: &mut [Problem]) {
        rules::fix_across(root, problems);
    }

    fn lower(&self, _: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Box<dyn Lower> {
        Box::new(lower::RootContext::of(document, files, settings))
    }

    fn concealed(&self, written: &Capture, masked: &Capture) -> MaskingLoss {
        protocol::concealed(written, masked)
    }

    fn written(&self, text: &str, calls: &[ToolCall]) -> Option<String> {
        Some(protocol::written(text, calls))
    }

    fn new_suite(&self, name: &str, tests: &[NewTest<'_>]) -> Result<Vec<NewFile>, String> {
        Ok(new_suite::new_suite(name, tests))
    }

    fn propose(&self, attempts: &[&Evidence]) -> Vec<Proposal> {
        propose::propose(attempts)
    }

    fn interpret(&self, evidence: &mut Evidence) {
        evidence.output = match evidence.turns.is_empty() {
            true => evidence.stdout().map(protocol::interpret),
            false => Some(conversation::output(&evidence.turns, evidence.ended)),
        };
    }
}

impl Lower for lower::RootContext {
    fn suite(&self, _: SpecFile, document: &Document, _: &dyn Files, settings: &Settings) -> Suite {
        lower::lower_root(document, self, settings.thresholds.pass_rate)
    }

    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case> {
        vec![lower::lower_test(item, at.clone(), self, files)]
    }
}
