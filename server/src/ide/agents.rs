//! Agents as the directories of the workspace define them.

use speclens_schema::{
    dialect::clawspec::agents::{self, Standing},
    files::Files,
};

use super::card;

/// What names of agents are called in the schema.
pub(crate) const KIND: &str = "agents";

/// What hover says about an agent that a directory defines.
pub(crate) const AGENT: &str = "agent of this workspace";

/// Returns the file that defines an agent, from the root of the workspace.
pub(crate) fn defined_by(name: &str, files: &dyn Files) -> Option<String> {
    agents::defined_by(name, files)
}

/// Returns why an agent cannot get another name by a change of specs alone.
///
/// Its directory gives it the name. Were only the specs changed, all of them would name no agent: so the directory comes
/// first, and what then names no agent is renamed to what the directory is called now.
pub(crate) fn refuse_rename(from: &str, to: &str, files: &dyn Files) -> Option<String> {
    let Standing::Known(file) = agents::standing(from, files) else { return None };
    if matches!(agents::standing(to, files), Standing::Known(_)) {
        return None;
    }
    let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
    Some(format!(
        "`{from}` is named after the directory `{directory}`: rename the directory first, then the agent here"
    ))
}

/// Returns what is known about an agent, as Markdown.
pub(crate) fn hover(name: &str, files: &dyn Files) -> Option<String> {
    const LINES: usize = 12;
    if name.contains("{{") {
        return None;
    }
    let head = format!("**{}** · agent", name.trim());
    let Some(file) = defined_by(name, files) else {
        return Some(format!("{head}; no directory in this workspace defines it"));
    };
    let bytes = files.read(&file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.trim().lines().take(LINES).collect();
    if text.trim().lines().count() > LINES {
        lines.push("…");
    }
    let content =
        if lines.is_empty() { String::new() } else { format!("\n\n{}", card::verbatim(&lines.join("\n"), "markdown")) };
    Some(format!("{head}, known by {}{content}", card::inline(&file)))
}

/// Returns the names that agents of the workspace can be called by, best first: with what each is.
pub(crate) fn offered(as_paths: bool, files: &dyn Files) -> Vec<(String, &'static str)> {
    /// Maximum number of entries of a list.
    const LIMIT: usize = 200;
    let found = agents::all(files).into_iter().map(|(directory, file)| {
        let what = if file.ends_with("SOUL.md") { AGENT } else { "skill of this workspace" };
        (if as_paths { directory } else { agents::slug(&directory) }, what)
    });
    found.take(LIMIT).collect()
}
