pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;
pub(crate) mod script;

use std::rc::Rc;

use crate::{
    finding::{Rule, Site, Words},
    problem::{Code, Edit, Fix, Severity},
    shape::scalar,
    validate::rename_title,
};

page! {
    /// A name that the file does not define. In ClawSpec files, also the name of an agent that looks like a typo for an
    /// agent of the workspace (a directory with `SOUL.md`). Other unknown agents are not reported, because they may be
    /// defined elsewhere.
    "unknown-reference", Error
}

/// An undefined name.
#[derive(Debug)]
pub(crate) struct Unknown {
    message: String,
    severity: Severity,
    /// Consequence, or where the name was looked up.
    note: Option<String>,
    /// Whether the name is a key.
    is_key: bool,
    /// Most similar name.
    near: Option<String>,
    otherwise: Otherwise,
}

/// Note or help if no name is similar.
#[derive(Debug)]
enum Otherwise {
    Nothing,
    Note(Rc<str>),
    Help(String),
    /// A note, and the only available name.
    Only(Rc<str>, String),
}

impl Unknown {
    pub(crate) fn new(message: String, near: Option<&str>) -> Unknown {
        let near = near.map(str::to_owned);
        Unknown { message, severity: Severity::Warning, note: None, is_key: false, near, otherwise: Otherwise::Nothing }
    }

    pub(crate) fn severity(self, severity: Severity) -> Unknown {
        Unknown { severity, ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Unknown {
        Unknown { note: Some(note.into()), ..self }
    }

    /// Marks the name as a key.
    pub(crate) fn key(self) -> Unknown {
        Unknown { is_key: true, ..self }
    }

    /// Sets the note if no name is similar, such as a list of the available names.
    pub(crate) fn or_note(self, note: impl Into<Rc<str>>) -> Unknown {
        Unknown { otherwise: Otherwise::Note(note.into()), ..self }
    }

    /// Sets the help if no name is similar.
    pub(crate) fn or_help(self, help: String) -> Unknown {
        Unknown { otherwise: Otherwise::Help(help), ..self }
    }

    /// Sets the note if no name is similar, and the only available name.
    pub(crate) fn or_only(self, note: Rc<str>, name: &str) -> Unknown {
        Unknown { otherwise: Otherwise::Only(note, name.to_owned()), ..self }
    }

    /// Returns the help to change the name, and its edits.
    fn change(&self, site: &Site<'_>, name: &str) -> (String, Option<Vec<Edit>>) {
        match self.is_key {
            true => (rename_title(name), site.lint_node().and_then(|lint_node| lint_node.renamed(name))),
            false => (format!("change it to `{name}`"), site.replaced(scalar(name))),
        }
    }
}

impl Rule for Unknown {
    const CODE: Code = Code::UnknownReference;

    fn severity(&self) -> Severity {
        self.severity
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let words = self.note.iter().fold(Words::new(&self.message), Words::note);
        if let Some(near) = &self.near {
            let (help, edits) = self.change(site, near);
            return words.remedy(help, Fix::guess, edits);
        }
        match &self.otherwise {
            Otherwise::Nothing => words,
            Otherwise::Note(note) => words.note(note),
            Otherwise::Help(help) => words.help(help),
            Otherwise::Only(note, name) => {
                let (title, edits) = self.change(site, name);
                words.note(note).fix(edits.map(|edits| Fix::suggestion(title, edits)))
            }
        }
    }
}
