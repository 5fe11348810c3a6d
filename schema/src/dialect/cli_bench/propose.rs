//! Assertions that hold in recorded attempts: which commands ran, how the last one ended, which files were written.

use serde_json::json;

use crate::{
    evidence::{Change, Evidence, Ran},
    proposal::Proposal,
    write::{common_lines, is_stable},
};

const ASSERT: &[&str] = &["assert"];

/// Maximum number of lines of an output or a file to propose.
const MAX_LINES: usize = 2;

pub(super) fn propose(attempts: &[&Evidence]) -> Vec<Proposal> {
    let logs: Option<Vec<&Vec<Ran>>> = attempts.iter().map(|it| Some(&it.commands.as_ref()?.commands)).collect();
    let Some((first, logs)) = logs.and_then(|logs| Some((*logs.first()?, logs))) else { return Vec::new() };
    let mut found = Vec::new();
    let lasts: Vec<&Ran> = logs.iter().filter_map(|log| log.last()).collect();
    if let Some(code) = lasts.first().and_then(|last| last.exit?.code) {
        found.push(json!({ "exit_code": code }));
    }
    let written = |ran: &Ran| ran.stdout.as_ref().map_or("", |stdout| &stdout.text).trim().to_owned();
    let outputs: Vec<String> = lasts.iter().map(|ran| written(ran)).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    found.extend(common_lines(&outputs, MAX_LINES).into_iter().map(|line| json!({ "output_contains": line })));
    for ran in first.iter().filter(|ran| is_stable(&ran.command.text)) {
        let pattern = pattern_of(ran.command.text.trim());
        let count = |log: &&Vec<Ran>| log.iter().filter(|it| it.command.text.trim() == ran.command.text.trim()).count();
        let counts: Vec<usize> = logs.iter().map(count).collect();
        let (least, most) = (counts.iter().min().copied().unwrap_or(1), counts.iter().max().copied().unwrap_or(1));
        found.push(json!({ "ran": pattern }));
        found.push(json!({ "run_count": { "pattern": pattern, "min": least, "max": most } }));
    }
    let most = logs.iter().map(|log| log.len()).max().unwrap_or_default();
    found.push(json!({ "run_count": { "pattern": ".", "max": most } }));
    for file in attempts[0].files.iter().flat_map(|log| &log.files) {
        if file.change == Change::Removed || !is_stable(&file.path) {
            continue;
        }
        let of = |attempt: &&Evidence| {
            let mut files = attempt.files.iter().flat_map(|log| &log.files);
            let same = files.rfind(|it| it.path == file.path && it.change != Change::Removed)?;
            Some(same.text.as_ref().map(|text| text.text.clone()).unwrap_or_default())
        };
        let Some(texts) = attempts.iter().map(of).collect::<Option<Vec<String>>>() else { continue };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        found.push(json!({ "file_exists": file.path }));
        let lines = common_lines(&texts, MAX_LINES).into_iter();
        found.extend(lines.map(|line| json!({ "file_contains": { "path": file.path, "text": line } })));
    }
    Proposal::items(ASSERT, found)
}

/// Returns a pattern that matches exactly this command.
fn pattern_of(command: &str) -> String {
    let mut pattern = "^".to_owned();
    for letter in command.chars() {
        if r"\.+*?()|[]{}^$/".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "$"
}
