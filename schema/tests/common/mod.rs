//! Shows problems as a person sees them: the line, carets under the mistake, what else belongs to it.

use speclens_schema::problem::Problem;

/// Returns the problems as text, in the order given.
pub(crate) fn render(text: &str, problems: &[Problem]) -> String {
    let mut out = String::new();
    for problem in problems {
        out.push_str(&format!("{}[{}]: {}\n", problem.severity.as_str(), problem.code.as_str(), problem.message));
        out.push_str(&snippet(text, &problem.range));
        for related in &problem.related {
            let place = related.file.as_ref().map(|file| format!(" (in {})", file.path)).unwrap_or_default();
            out.push_str(&format!("  also: {}{place}\n", related.message));
            let other = related.file.as_ref().map(speclens_schema::problem::OtherFile::text);
            out.push_str(&snippet(other.as_deref().unwrap_or(text), &related.range));
        }
        for (label, part) in [("note", &problem.note), ("help", &problem.help)] {
            if let Some(part) = part {
                out.push_str(&format!("  {label}: {part}\n"));
            }
        }
        for fix in &problem.fixes {
            let kind = match (fix.is_safe(), fix.preferred) {
                (true, _) => "fix",
                (false, true) => "likely fix",
                (false, false) => "possible fix",
            };
            out.push_str(&format!("  {kind}: {}\n", fix.title));
            let mut edits = fix.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
            for edit in edits {
                out.push_str(&format!("    {:?} -> {:?}\n", &text[edit.range], edit.text));
            }
        }
    }
    out
}

/// Returns the first line of a range, with carets under its part of it.
fn snippet(text: &str, range: &std::ops::Range<usize>) -> String {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.start..].find('\n').map_or(text.len(), |at| range.start + at);
    let number = text[..start].matches('\n').count() + 1;
    let line = text[start..end].trim_end_matches('\r');
    let before = text[start..range.start].chars().count();
    let under = text[range.start..range.end.min(end).max(range.start)].chars().count().max(1);
    let more = if range.end > end { "…" } else { "" };
    format!("  {number:>3} | {line}\n      | {}{}{more}\n", " ".repeat(before), "^".repeat(under))
}
