//! Everything in which the formats differ for the rest of the crate: one implementation for each.

use std::{any::Any, fmt::Debug, sync::Arc};

use super::{CaseOutcome, Count, GateReport};
use crate::{
    document::{Document, Fault, NodeRef, Pointer, ScalarRules},
    evidence::{Capture, Concealed, Evidence},
    files::{self, Files},
    finding::{Finding, Report},
    json_schema::SpecFile,
    pattern::{Pattern, PatternUse},
    problem::{Code, Problem, Severity},
    settings::Settings,
    suite::{ActionKind, Case, Subject, Suite},
    validate::{Context, Definition},
};

/// What an item says that matters to others. Only its own format looks into it.
pub type Facts = Arc<dyn Any + Send + Sync>;

/// What files must be together for names in them to be the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each file is alone.
    File,
    /// The files of a suite.
    Suite,
    /// The files of a workspace, whose settings are in the directory of a file or above it.
    Workspace,
}

/// Which assertions a trace can decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// None.
    None,
    /// Those that are about traces.
    AboutTraces,
    /// All: the trace replaces what a case does.
    All,
}

/// What counts where a key is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The value.
    pub value: String,
    /// Where it is from, as the end of a sentence such as "Defaults to `5` from this file".
    pub source: Option<String>,
}

/// A format of test specs.
///
/// What [`Format::report`] and [`Format::facts`] answer depends on the node and on files only, so the answer can be
/// kept; [`Format::report_relations`] is asked again after every edit.
pub trait Format: Sync {
    /// Returns the format's name as reports write it.
    fn name(&self) -> &'static str;

    /// Returns the name of the program that the format comes from, as messages write it.
    fn program(&self) -> &'static str;

    /// Returns the key that names a case.
    fn name_key(&self) -> &'static str;

    /// Returns how plain scalars are read.
    fn scalar_rules(&self) -> ScalarRules;

    /// Whether what a test leaves running in the background serves the tests that follow.
    fn keeps_background(&self) -> bool {
        false
    }

    /// Returns what files must be together for names in them to be the same thing.
    fn unit(&self) -> Unit {
        Unit::File
    }

    /// Returns which assertions a trace can decide.
    fn traced(&self) -> Traced {
        Traced::None
    }

    /// Returns what a case lacks that does nothing, as part of a sentence: "running a test without a command".
    fn without_action(&self) -> &'static str;

    /// Returns what counts where a key of the mapping at a place is not set, if it is not the default that the schema
    /// names.
    fn in_force(
        &self,
        _file: SpecFile,
        _document: &Document,
        _at: &Pointer,
        _key: &str,
        _files: &dyn Files,
    ) -> Option<InForce> {
        None
    }

    /// Whether the author switched a case off.
    fn is_skipped(&self, _case: NodeRef<'_>) -> bool {
        false
    }

    /// Returns what a case does.
    fn act_of(&self, case: NodeRef<'_>) -> ActionKind;

    /// Says of something that the schema finds what the format knows of it.
    fn explain(&self, _context: &Context<'_>, finding: Finding) -> Finding {
        finding
    }

    /// Whether [`Format::report`] says more of a fault of the text.
    fn knows(&self, _fault: &Fault, _document: &Document) -> bool {
        false
    }

    /// Returns where a path leads from the directory of the suite, or what is wrong with it: "is an absolute path". `None`
    /// where that is not known.
    fn path(&self, path: &str, _files: &dyn Files) -> Option<Result<String, &'static str>> {
        Some(files::inside(path).ok_or("is outside the directory of this file"))
    }

    /// Returns how bad it is that a file does not exist before a run.
    fn missing_file(&self) -> Severity {
        Code::MissingFile.severity()
    }

    /// Returns what the format does with the patterns of a field, by what `x-searches` says there.
    fn pattern_use(&self, _searches: &str) -> PatternUse {
        PatternUse::PLAIN
    }

    /// Reports what is wrong with a pattern beyond what is the same for all formats.
    fn report_pattern(&self, _pattern: &Pattern<'_>, _report: &mut Report) {}

    /// Reports what is wrong in a part of a file: the root except for its lists, or one item of them, each looked at
    /// alone. Pointers are relative to the node, ranges as the nodes give them.
    fn report(&self, _node: NodeRef<'_>, _definition: Definition, _files: &dyn Files, _report: &mut Report) {}

    /// Returns what an item of a top-level list says that matters to others.
    fn facts(&self, _file: SpecFile, _list: &'static str, _item: NodeRef<'_>, _files: &dyn Files) -> Option<Facts> {
        None
    }

    /// Reports what is wrong between items and sections. Each item comes with the byte where its node begins; all places are
    /// absolute.
    fn report_relations(
        &self,
        _file: SpecFile,
        _root: NodeRef<'_>,
        _items: &[(usize, &Facts)],
        _files: &dyn Files,
        _report: &mut Report,
    ) {
    }

    /// Adds fixes that need to know the whole file.
    fn fix_across(&self, _root: NodeRef<'_>, _problems: &mut [Problem]) {}

    /// Reads what a case needs to know of the rest of its file.
    fn lower(&self, file: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Box<dyn Lower>;

    /// Returns what of the format's protocol is lost in standard output, as it was written and as it is masked.
    fn concealed(&self, _written: &Capture, _masked: &Capture) -> Concealed {
        Concealed::Nothing
    }

    /// Reads what a run wrote by the format's protocol. Recordings hold only the raw streams, so this is done after a run, and
    /// again whenever a recording is read.
    fn interpret(&self, _evidence: &mut Evidence) {}
}

/// What a case needs to know of the rest of its file, and how cases are made with it. Its debug text tells whether cases that
/// were made with another one are still the same.
pub trait Lower: Debug + Sync {
    /// Everything of a suite but the cases of its list.
    fn suite(&self, file: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Suite;

    /// Returns the cases of an item of the list, which is at a place of the document.
    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case>;
}

/// The conditions that a suite puts on its whole run.
pub trait Gate: Debug + Send + Sync {
    /// Judges a finished run.
    fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport;

    /// Returns whether the gate over the attempts of a subject's model has an answer that no further attempt can change:
    /// `made` counts those that were made, of so many that are planned. `false` where no gate is only about them.
    fn is_decided(&self, _subject: &Subject, _made: Count, _planned: usize) -> bool {
        false
    }

    /// Returns whether such a gate exists.
    fn can_be_decided(&self, _subject: &Subject) -> bool {
        false
    }
}

/// Returns the facts of items, as their format knows them.
pub(crate) fn known<'f, F: 'static>(items: &[(usize, &'f Facts)]) -> Vec<(usize, &'f F)> {
    items.iter().filter_map(|(start, facts)| Some((*start, facts.downcast_ref::<F>()?))).collect()
}
