//! `speclens run --recorded --accept`: writes what the recordings show in place of what failing assertions expect.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use speclens_runner::{
    clock::Clock,
    event::{RunResult, SuiteResult},
    files::Buffers,
    report::plain,
    run::{Mode, Options},
};
use speclens_schema::{
    accept::accepted,
    document::{Document, Pointer},
    fixing,
    problem::Edit,
    suite::Case,
    verdict::Status,
    words::plural,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::{
    accept::{Failure, Observed, failures},
    cli::{
        fix,
        load::{self, Loaded},
        output,
    },
};

/// The changed texts of files, and what they leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    files: BTreeMap<PathBuf, Change>,
    values: usize,
    /// The assertions of which attempts observed different values.
    different: Vec<String>,
}

#[derive(Clone, Debug)]
struct Change {
    shown: String,
    before: String,
    after: String,
    /// The difference, secrets masked.
    diff: String,
}

impl Buffers for Accepted {
    fn text(&self, path: &Path) -> Option<String> {
        self.files.get(path).map(|change| change.after.clone())
    }

    fn below(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Accepts what the recordings of the chosen tests show, again and again until nothing more can be accepted. `adjust`
/// applies the options of the command line to a suite that was read again.
pub(super) fn accept(
    suites: &mut [Loaded],
    chosen: &[BTreeSet<usize>],
    actors: &Options,
    (clock, runtime, cancel): (Clock, &Runtime, &CancellationToken),
    adjust: &dyn Fn(&mut Loaded),
) -> Accepted {
    let mut all = Accepted::default();
    for (loaded, cases) in suites.iter_mut().zip(chosen) {
        let options = Options { mode: Mode::Recorded, cases: Some(cases.clone()), ..actors.clone() };
        // An assertion is accepted once: two tests may share it, and expect different values.
        let mut done: HashSet<(PathBuf, Pointer)> = HashSet::new();
        // An earlier suite may share its files.
        all.reread(loaded, adjust);
        while let Ok(prepared) = loaded.prepare(&loaded.report.suite, clock, None) {
            let result = runtime.block_on(prepared.results(options.clone(), cancel.clone()));
            let (edits, different) = edits(loaded, &result, &mut done);
            if edits.is_empty() || cancel.is_cancelled() {
                all.different.extend(different);
                break;
            }
            for (path, (document, edits)) in edits {
                all.values += edits.len();
                all.change(loaded, path, &document, &edits);
            }
            all.reread(loaded, adjust);
        }
    }
    all
}

type Edits = BTreeMap<PathBuf, (Document, Vec<Edit>)>;

/// Returns the edits of one round, by file, and the assertions of which attempts observed different values.
fn edits(loaded: &Loaded, result: &SuiteResult, done: &mut HashSet<(PathBuf, Pointer)>) -> (Edits, Vec<String>) {
    let (mut found, mut different) = (Edits::new(), Vec::new());
    for result in result.cases.iter().filter(|result| result.status != Status::Pass) {
        let Some(case) = loaded.report.suite.cases.get(result.case) else { continue };
        let (path, document) = loaded.file_of(case);
        let begun = result.runs.iter().map(|run| &**run).filter(|run| run.absence.is_none());
        for Failure { at, observed, .. } in failures(case, &begun.collect::<Vec<&RunResult>>()) {
            let value = match observed {
                None => continue,
                Some(Observed::Value(value)) if !done.contains(&(path.clone(), at.clone())) => value,
                Some(Observed::Value(_) | Observed::Different) => {
                    different.push(place(loaded, case, &path, document, &at));
                    continue;
                }
            };
            let Some((_, edits)) = accepted(document, &at, &value.value) else { continue };
            let (_, file) = found.entry(path.clone()).or_insert_with(|| (document.clone(), Vec::new()));
            let touches =
                |one: &Edit| edits.iter().any(|it| one.range.start <= it.range.end && it.range.start <= one.range.end);
            if !file.iter().any(touches) {
                file.extend(edits);
                done.insert((path.clone(), at));
            }
        }
    }
    found.retain(|_, (_, edits)| !edits.is_empty());
    (found, different)
}

fn place(loaded: &Loaded, case: &Case, path: &Path, document: &Document, at: &Pointer) -> String {
    let line = document.text().byte_to_line(document.range_of(at).start) + 1;
    let place = format!("{}:{line}: attempts of `{}`", load::shown(path), case.name);
    loaded.report.source.secrets.mask(&plain::line(&place))
}

impl Accepted {
    fn change(&mut self, loaded: &Loaded, path: PathBuf, document: &Document, edits: &[Edit]) {
        let text = String::from(document.text());
        let after = fixing::replaced(&text, edits);
        let shown = load::shown(&path);
        let before = self.files.remove(&path).map_or(text, |known| known.before);
        let diff = loaded.report.source.secrets.mask(&fixing::unified(&shown, &before, &after));
        self.files.insert(path, Change { shown, before, after, diff });
    }

    /// Reads a suite again if one of the files that changed may be its own.
    fn reread(&self, loaded: &mut Loaded, adjust: &dyn Fn(&mut Loaded)) {
        if !self.files.is_empty() {
            loaded.reread(Arc::new(self.clone()));
            adjust(loaded);
        }
    }

    /// Returns the changes as a unified diff.
    pub(super) fn diff(&self) -> String {
        self.files.values().map(|change| change.diff.as_str()).collect()
    }

    /// Writes the files. Returns whether all of them were written.
    pub(super) fn write(&self) -> bool {
        let mut all = true;
        for (path, Change { shown, before, after, .. }) in &self.files {
            if let Err(error) = fix::rewrite(path, before, after) {
                output::complain(&error.context(format!("`{shown}` was not changed")));
                all = false;
            }
        }
        all
    }

    /// Prints what is not accepted, and how much is.
    pub(super) fn describe(&self, verb: &str) {
        for place in &self.different {
            output::note(&format!("{place} observed different values, so the expected one is kept"));
        }
        let files = plural(self.files.len(), "file");
        output::note(&match self.values {
            0 => "nothing to accept".to_owned(),
            values => format!("{verb} {} in {files}", plural(values, "value")),
        });
    }
}
