//! Scripts that commands run: one that is not there fails the test, whatever it claims.

use crate::{
    files::{FileKind, Files, Lead},
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    words::nearest_file,
};

/// Says that the script that a command begins with does not exist. Only a path that begins with `./` is looked for: any other
/// word may be found on the `PATH`, and what comes later in the command may be made by it.
pub(super) fn lint(test: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(command) = test.get("command") else { return };
    let Some(word) = command.text().and_then(|text| text.split_whitespace().next()) else { return };
    let is_plain = |letter: char| letter.is_alphanumeric() || "._/-".contains(letter);
    let Some(path) = word.strip_prefix("./").filter(|path| !path.is_empty() && path.chars().all(is_plain)) else {
        return;
    };
    if path.split('/').any(|step| step == "..") || files.named(path) != Lead::Nothing {
        return;
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let names: Vec<String> =
        files.list(directory).into_iter().filter(|(_, kind)| *kind == FileKind::File).map(|(name, _)| name).collect();
    let range = command.part(word, 0);
    let mut problem =
        Problem::new(Code::MissingFile, command.at.clone(), range.clone(), format!("`{word}` does not exist"))
            .with_severity(Severity::Warning)
            .with_note("the shell ends the command with exit status 127, unless an earlier test creates the file");
    if let Some(near) = nearest_file(name, names.iter().map(String::as_str)) {
        let near = format!("{}{near}", word.strip_suffix(name).unwrap_or_default());
        let help = format!("change it to `{near}`");
        problem = problem.with_help(&help);
        let edits = command.with_part(&range, word, near.as_str()).filter(|_| near.chars().all(is_plain));
        problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    }
    problems.push(problem);
}
