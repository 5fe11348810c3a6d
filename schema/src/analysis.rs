//! Document → problems and suite, block by block: what did not change is not looked at again.

use crate::{dialect::Dialect, document::Document, files::Files, problem::Problem, settings::Settings, suite::Suite};

/// What is known about a document.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Everything that is wrong, in the order of the text, severities as the settings say.
    pub problems: Vec<Problem>,
    /// What can be run.
    pub suite: Suite,
}

/// Analyses a document again and again; keeps what each block gave.
#[derive(Debug)]
pub struct Analyzer {
    dialect: Dialect,
}

impl Analyzer {
    /// An analyzer that has seen nothing.
    pub fn new(dialect: Dialect) -> Analyzer {
        Analyzer { dialect }
    }

    /// Analyses the document as it stands.
    pub fn analyze(&mut self, document: &Document, _files: &dyn Files, settings: &Settings) -> Analysis {
        let mut problems = document.problems();
        problems.retain_mut(|problem| match settings.severity_of(problem.code, problem.severity) {
            Some(severity) => {
                problem.severity = severity;
                true
            }
            None => false,
        });
        let gates = match self.dialect {
            Dialect::KindLm => crate::dialect::Gates::KindLm(crate::dialect::kindlm::Gates::default()),
        };
        let suite = Suite { dialect: self.dialect, name: None, cases: Vec::new(), gates, concurrency: 4 };
        Analysis { problems, suite }
    }
}
