//! Placeholders that are not filled: names without a value, and braces that are missing.

use super::{Placeholder, trimmed_placeholders};
use crate::{
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    words::nearest,
};

/// A placeholder with a name that is none of these. `note`: what happens because of it.
pub(crate) fn unknown(spot: &Spot<'_>, placeholder: &Placeholder<'_>, names: &[&str], note: &str) -> Problem {
    let (range, what) = (spot.part(placeholder.text, 0), placeholder.text);
    let near = nearest(placeholder.name, names.iter().copied());
    let help = match near {
        Some(near) => format!("change it to `{{{{{near}}}}}`"),
        None => {
            let names: Vec<String> = names.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
            let one_of = if names.len() > 1 { "one of " } else { "" };
            format!("use {one_of}{}", names.join(", "))
        }
    };
    let problem =
        Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), format!("unknown variable `{what}`"));
    let mut problem = problem.with_note(note).with_help(&help);
    let edits = near.and_then(|near| spot.with_part(&range, what, format!("{{{{{near}}}}}")));
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problem
}

/// `{today}` where `{{today}}` is meant.
pub(crate) fn half_written(spot: &Spot<'_>, text: &str, names: &[&str], problems: &mut Vec<Problem>) {
    let mut rest = text.to_owned();
    for found in trimmed_placeholders(text) {
        rest.replace_range(found.at..found.at + found.text.len(), &" ".repeat(found.text.len()));
    }
    for name in names {
        for (at, _) in rest.match_indices(name) {
            let before = rest[..at].len() - rest[..at].trim_end_matches(['{', '$']).len();
            let behind = rest[at + name.len()..].len() - rest[at + name.len()..].trim_start_matches('}').len();
            if before == 0 || behind == 0 || !rest[at - before..at].contains('{') {
                continue;
            }
            let written = &text[at - before..at + name.len() + behind];
            let range = spot.part(written, 0);
            let real = format!("{{{{{name}}}}}");
            let message = format!("`{written}` is not filled in: the text stays as it is written");
            let help = format!("write `{real}`");
            let mut problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message)
                .with_severity(Severity::Warning)
                .with_help(&help);
            let edits = spot.with_part(&range, written, real);
            problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
            problems.push(problem);
        }
    }
}
