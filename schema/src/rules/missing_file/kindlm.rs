//! Files of KindLM that are not there: scripts that commands run, and JSON Schemas.

use crate::{
    dialect::kindlm::schema_files::{SchemaFile, State},
    files::{FileKind, Files, Lead},
    finding::{Finding, Report, Rule, Site, Words},
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    shape::scalar,
    spot::Spot,
    words::nearest_file,
};

/// The script that a command begins with is not there.
#[derive(Debug)]
struct MissingScript {
    word: String,
    /// The word with the name of the script that is most likely meant.
    near: Option<String>,
}

/// A JSON Schema file that cannot be read.
#[derive(Debug)]
struct MissingSchema {
    path: String,
    why: Why,
}

#[derive(Debug)]
enum Why {
    NotAFile,
    Unreadable(String),
    /// There is nothing.
    Absent {
        /// The path of the file that is most likely meant.
        near: Option<String>,
        /// The directory of the suite.
        root: String,
        creation: Option<Fix>,
    },
}

/// The script that a command begins with.
/// Only a path that begins with `./` is looked for: any other word may be found on the `PATH`, and what comes later in
/// the command may be made by it.
pub(crate) fn check_command(test: &Spot<'_>, files: &dyn Files, report: &mut Report) {
    let Some(command) = test.get("command") else { return };
    let Some(word) = command.text().and_then(|text| text.split_whitespace().next()) else { return };
    let Some(path) = word.strip_prefix("./").filter(|path| !path.is_empty() && is_plain(path)) else { return };
    if path.split('/').any(|step| step == "..") || files.named(path) != Lead::Nothing {
        return;
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let names: Vec<String> =
        files.list(directory).into_iter().filter(|(_, kind)| *kind == FileKind::File).map(|(name, _)| name).collect();
    let near = nearest_file(name, names.iter().map(String::as_str));
    let near = near.map(|near| format!("{}{near}", word.strip_suffix(name).unwrap_or_default()));
    let rule = MissingScript { word: word.to_owned(), near };
    report.push(Finding::new(rule, command.at.clone(), command.part(word, 0)));
}

/// Whether a path needs no quotes in a command.
fn is_plain(path: &str) -> bool {
    path.chars().all(|letter| letter.is_alphanumeric() || "._/-".contains(letter))
}

/// The files that a test names.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], files: &dyn Files, report: &mut Report) {
    for file in schemas {
        let why = match &file.state {
            State::NotAFile => Why::NotAFile,
            State::Unreadable(reason) => Why::Unreadable(reason.clone()),
            State::Missing { normal, near } => Why::Absent {
                near: near.clone(),
                root: files.root().display().to_string(),
                creation: new_file::creation(normal, Template::JsonSchema, files),
            },
            State::Unnamed | State::Escape(_) | State::Unread | State::Invalid(_) | State::Valid { .. } => continue,
        };
        report.push(file.spot.finding(MissingSchema { path: file.path.to_owned(), why }));
    }
}

impl Rule for MissingScript {
    const CODE: Code = Code::MissingFile;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("`{}` does not exist", self.word))
            .note("the command fails with exit status 127 unless an earlier test creates the file");
        let Some(near) = &self.near else { return words };
        let help = format!("change it to `{near}`");
        let spot = site.spot().filter(|_| is_plain(near));
        let edits = spot.and_then(|spot| spot.with_part(site.range, &self.word, near.as_str()));
        words.remedy(help, Fix::guess, edits)
    }
}

impl Rule for MissingSchema {
    const CODE: Code = Code::MissingFile;

    fn words(&self, site: &Site<'_>) -> Words {
        let path = &self.path;
        match &self.why {
            Why::NotAFile => Words::new(format!("`{path}` is not a file")).help("name a JSON Schema file"),
            Why::Unreadable(reason) => Words::new(format!("`{path}` cannot be read: {reason}")),
            Why::Absent { near: Some(near), creation, .. } => {
                let help = format!("change it to `{near}`");
                let edits = site.replaced(scalar(near));
                Words::new(format!("`{path}` does not exist"))
                    .fix(edits.map(|edits| Fix::guess(&help, edits)))
                    .fix(creation.clone())
                    .help(help)
            }
            Why::Absent { near: None, root, creation } => {
                Words::new(format!("`{path}` does not exist in `{root}`")).fix(creation.clone())
            }
        }
    }
}
