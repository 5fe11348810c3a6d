//! The settings in force for a suite: the nearest `speclens.yaml` from its directory upwards.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use speclens_schema::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    json_schema::SpecFile,
    mask::{self, Secrets},
    problem::{Code, Edit, Fix, Problem, Severity},
    settings::Settings,
    validate,
    words::{is_surely, nearest},
};

/// The name of the file with a workspace's settings.
pub const SETTINGS_FILE: &str = "speclens.yaml";

/// The settings that hold in a directory.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The settings; the defaults where there is no file, or where it is wrong.
    pub settings: Arc<Settings>,
    /// The file they come from.
    pub file: Option<PathBuf>,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
}

/// Looks for the settings that hold in a directory.
pub fn settings_for(directory: &Path) -> Workspace {
    settings_over(directory, |_| None)
}

/// Looks for the settings that hold in a directory. What `held` returns for a path counts before the file on the disk.
pub fn settings_over(directory: &Path, held: impl Fn(&Path) -> Option<String>) -> Workspace {
    for ancestor in directory.ancestors() {
        let file = ancestor.join(SETTINGS_FILE);
        let text = match held(&file).map_or_else(|| std::fs::read_to_string(&file), Ok) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                let message = format!("{} cannot be read, so the defaults apply: {error}", file.display());
                let problem = Problem::new(Code::InvalidSetting, Default::default(), 0..0, message);
                return Workspace { file: Some(file), problems: vec![problem], ..Workspace::default() };
            }
        };
        let (settings, problems) = read(&text);
        return Workspace { settings: Arc::new(settings), file: Some(file), problems };
    }
    Workspace::default()
}

/// Reads settings. A section that is wrong has its defaults; what is wrong is told.
pub fn read(text: &str) -> (Settings, Vec<Problem>) {
    let document = Document::read(text, ScalarRules::Yaml12);
    let problems = problems(&document);
    let Some(mut value) = document.root().and_then(|root| root.to_value().ok()) else {
        return (Settings::default(), problems);
    };
    // Each section on its own: a mistake in one does not switch off the others.
    let mut whole = serde_json::to_value(Settings::default()).unwrap_or_default();
    if let (Some(found), Some(whole)) = (value.as_object_mut(), whole.as_object_mut()) {
        for (section, value) in std::mem::take(found) {
            if let Some(value) = without_mistakes(&section, value) {
                whole.insert(section, value);
            }
        }
    }
    (serde_json::from_value(whole).unwrap_or_default(), problems)
}

/// A section as far as it is right: a mistake in one entry must not switch off the masking that another asks
/// for.
fn without_mistakes(section: &str, value: Value) -> Option<Value> {
    let is_right = |value: &Value| serde_json::from_value::<Settings>(json!({ section: value })).is_ok();
    if is_right(&value) {
        return Some(value);
    }
    let Value::Object(entries) = value else { return None };
    let right = entries.into_iter().filter(|(key, value)| is_right(&json!({ key.as_str(): value })));
    // A section that does not exist stays wrong however little it holds.
    Some(Value::Object(right.collect())).filter(is_right)
}

/// What is wrong with a file of settings.
pub fn problems(document: &Document) -> Vec<Problem> {
    let mut problems = document.problems();
    problems.extend(validate::validate(document, SpecFile::Settings));
    let codes = document.root().and_then(|root| root.get("severity"));
    for entry in codes.into_iter().flat_map(|codes| codes.entries()) {
        let word = entry.key.key_text();
        let at = Pointer::root().key("severity").key(&word);
        let problem = |message| Problem::new(Code::InvalidSetting, at.clone(), entry.key.range(), message);
        let mut fix = None;
        let mut problem = match Code::parse(&word) {
            Some(code) if code.is_always_an_error() => {
                problem(format!("`{word}` is always an error")).with_note("text that cannot be read cannot be checked")
            }
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
        // The schema has reported it in other words.
        problems.retain(|problem| problem.at != at);
        problem.fixes.extend(fix.filter(|_| !entry.key.is_through_alias()));
        problems.push(problem);
    }
    problems.extend(unread_patterns(document));
    // What was meant to be masked would be written down.
    let recordings = Pointer::root().key("recordings");
    for problem in problems.iter_mut().filter(|problem| problem.at.parent().as_ref() == Some(&recordings)) {
        problem.severity = Severity::Error;
    }
    problems.sort_by_key(|problem| problem.range.start);
    problems
}

/// Patterns that would mask nothing.
fn unread_patterns(document: &Document) -> Vec<Problem> {
    let list = document.root().and_then(|root| root.get("recordings")?.get("redact_patterns"));
    let items = list.into_iter().flat_map(|list| list.items()).enumerate();
    items
        .filter_map(|(index, item)| {
            let reason = mask::pattern(item.text()?).err()?;
            let at = Pointer::root().key("recordings").key("redact_patterns").index(index);
            let message = format!(
                "this masks nothing, so that what it should hide would be written down: {reason}; look-around and \
                 back-references are not known here"
            );
            Some(Problem::new(Code::InvalidPattern, at, item.range(), message).with_severity(Severity::Error))
        })
        .collect()
}

impl Workspace {
    /// What must be masked: variables whose names look secret, and what the settings name.
    pub fn secrets(&self) -> Secrets {
        let variables: Vec<(String, String)> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let recordings = &self.settings.recordings;
        let variables = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Secrets::new(variables, &recordings.redact_env, &recordings.redact_patterns)
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{problem::Severity, settings::Level};

    use super::read;

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
    fn what_would_not_be_masked_is_an_error() {
        for text in ["redact_patterns: ['sk-[']", "redact_patterns: ['sk-(?=a)[a-z]+']", "redact_pattern: [a]"] {
            let (_, problems) = read(&format!("recordings: {{{text}}}\n"));
            let told: Vec<_> = problems.iter().map(|problem| problem.severity).collect();
            assert_eq!(told, [Severity::Error], "{problems:#?}");
        }
        assert!(read("recordings: {redact_patterns: ['sk-[a-z]+']}\n").1.is_empty());
    }

    #[test]
    fn a_mistake_does_not_undo_its_neighbours() {
        let text = "recordings: {redact_env: [CUSTOMER], enabled: maybe}\nlimits: 3\nnothing: {}\nthresholds: {pass_rate: 0.5}\n";
        let (settings, problems) = read(text);
        assert_eq!(settings.recordings.redact_env, ["CUSTOMER"]);
        assert!(settings.recordings.enabled);
        assert_eq!(settings.thresholds.pass_rate, Some(0.5));
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
