pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

use crate::{
    dialect::Format,
    files::{FileKind, Files, Lead},
    finding::{Report, Rule, Site, Words},
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    rules::invalid_path,
    shape::scalar,
    walk::Value,
    words::nearest_file,
};

page! {
    /// A file that a spec names does not exist.
    "missing-file", Error
}

/// A path that does not exist.
#[derive(Debug)]
pub(crate) struct Missing {
    /// The path as it is shown.
    pub(crate) path: String,
    pub(crate) severity: Severity,
    /// What is before the path in its text.
    pub(crate) scheme: &'static str,
    /// The path of the nearest file or directory, as the author would write it.
    near: Option<String>,
    /// The directory below which it was looked for, where it does not lead out of it.
    pub(crate) root: Option<String>,
    /// What to know where no other name is near.
    pub(crate) note: Option<&'static str>,
    creation: Option<Fix>,
}

/// A file where a directory should be, or the other way around.
#[derive(Debug)]
pub(crate) struct OtherKind {
    path: String,
    /// What should be there: `JSON Schema file`.
    noun: &'static str,
}

/// Looks at a path that must lead somewhere before a run.
pub(crate) fn check(value: &Value<'_, '_>, kind: &str, format: &dyn Format, files: &dyn Files, report: &mut Report) {
    let Some(first) = value.shape().and_then(|shape| shape.exists_before()) else { return };
    let Some(path) = value.node.as_str().filter(|path| !path.is_empty()) else { return };
    let normal = match format.path(path, files) {
        Some(Ok(normal)) => normal,
        Some(Err(reason)) => return report.push(value.spot().finding(invalid_path::NotPortable::unusable(path, reason))),
        None => return,
    };
    let (wanted, noun) = match kind {
        "directory" => (FileKind::Directory, "directory"),
        _ => (FileKind::File, "file"),
    };
    match files.named(&normal) {
        Lead::Found { kind, .. } if kind != wanted => report.push(value.spot().finding(OtherKind::new(path, noun))),
        Lead::Found { is_far: true, .. } | Lead::Unread => {
            report.push(value.spot().finding(invalid_path::NotPortable::outside(path)));
        }
        Lead::Found { is_far: false, .. } => {}
        Lead::Nothing => {
            let missing = Missing::of(path, &normal, wanted, Template::called(first), files);
            // Where the path is filled, what it leads to says more.
            let path = if path.contains("{{") { normal } else { path.to_owned() };
            report.push(value.spot().finding(Missing { path, severity: format.missing_file(), ..missing }));
        }
    }
}

impl Missing {
    /// Returns a path as it is written, and as it leads from the directory of the suite, at which nothing of a kind is.
    pub(crate) fn of(path: &str, normal: &str, kind: FileKind, first: Option<Template>, files: &dyn Files) -> Missing {
        let (directory, name) = normal.rsplit_once('/').unwrap_or(("", normal));
        let entries = files.list_named(directory);
        let names = entries.iter().filter(|(_, found)| *found == kind).map(|(name, _)| name.as_str());
        let before = path.trim_end_matches('/').strip_suffix(name);
        Missing {
            path: path.to_owned(),
            severity: Severity::Error,
            scheme: "",
            near: before.and_then(|before| Some(format!("{before}{}", nearest_file(name, names)?))),
            root: (!normal.starts_with("../")).then(|| files.root().display().to_string()),
            note: None,
            creation: first.and_then(|first| new_file::creation(normal, first, files)),
        }
    }
}

impl OtherKind {
    pub(crate) fn new(path: &str, noun: &'static str) -> OtherKind {
        OtherKind { path: path.to_owned(), noun }
    }
}

impl Rule for Missing {
    const CODE: Code = Code::MissingFile;

    fn severity(&self) -> Severity {
        self.severity
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let Missing { path, scheme, near, root, note, creation, .. } = self;
        let words = match (near, root) {
            (Some(near), _) => {
                let edits = site.replaced(scalar(&format!("{scheme}{near}")));
                Words::new(format!("`{path}` does not exist")).remedy(format!("change it to `{near}`"), Fix::guess, edits)
            }
            (None, Some(root)) => Words::new(format!("`{path}` does not exist in `{root}`")),
            (None, None) => note.iter().fold(Words::new(format!("`{path}` does not exist")), Words::note),
        };
        words.fix(creation.clone())
    }
}

impl Rule for OtherKind {
    const CODE: Code = Code::MissingFile;

    fn words(&self, _: &Site<'_>) -> Words {
        let OtherKind { path, noun } = self;
        let thing = if *noun == "directory" { "directory" } else { "file" };
        Words::new(format!("`{path}` is not a {thing}")).help(format!("name a {noun}"))
    }
}
