//! The settings in force for a suite: the nearest `speclens.yaml` from its directory up to the top of its workspace.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use speclens_runner::{
    files::{Declared, DiskFiles},
    model::EntryFault,
};
use speclens_schema::{
    document::{Document, NodeRef, Pointer, ScalarRules},
    faults,
    files::inside,
    json_schema::SpecFile,
    mask::{self, Secrets},
    problem::{Code, Edit, Fix, Problem, Severity},
    settings::{GatewaySettings, Provider, Settings},
    suite::{Redactions, Suite},
    validate,
    words::{is_surely, nearest},
};

use crate::read::read_text;

pub(crate) const SETTINGS_FILE: &str = "speclens.yaml";

const MISNAMED_FILE: &str = "speclens.yml";

/// Whether a file with this name decides which settings are in force.
pub(crate) fn is_about_settings(name: &str) -> bool {
    [SETTINGS_FILE, MISNAMED_FILE].contains(&name)
}

/// The settings that are in force for a suite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    /// The settings; defaults if there is no file, and for each invalid section.
    pub settings: Arc<Settings>,
    pub file: Option<Arc<SettingsFile>>,
    /// The topmost directory of the workspace; empty for a text that is in no directory.
    pub top: PathBuf,
}

#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    pub path: PathBuf,
    pub document: Document,
    pub problems: Vec<Problem>,
}

/// The directories whose settings apply to a suite: from its own up to the top of its workspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reach {
    own: PathBuf,
    top: PathBuf,
}

impl Reach {
    /// The reach from a directory of a suite with this root. The workspace is its repository; without one, the outermost of the
    /// folders (those open in the editor, or named on the command line) and of the suite's root.
    pub(crate) fn of(own: PathBuf, root: &Path, folders: &[PathBuf]) -> Reach {
        let is_repository = |directory: &&Path| {
            let git = directory.join(".git");
            git.exists() && is_of_user(&git, &own)
        };
        let repository = own.ancestors().find(is_repository);
        let folders = folders.iter().map(PathBuf::as_path).chain([root]);
        let outermost =
            || folders.filter(|folder| own.starts_with(folder)).min_by_key(|folder| folder.components().count());
        let top = repository.or_else(outermost).unwrap_or(&own).to_owned();
        Reach { own, top }
    }

    pub(crate) fn folder(folder: PathBuf) -> Reach {
        Reach { top: folder.clone(), own: folder }
    }

    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    pub(crate) fn is_in(&self, directory: &Path) -> bool {
        self.own.starts_with(directory)
    }
}

pub(crate) fn settings_for(reach: &Reach) -> Workspace {
    settings_over(reach, |_| None)
}

/// Finds the settings in force. The text that `held` returns for a path takes precedence over the file on the disk.
pub(crate) fn settings_over(reach: &Reach, held: impl Fn(&Path) -> Option<String>) -> Workspace {
    Workspace { top: reach.top.clone(), ..nearest_settings(reach, held) }
}

fn nearest_settings(reach: &Reach, held: impl Fn(&Path) -> Option<String>) -> Workspace {
    let exists = |file: &Path| match fs::symlink_metadata(file) {
        Ok(_) => true,
        // A path that cannot be accessed may exist.
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    };
    for directory in reach.own.ancestors().take_while(|directory| directory.starts_with(&reach.top)) {
        let [path, misnamed] = [SETTINGS_FILE, MISNAMED_FILE].map(|name| directory.join(name));
        let text = held(&path);
        if text.is_some() || exists(&path) {
            let (text, unreadable) = match text {
                _ if !is_of_user(&path, &reach.own) => (String::new(), Some(of_another_user())),
                Some(text) => (text, None),
                None => read_text(&path),
            };
            let mut workspace = read(path, &text, unreadable);
            if let Some(file) = workspace.file.as_mut().filter(|_| exists(&misnamed)) {
                Arc::make_mut(file).problems.insert(0, misnamed_beside());
            }
            return workspace;
        }
        if exists(&misnamed) {
            return read(misnamed, "", Some(misnamed_instead()));
        }
    }
    Workspace::default()
}

/// Returns whether a file belongs to the user, to the system, or to the owner of the directory in which commands run:
/// a file of anyone else must not decide what runs.
#[cfg(unix)]
fn is_of_user(path: &Path, directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|metadata| metadata.uid());
    let trusted = [Some(0), Some(rustix::process::geteuid().as_raw()), owner(fs::metadata(directory))];
    // An owner that cannot be determined belongs to a file that does not exist or cannot be read.
    let is_trusted = |owner: Option<u32>| owner.is_none() || trusted.contains(&owner);
    is_trusted(owner(fs::symlink_metadata(path))) && is_trusted(owner(fs::metadata(path)))
}

#[cfg(not(unix))]
fn is_of_user(_: &Path, _: &Path) -> bool {
    true
}

fn of_another_user() -> Problem {
    Problem::new(Code::InvalidSetting, Pointer::root(), 0..0, "this file belongs to another user")
        .with_note("settings decide what a run does, and where keys are sent")
        .with_help("remove it, or make it yours with `chown`")
        .with_severity(Severity::Error)
}

/// Returns the problems of an open settings file that depend on other files: a misnamed one next to it, and missing ones
/// that it names.
pub(crate) fn problems_beside(path: &Path, document: &Document) -> Vec<Problem> {
    let misnamed = path.with_file_name(MISNAMED_FILE).symlink_metadata().is_ok().then(misnamed_beside);
    misnamed.into_iter().chain(missing_files(path, document)).collect()
}

fn missing_files(path: &Path, document: &Document) -> Vec<Problem> {
    let inputs = document.root().and_then(|root| root.get("inputs"));
    let inputs = inputs.into_iter().flat_map(|list| list.items()).enumerate();
    let missing = inputs.filter_map(|(index, item)| {
        let name = item.text().filter(|name| !name.is_empty() && !name.contains(['*', '?', '[', '{']))?;
        let problem = missing_file(path, Pointer::root().key("inputs").index(index), item, name)?;
        Some(problem.with_note("nothing is compared with it when a recording is used again"))
    });
    missing.chain(missing_gateway(path, document)).collect()
}

/// Returns the problem of a scripted gateway that does not exist. Only runs of ClawSpec scenarios need it.
fn missing_gateway(path: &Path, document: &Document) -> Option<Problem> {
    let at = Pointer::root().key(GatewaySettings::KEY).key("gateway");
    let gateway = document.find(&at)?;
    let name = gateway.as_str().filter(|name| !name.is_empty())?;
    let problem = missing_file(path, at, gateway, name)?;
    Some(problem.with_note("scenarios cannot run without this scripted gateway"))
}

fn missing_file(path: &Path, at: Pointer, node: NodeRef<'_>, name: &str) -> Option<Problem> {
    // Nothing outside of the directory is looked at while a file is edited.
    let inside = inside(name)?;
    let is_missing =
        fs::metadata(path.with_file_name(inside)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_missing.then(|| {
        Problem::new(Code::MissingFile, at, node.range(), format!("`{name}` does not exist"))
            .with_help("create it, or change the path")
            .with_severity(Severity::Warning)
    })
}

fn misnamed_beside() -> Problem {
    Problem::new(
        Code::InvalidSetting,
        Pointer::root(),
        0..0,
        format!("`{MISNAMED_FILE}` in the same directory is not read"),
    )
    .with_help("move its settings to this file, and remove it")
    .with_severity(Severity::Error)
}

fn misnamed_instead() -> Problem {
    Problem::new(Code::InvalidSetting, Pointer::root(), 0..0, format!("`{MISNAMED_FILE}` is not read"))
        .with_note(format!("settings are read from `{SETTINGS_FILE}`"))
        .with_help(format!("rename it to `{SETTINGS_FILE}`"))
        .with_severity(Severity::Error)
}

/// Reads settings. An invalid section gets its defaults. `unreadable`: the problem if the file was not read.
fn read(path: PathBuf, text: &str, unreadable: Option<Problem>) -> Workspace {
    let document = Document::read(text, ScalarRules::Yaml12);
    let (settings, problems) = match unreadable {
        Some(problem) => (Settings::default(), vec![problem]),
        None => {
            let missing = missing_files(&path, &document);
            (settings_of(&document), problems(&document).into_iter().chain(missing).collect())
        }
    };
    let settings = Settings { directory: path.parent().map(Path::to_owned), ..settings };
    let file = SettingsFile { path, document, problems };
    Workspace { settings: Arc::new(settings), file: Some(Arc::new(file)), ..Workspace::default() }
}

fn settings_of(document: &Document) -> Settings {
    let value = document.root().and_then(|root| root.to_value().ok());
    let Some(Value::Object(sections)) = value else { return Settings::default() };
    // Each section separately: a mistake in one does not switch off the others.
    let valid = |(section, value): (String, Value)| Some((section.clone(), without_mistakes(&section, value)?));
    serde_json::from_value(sections.into_iter().filter_map(valid).collect()).unwrap_or_default()
}

/// Returns the valid part of a section: a mistake in one entry must not switch off the masking that another asks
/// for.
fn without_mistakes(section: &str, value: Value) -> Option<Value> {
    let is_right = |value: &Value| serde_json::from_value::<Settings>(json!({ section: value })).is_ok();
    if is_right(&value) {
        return Some(value);
    }
    let Value::Object(entries) = value else { return None };
    let right = entries.into_iter().filter(|(key, value)| is_right(&json!({ key.as_str(): value })));
    // An unknown section remains invalid even if it is empty.
    Some(Value::Object(right.collect())).filter(is_right)
}

pub(crate) fn problems(document: &Document) -> Vec<Problem> {
    let mut problems = faults::problems(document);
    problems.extend(validate::validate(document, SpecFile::SETTINGS));
    let codes = document.root().and_then(|root| root.get("severity"));
    for entry in codes.into_iter().flat_map(|codes| codes.entries()) {
        let word = entry.key.key_text();
        let at = Pointer::root().key("severity").key(&word);
        let problem = |message| Problem::new(Code::InvalidSetting, at.clone(), entry.key.range(), message);
        let mut fix = None;
        let mut problem = match Code::parse(&word) {
            Some(code) if code.is_always_an_error() => problem(format!("the severity of `{word}` cannot be changed"))
                .with_note("speclens cannot check text that it cannot read")
                .with_help("remove it"),
            Some(_) => continue,
            None => {
                let words = || Code::ALL.iter().map(|code| code.as_str());
                let near = nearest(&word, words());
                fix = near.filter(|near| codes.is_some_and(|codes| codes.entry(near).is_none())).map(|near| {
                    let edits = vec![Edit::new(entry.key.own_range(), near)];
                    let title = format!("rename it to `{near}`");
                    if is_surely(&word, near, words()) { Fix::safe(title, edits) } else { Fix::guess(title, edits) }
                });
                let help = near.map_or_else(
                    || "use one of the codes that `speclens explain` lists".to_owned(),
                    |near| format!("rename it to `{near}`"),
                );
                problem(format!("unknown code `{word}`")).with_help(help)
            }
        };
        // The schema has already reported it.
        problems.retain(|problem| problem.at != at);
        problem.fixes.extend(fix.filter(|_| !entry.key.is_through_alias()));
        problems.push(problem);
    }
    problems.extend(unread_patterns(document));
    problems.extend(unreachable_providers(document));
    problems.extend(inputs_outside(document));
    // Values to mask would be written unmasked, and failures would pass.
    for problem in problems.iter_mut().filter(|problem| problem.severity == Severity::Warning) {
        problem.severity = Severity::Error;
    }
    problems.sort_by_key(|problem| problem.range.start);
    problems
}

/// Returns the problems of providers whose models cannot be called.
fn unreachable_providers(document: &Document) -> Vec<Problem> {
    let providers = document.root().and_then(|root| root.get("providers"));
    let faulty = providers.into_iter().flat_map(|providers| providers.entries()).filter_map(|entry| {
        // The schema reports an invalid provider.
        let provider: Provider = serde_json::from_value(entry.value.to_value().ok()?).ok()?;
        let name = entry.key.key_text();
        let fault = EntryFault::of(&name, &provider)?;
        let at = Pointer::root().key("providers").key(&name);
        let (at, place) = match entry.value.get("base_url") {
            Some(address) => (at.key("base_url"), address),
            None => (at, entry.key),
        };
        Some(Problem::new(Code::InvalidSetting, at, place.range(), fault.to_string()).with_help(fault.help()))
    });
    faulty.collect()
}

fn unread_patterns(document: &Document) -> Vec<Problem> {
    let list = document.root().and_then(|root| root.get("recordings")?.get("redact_patterns"));
    let items = list.into_iter().flat_map(|list| list.items()).enumerate();
    items
        .filter_map(|(index, item)| {
            let error = mask::pattern(item.text()?).err()?;
            let at = Pointer::root().key("recordings").key("redact_patterns").index(index);
            let message = format!("this pattern cannot be used for masking: {}", error.reason);
            let problem = Problem::new(Code::InvalidPattern, at, item.range(), message)
                .with_note("this pattern masks nothing")
                .with_help(error.help);
            Some(problem.with_severity(Severity::Error))
        })
        .collect()
}

fn inputs_outside(document: &Document) -> Vec<Problem> {
    let list = document.root().and_then(|root| root.get("inputs"));
    let items = list.into_iter().flat_map(|list| list.items()).enumerate();
    items
        .filter_map(|(index, item)| {
            let text = item.text().filter(|text| !text.is_empty() && Declared::pattern(text).is_none())?;
            let at = Pointer::root().key("inputs").index(index);
            let message = format!("`{text}` is outside the directory of `{SETTINGS_FILE}`");
            Some(
                Problem::new(Code::InvalidSetting, at, item.range(), message)
                    .with_note("files outside it cannot be inputs")
                    .with_help("write a path inside that directory")
                    .with_severity(Severity::Error),
            )
        })
        .collect()
}

impl Workspace {
    pub(crate) fn files(&self, directory: &Path, place: &str) -> DiskFiles {
        let files = DiskFiles::new(directory, place).in_workspace(&self.top);
        files.declare(self.declared());
        files
    }

    pub(crate) fn declared(&self) -> Option<Declared> {
        let directory = self.settings.directory.as_deref()?;
        let mut entries = self.settings.inputs.clone();
        // It decides the result of a run, like a declared input.
        entries.extend(self.settings.gateway.gateway.as_ref().map(|script| script.0.clone()));
        (!entries.is_empty()).then(|| Declared::new(directory, &entries))
    }

    /// Returns the settings file if it has errors: then nothing runs.
    pub(crate) fn wrong(&self) -> Option<&Arc<SettingsFile>> {
        self.file.as_ref().filter(|file| file.problems.iter().any(|problem| problem.severity == Severity::Error))
    }

    /// Returns the values to mask: variables whose names look secret, and those that the settings name, including keys
    /// of providers.
    pub(crate) fn secrets(&self) -> Secrets {
        self.secrets_with(Redactions::default())
    }

    /// Returns the values to mask in everything that belongs to a suite, which may name more.
    pub(crate) fn secrets_of(&self, suite: &Suite) -> Secrets {
        self.secrets_with(suite.redactions())
    }

    fn secrets_with(&self, more: Redactions) -> Secrets {
        let variables: Vec<(String, String)> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let recordings = &self.settings.recordings;
        let variables = variables.iter().chain(&more.variables).map(|(name, value)| (name.as_str(), value.as_str()));
        let keys = self.settings.providers.values().filter_map(|provider| provider.key_env.as_deref());
        let named = recordings.redact_env.iter().chain(&more.env).map(String::as_str).chain(keys);
        let named: Vec<String> = named.map(str::to_owned).collect();
        let patterns = [recordings.redact_patterns.as_slice(), &more.patterns].concat();
        Secrets::new(variables, &named, &patterns)
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{
        problem::{Problem, Severity},
        settings::{Level, Settings},
    };

    fn read(text: &str) -> (Settings, Vec<Problem>) {
        let workspace = super::read("speclens.yaml".into(), text, None);
        let problems = workspace.file.map(|file| file.problems.clone()).unwrap_or_default();
        (Settings::clone(&workspace.settings), problems)
    }

    #[test]
    fn a_mistake_leaves_the_other_settings_in_force() {
        let (settings, problems) = read(
            "severity: {unused: off, no-claims: loud}\nlimitz: {}\nlimits: {output_mib: 0, concurrency: 2}\nrecordings: {redact_env: [A]}\n",
        );
        assert_eq!(settings.severity.get("unused"), Some(&Level::Off));
        assert_eq!(settings.severity.len(), 1);
        assert_eq!(settings.recordings.redact_env, ["A"]);
        assert!(problems.len() >= 3, "{problems:#?}");
    }

    #[test]
    fn setting_that_masks_nothing_is_an_error() {
        for text in ["redact_patterns: ['sk-[']", "redact_patterns: ['sk-(?=a)[a-z]+']", "redact_pattern: [a]"] {
            let (_, problems) = read(&format!("recordings: {{{text}}}\n"));
            let severities: Vec<_> = problems.iter().map(|problem| problem.severity).collect();
            assert_eq!(severities, [Severity::Error], "{problems:#?}");
        }
        assert!(read("recordings: {redact_patterns: ['sk-[a-z]+']}\n").1.is_empty());
    }

    #[test]
    fn provider_that_cannot_be_asked_is_an_error_at_its_address() {
        for (entry, place, message) in [
            ("{key_env: KEY}", "local", "missing `base_url`, because no built-in provider has this name"),
            (
                "{base_url: ftp://host/v1}",
                "ftp://host/v1",
                "the value of `base_url` does not begin with `https://` or `http://`",
            ),
            (
                "{base_url: \"https://me:secret@host\"}",
                "\"https://me:secret@host\"",
                "the value of `base_url` contains a password",
            ),
            (
                "{base_url: http://host/v1, key_env: KEY}",
                "http://host/v1",
                "the key would be sent over `http://`, which does not encrypt it",
            ),
        ] {
            for text in
                [format!("providers:\n  local: {entry}\n"), format!("providers:\r\n  local:\r\n    {entry}\r\n")]
            {
                let (_, problems) = read(&text);
                let found: Vec<_> = problems
                    .iter()
                    .map(|problem| (&text[problem.range.clone()], problem.message.as_str(), problem.severity))
                    .collect();
                assert_eq!(found, [(place, message, Severity::Error)]);
            }
        }
        assert!(read("providers: {openai: {key_env: KEY}, l: {base_url: 'http://localhost:1/v1'}}\n").1.is_empty());
    }

    #[test]
    fn a_mistake_does_not_undo_its_neighbors() {
        let text = "recordings: {redact_env: [CUSTOMER], enabled: maybe}\nlimits: 3\nnothing: {}\nthresholds: {pass_rate: 0.5}\n";
        let (settings, problems) = read(text);
        assert_eq!(settings.recordings.redact_env, ["CUSTOMER"]);
        assert!(settings.recordings.enabled);
        assert_eq!(settings.thresholds.pass_rate, Some(0.5));
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
