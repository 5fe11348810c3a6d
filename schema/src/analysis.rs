//! Document → problems and suite, block by block: what did not change is not looked at again.

use std::{ops::Range, sync::Arc};

use crate::{
    dialect::Dialect,
    document::{Block, Document, NodeRef, Pointer},
    files::Files,
    json_schema::SpecFile,
    problem::Problem,
    settings::Settings,
    suite::Suite,
    validate::{self, Definition, validate_node},
};

/// What is known about a document.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Everything that is wrong, in the order of the text, severities as the settings say.
    pub problems: Vec<Problem>,
    /// What can be run.
    pub suite: Suite,
}

/// Analyses documents of one dialect. What it finds out about a block is kept with the block.
#[derive(Clone, Copy, Debug)]
pub struct Analyzer {
    dialect: Dialect,
    /// Counts the times that files changed: what was found out by looking at them is then void.
    epoch: u64,
}

/// What one block gave: ranges count from the block's first byte, pointers from the item.
struct Findings {
    problems: Vec<Problem>,
}

impl Analyzer {
    /// An analyzer that has seen nothing.
    pub fn new(dialect: Dialect) -> Analyzer {
        Analyzer { dialect, epoch: 0 }
    }

    /// Files changed: what depends on them is to be looked at again.
    pub fn files_changed(&mut self) {
        self.epoch += 1;
    }

    /// Analyses the document as it stands.
    pub fn analyze(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Analysis {
        let problems = self.problems(document, files, settings);
        let suite = self.suite(document, files);
        Analysis { problems, suite }
    }

    /// What is wrong, in the order of the text.
    pub fn problems(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Vec<Problem> {
        let file = SpecFile::of(self.dialect);
        let mut problems = document.problems();
        match document.root() {
            None if document.is_intact() => problems.push(validate::empty(file)),
            None => {}
            Some(root) => self.look(document, root, file, files, &mut problems),
        }
        finish(problems, settings)
    }

    fn look(
        &self,
        document: &Document,
        root: NodeRef<'_>,
        file: SpecFile,
        _files: &dyn Files,
        problems: &mut Vec<Problem>,
    ) {
        problems.extend(validate_node(root, Definition::Root(file)));
        for list in Definition::lists(file) {
            let Some(node) = root.get(list) else { continue };
            for (index, item) in node.items().enumerate() {
                let base = Pointer::root().key(list).index(index);
                let look = || validate_node(item, Definition::Item(file, list));
                match own_block(document, item) {
                    None => problems.extend(look().into_iter().map(|problem| problem.moved(&base, 0))),
                    Some((start, block)) => {
                        let key = self.key(document, block);
                        let found = block.memo(key, || Findings {
                            problems: look().into_iter().map(|problem| relative(problem, start, block)).collect(),
                        });
                        problems.extend(found.problems.iter().map(|problem| problem.clone().moved(&base, start)));
                    }
                }
            }
        }
    }

    fn key(&self, document: &Document, block: &Block) -> u64 {
        let text = if block.has_aliases() { document.fingerprint_of(block) } else { 0 };
        text.wrapping_mul(31).wrapping_add(self.epoch)
    }

    /// What can be run.
    pub fn suite(&self, _document: &Document, _files: &dyn Files) -> Suite {
        let gates = match self.dialect {
            Dialect::KindLm => crate::dialect::Gates::KindLm(crate::dialect::kindlm::Gates::default()),
        };
        Suite { dialect: self.dialect, name: None, cases: Vec::new(), gates, concurrency: 4 }
    }
}

/// The block of an item that is alone in it.
fn own_block<'d>(document: &'d Document, item: NodeRef<'d>) -> Option<(usize, &'d Arc<Block>)> {
    document.block_of(item).filter(|(_, block)| block.item_count() == 1)
}

/// A problem with its ranges counted from the beginning of a block. Places outside of it are left out:
/// they may move on their own.
fn relative(mut problem: Problem, start: usize, block: &Block) -> Problem {
    let shift = |range: &Range<usize>| {
        let inside = range.start >= start && range.end <= start + block.length();
        inside.then(|| range.start - start..range.end - start)
    };
    problem.range = shift(&problem.range).unwrap_or(0..0);
    problem.related.retain_mut(|related| match shift(&related.range) {
        Some(range) => {
            related.range = range;
            true
        }
        None => false,
    });
    problem.fixes.retain_mut(|fix| {
        fix.edits.iter_mut().all(|edit| match shift(&edit.range) {
            Some(range) => {
                edit.range = range;
                true
            }
            None => false,
        })
    });
    problem
}

/// Sorts problems by place and lets the settings decide how bad they are.
fn finish(mut problems: Vec<Problem>, settings: &Settings) -> Vec<Problem> {
    problems.retain_mut(|problem| match settings.severity_of(problem.code, problem.severity) {
        Some(severity) => {
            problem.severity = severity;
            true
        }
        None => false,
    });
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    problems
}
