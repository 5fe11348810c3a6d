//! Agents defined by the directories of the workspace.

use speclens_schema::{
    files::Files,
    format::{Directories, Lookup},
    json_schema::SpecFile,
};

use super::markdown;

/// The schema's name for agents.
pub(crate) const KIND: &str = "agents";

/// The hover text for an agent that a directory defines.
pub(crate) const AGENT: &str = "agent of this workspace";

/// Returns the agents that directories define for a kind of file. `None` if its format has none.
pub(crate) fn of(file: SpecFile) -> Option<&'static dyn Directories> {
    file.serves()?.directories(KIND)
}

pub(crate) fn defined_by(name: &str, file: SpecFile, files: &dyn Files) -> Option<String> {
    of(file)?.definition(name, files)
}

/// Returns the reason why an agent cannot be renamed by a change of specs alone.
///
/// The name of its directory is the name of the agent. If only the specs were changed, they would refer to no agent. So
/// the directory is renamed first, and then the references, which are unknown by then.
pub(crate) fn refuse_rename(from: &str, to: &str, file: SpecFile, files: &dyn Files) -> Option<String> {
    let directories = of(file)?;
    let Lookup::Known(file) = directories.look_up(from, files) else { return None };
    if matches!(directories.look_up(to, files), Lookup::Known(_)) {
        return None;
    }
    let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
    Some(format!(
        "`{from}` is named after the directory `{directory}`; rename the directory first, then the agent here"
    ))
}

pub(crate) fn hover(name: &str, file: SpecFile, files: &dyn Files) -> Option<String> {
    const MAX_LINES: usize = 12;
    if name.contains("{{") {
        return None;
    }
    let head = format!("{} · agent", markdown::bold(name.trim()));
    let Some(file) = defined_by(name, file, files) else {
        return Some(format!("{head}; no directory in this workspace defines it"));
    };
    let bytes = files.read(&file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.trim().lines().take(MAX_LINES).collect();
    if text.trim().lines().count() > MAX_LINES {
        lines.push("…");
    }
    let content = if lines.is_empty() {
        String::new()
    } else {
        format!("\n\n{}", markdown::verbatim(&lines.join("\n"), "markdown"))
    };
    Some(format!("{head}, defined by {}{content}", markdown::inline(&file)))
}

/// Returns the possible references to agents of the workspace, best first, with a description.
pub(crate) fn offered(directories: &dyn Directories, as_paths: bool, files: &dyn Files) -> Vec<(String, &'static str)> {
    const MAX_COMPLETIONS: usize = 200;
    let found = directories.all(files).into_iter().map(|(directory, file)| {
        let what = if file.ends_with("SOUL.md") { AGENT } else { "skill of this workspace" };
        (if as_paths { directory } else { directories.name_of(&directory) }, what)
    });
    found.take(MAX_COMPLETIONS).collect()
}
