//! Reads a text as it was meant: typos of single lines are corrected first.
//!
//! A tab in the indentation, a no-break space, a dash without its space: each leaves a text whose lines seem to belong
//! elsewhere, with errors at lines that are fine. So such lines are rewritten first, as long as the parser gets
//! further. The rest is read in pieces ([`recover`]); if all its faults have a rewrite, the text is read as rewritten.
//! Otherwise a line near the error may lack its dash: the change of one line that makes the text readable is what was
//! meant.

use std::ops::Range;

use super::{
    draft::Draft,
    events::SyntaxError,
    fault::{Fault, FaultKind, Rewrite},
    layout::line_at,
    loose::parse,
    recover::{Recovered, recover},
    tree::{Node, NodeKind},
    typo::{self, TabRun},
};
use crate::ScalarRules;

/// Maximum number of bytes that are parsed to find the meaning of one block.
const MAX_PARSED_BYTES: usize = 256 * 1024;

/// Maximum number of lines above the one where the parser stopped that are searched for the typo.
const MAX_LINES_ABOVE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Any node.
    Any,
    Mapping,
    /// A list.
    Sequence,
}

impl Root {
    fn fits(self, node: Option<&Node>) -> bool {
        match (self, node.map(|node| &node.kind)) {
            (Root::Any, _) | (Root::Mapping, Some(NodeKind::Mapping(_))) => true,
            (Root::Sequence, Some(NodeKind::Sequence(_))) => true,
            (Root::Mapping | Root::Sequence, _) => false,
        }
    }
}

/// Reads a text with a known `error`.
pub(super) fn read(text: &str, root: Root, rules: ScalarRules, error: &SyntaxError) -> Recovered {
    if error.is_too_deep() {
        return recover(text, rules, error);
    }
    let mut mending = Mending { text, root, rules, budget: MAX_PARSED_BYTES };
    let mut faults = Vec::new();
    let mut attempt = Attempt { stop: Some(line_at(text, error.offset).start), root: None, error: Some(error.clone()) };
    while let Some((typos, better)) = attempt.stop.and_then(|stop| mending.without_typos(&faults, stop)) {
        faults.extend(typos);
        attempt = better;
    }
    let Some(error) = attempt.error else {
        return Recovered { root: attempt.root, faults };
    };
    let draft = mending.draft(&faults);
    let rest = recover(&draft.text, rules, &error);
    let mut rest = mending.as_meant(&draft.text, rest, &error);
    rest.root = rest.root.map(|root| draft.written_node(root));
    faults.extend(rest.faults.into_iter().map(|fault| draft.written_fault(fault)));
    Recovered { faults, ..rest }
}

/// Returns the typos of single lines in a text that is readable, but not with the required root; `None` if no such typo
/// is the cause.
pub(super) fn reread(text: &str, root: Root, rules: ScalarRules, at: usize) -> Option<Recovered> {
    let mut mending = Mending { text, root, rules, budget: MAX_PARSED_BYTES };
    let (faults, attempt) = mending.without_typos(&[], line_at(text, at).start)?;
    let is_read = attempt.stop.is_none();
    is_read.then_some(Recovered { root: attempt.root, faults })
}

struct Mending<'t> {
    text: &'t str,
    root: Root,
    rules: ScalarRules,
    budget: usize,
}

/// A reading of a text with some of its lines rewritten.
struct Attempt {
    /// The start of the line where it failed, in the text as written.
    stop: Option<usize>,
    root: Option<Node>,
    error: Option<SyntaxError>,
}

impl Attempt {
    fn reach(&self) -> usize {
        self.stop.unwrap_or(usize::MAX)
    }
}

impl<'t> Mending<'t> {
    fn draft(&self, faults: &[Fault]) -> Draft<'t> {
        Draft::of(self.text, rewrites(faults))
    }

    /// Parses a text; `None` if too much was parsed already.
    fn parse(&mut self, text: &str) -> Option<Result<Option<Node>, SyntaxError>> {
        self.budget = self.budget.checked_sub(text.len())?;
        Some(parse(text, self.rules).map(|parsed| parsed.root))
    }

    fn attempt(&mut self, faults: &[Fault]) -> Option<Attempt> {
        let draft = self.draft(faults);
        Some(match self.parse(&draft.text)? {
            Ok(root) => {
                let begin = root.as_ref().map_or(0, |root| root.range().start);
                let fits = self.root.fits(root.as_ref());
                let stop = (!fits).then(|| line_at(self.text, draft.written(begin)).start);
                Attempt { stop, root: root.map(|root| draft.written_node(root)), error: None }
            }
            Err(error) => {
                let stop = line_at(self.text, draft.written(error.offset)).start;
                Attempt { stop: Some(stop), root: None, error: Some(error) }
            }
        })
    }

    /// Corrects the typos of a line at or above the one where reading stopped, if it then gets further.
    fn without_typos(&mut self, known: &[Fault], stop: usize) -> Option<(Vec<Fault>, Attempt)> {
        let is_known = |line: &Range<usize>| known.iter().any(|fault| line.contains(&fault.range.start));
        // The parser may stop at the end of the last line that it accepts.
        let stopped = line_at(self.text, stop);
        let mut line = typo::below(self.text, &stopped).unwrap_or(stopped);
        for _ in 0..MAX_LINES_ABOVE {
            let found = if is_known(&line) {
                None
            } else if let Some(run) = TabRun::around(self.text, &line) {
                self.without_tabs(known, stop, &run)
            } else {
                let typos = typo::of_line(self.text, &line);
                if typos.is_empty() { None } else { self.better(known, stop, typos) }
            };
            if found.is_some() {
                return found;
            }
            line = line_at(self.text, line.start.checked_sub(1)?);
        }
        None
    }

    fn better(&mut self, known: &[Fault], stop: usize, typos: Vec<Fault>) -> Option<(Vec<Fault>, Attempt)> {
        let all: Vec<Fault> = known.iter().chain(&typos).cloned().collect();
        self.attempt(&all).filter(|attempt| attempt.reach() > stop).map(|attempt| (typos, attempt))
    }

    /// Indents lines with spaces: to the only possible column, or the most likely one.
    fn without_tabs(&mut self, known: &[Fault], stop: usize, run: &TabRun) -> Option<(Vec<Fault>, Attempt)> {
        let mut best: Option<(Vec<Fault>, Attempt, (usize, usize))> = None;
        let mut rivals = 0;
        for faults in run.readings(self.text) {
            let Some((faults, attempt)) = self.better(known, stop.min(run.start()), faults) else { continue };
            let odd = attempt.root.as_ref().map_or(0, typo::oddities);
            // The further the better, and the fewer oddities.
            let worth = (attempt.reach(), usize::MAX - odd);
            match &best {
                Some((_, _, known)) if *known > worth => {}
                Some((_, _, known)) if *known == worth => rivals += 1,
                Some(_) | None => {
                    best = Some((faults, attempt, worth));
                    rivals = 0;
                }
            }
        }
        let (mut faults, attempt, _) = best.filter(|(_, attempt, _)| attempt.reach() > stop)?;
        let is_certain = rivals == 0 && attempt.reach() > run.end();
        for rewrite in faults.iter_mut().filter_map(|fault| fault.rewrite.as_mut()) {
            rewrite.is_certain = is_certain;
        }
        Some((faults, attempt))
    }

    /// Reads a damaged text with its rewrites, or with the change of one line that makes it readable.
    fn as_meant(&mut self, text: &str, recovered: Recovered, error: &SyntaxError) -> Recovered {
        let faults = &recovered.faults;
        let is_rewritable = !faults.is_empty() && faults.iter().all(|fault| fault.rewrite.is_some());
        let rewritten = is_rewritable.then(|| self.rewritten(text, faults)).flatten();
        let is_certain = faults.iter().flat_map(|fault| &fault.rewrite).all(|rewrite| rewrite.is_certain);
        match rewritten {
            Some(root) if is_certain || faults.iter().all(|it| it.kind == FaultKind::TrailingComma) => {
                Recovered { root, ..recovered }
            }
            // A single word is a key that is being typed: it does not continue the text above it.
            None if matches!(faults.as_slice(), [fault] if typo::is_bare(text, fault.range.start)) => {
                self.as_item(text, recovered)
            }
            rewritten => match (self.one_line(text, error.offset), rewritten) {
                (Some((root, fault)), _) => Recovered { root, faults: vec![fault] },
                (None, Some(root)) => Recovered { root, ..recovered },
                (None, None) => recovered,
            },
        }
    }

    /// Reads a single word as an item that lacks its dash, if it is between other items.
    fn as_item(&mut self, text: &str, recovered: Recovered) -> Recovered {
        let line = recovered.faults.first().map(|fault| line_at(text, fault.range.start));
        let fault = line.and_then(|line| typo::bare_item(text, &line));
        match fault.and_then(|fault| Some((self.rewritten(text, std::slice::from_ref(&fault))?, fault))) {
            Some((root, fault)) => Recovered { root, faults: vec![fault] },
            None => recovered,
        }
    }

    fn rewritten(&mut self, text: &str, faults: &[Fault]) -> Option<Option<Node>> {
        let draft = Draft::of(text, rewrites(faults));
        let root = self.parse(&draft.text)?.ok()?;
        self.root.fits(root.as_ref()).then(|| root.map(|root| draft.written_node(root)))
    }

    /// Returns the fault in one line that makes a text unreadable, with the meaning of the corrected text.
    fn one_line(&mut self, text: &str, stop: usize) -> Option<(Option<Node>, Fault)> {
        let mut best: Option<(Option<Node>, Fault, (usize, usize))> = None;
        let mut rivals = 0;
        for (fault, cost) in typo::readings_near(text, stop) {
            let Some(root) = self.rewritten(text, std::slice::from_ref(&fault)) else { continue };
            let cost = (root.as_ref().map_or(0, typo::oddities), cost);
            rivals += 1;
            if best.as_ref().is_none_or(|(_, _, known)| cost < *known) {
                best = Some((root, fault, cost));
            }
        }
        let (root, mut fault, _) = best?;
        if let Some(rewrite) = fault.rewrite.as_mut() {
            rewrite.is_certain &= rivals == 1;
        }
        Some((root, fault))
    }
}

fn rewrites(faults: &[Fault]) -> impl Iterator<Item = &Rewrite> {
    faults.iter().filter_map(|fault| fault.rewrite.as_deref())
}
