//! Suppresses a kind of problem: at one place, in a file, or in a workspace.

use speclens_schema::{
    directive::{Allowance, allowances},
    document::{Document, NodeRef, ScalarRules, Shape, Style},
    fixing,
    problem::{Code, Edit},
};

/// Returns the edits that allow a code on the line of an offset: in a comment after it, else on the line above. `None`
/// if no comment is possible there, as within a multi-line text.
pub(crate) fn here(document: &Document, code: Code, at: usize) -> Option<Vec<Edit>> {
    let text = document.text();
    let number = text.byte_to_line(at.min(text.len_bytes()));
    let start = text.line_to_byte(number);
    let whole = String::from(text.line(number));
    let line = whole.trim_end_matches(['\r', '\n']);
    let end = start + line.len();
    let allowances = allowances(document);
    let own =
        allowances.iter().find(|allowance| allowance.covers.contains(&start) && !is_for_file(document, allowance));
    if let Some(own) = own {
        return extended(own, code).map(|edit| vec![edit]);
    }
    let is_comment = |(at, _): (usize, &str)| {
        !is_within_scalar(document, start + at) && (at == 0 || line[..at].ends_with([' ', '\t']))
    };
    if !is_within_scalar(document, end) && !line.match_indices('#').any(is_comment) {
        return Some(vec![Edit::new(end..end, format!(" # speclens: allow({})", code.as_str()))]);
    }
    // Above the first entry it would apply to the whole file.
    if start <= first_entry(document)? || is_within_scalar(document, start) {
        return None;
    }
    let indent = &line[..line.len() - line.trim_start().len()];
    let comment = format!("{indent}# speclens: allow({}){}", code.as_str(), line_break(&String::from(text.line(0))));
    Some(vec![Edit::new(start..start, comment)])
}

pub(crate) fn in_file(document: &Document, code: Code) -> Option<Vec<Edit>> {
    if let Some(own) = allowances(document).iter().find(|allowance| is_for_file(document, allowance)) {
        return extended(own, code).map(|edit| vec![edit]);
    }
    let text = document.text();
    let first_line = String::from(text.line(0));
    let line = text.line_to_byte(text.byte_to_line(first_entry(document)?));
    let at = if line == 0 && first_line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { line };
    Some(vec![Edit::new(at..at, format!("# speclens: allow({}){}", code.as_str(), line_break(&first_line)))])
}

/// Returns the edit of `speclens.yaml` that switches a code off; `None` if its text is not a settings file to add to.
pub(crate) fn in_settings(text: &str, code: Code) -> Option<Edit> {
    let document = Document::read(text, ScalarRules::Yaml12);
    let (code, line_break) = (code.as_str(), line_break(text));
    let severity = document.root().and_then(|root| root.entry("severity"));
    let edit = match severity {
        None => {
            let end = text.len();
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { line_break };
            Edit::new(end..end, format!("{gap}severity:{line_break}  {code}: off{line_break}"))
        }
        Some(severity) => match (severity.value.entry(code), severity.value.entries().next()) {
            (Some(level), _) => Edit::new(level.value.own_range(), "off"),
            (None, Some(first)) => {
                let at = first.key.own_range().start;
                let before = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
                let is_block = before.bytes().all(|byte| byte == b' ');
                let behind = if is_block { format!("{line_break}{before}") } else { ", ".to_owned() };
                Edit::new(at..at, format!("{code}: off{behind}"))
            }
            (None, None) if severity.value.shape() == Shape::Mapping => {
                let at = severity.value.own_range().start + 1;
                Edit::new(at..at, format!("{code}: off"))
            }
            (None, None) => {
                let key = severity.key.own_range().end;
                let end = text[key..].find(['\r', '\n']).map_or(text.len(), |at| key + at);
                Edit::new(end..end, format!("{line_break}  {code}: off"))
            }
        },
    };
    let after = fixing::replaced(text, std::slice::from_ref(&edit));
    let after = Document::read(&after, ScalarRules::Yaml12);
    let is_off = after.is_intact() && after.root()?.get("severity")?.get(code)?.text() == Some("off");
    is_off.then_some(edit)
}

fn is_for_file(document: &Document, allowance: &Allowance) -> bool {
    allowance.covers == (0..document.text().len_bytes() + 1)
}

fn extended(allowance: &Allowance, code: Code) -> Option<Edit> {
    let (_, last) = allowance.codes.last()?;
    Some(Edit::new(last.end..last.end, format!(", {}", code.as_str())))
}

fn first_entry(document: &Document) -> Option<usize> {
    let root = document.root()?;
    let key = root.entries().next().map(|entry| entry.key);
    Some(key.or_else(|| root.items().next())?.range().start)
}

fn is_within_scalar(document: &Document, at: usize) -> bool {
    let within = |node: NodeRef<'_>| {
        let range = node.own_range();
        // A block text continues to the end of its last line.
        let is_block = matches!(node.style(), Some(Style::Literal | Style::Folded));
        range.start < at && (at < range.end || is_block && at == range.end)
    };
    let scalar = |at: usize| document.find(&document.pointer_at(at)).filter(|node| node.shape() == Shape::Scalar);
    [at, at.saturating_sub(1)].into_iter().filter_map(scalar).any(within)
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{
        directive::allowances,
        document::{Document, ScalarRules},
        fixing::replaced,
        problem::Code,
    };

    use super::{here, in_file, in_settings};

    #[test]
    fn comment_never_becomes_part_of_a_block_text() {
        for mark in [">-", "|", "|+"] {
            let text = format!("kindlm: 1\ntests:\n- name: a\n  command: {mark}\n    one\n    {{{{two}}}}'\n");
            check_here(&text, "{{two}}", None);
            check_here(&format!("{text}  skip: true\n"), "{{two}}", None);
        }
    }

    #[track_caller]
    fn check_here(text: &str, word: &str, expected: Option<&str>) {
        for line_break in ["\n", "\r\n"] {
            let text = text.replace('\n', line_break);
            let document = Document::read(&text, ScalarRules::Yaml12);
            let at = text.find(word).unwrap();
            let after = here(&document, Code::Unused, at).map(|edits| replaced(&text, &edits));
            assert_eq!(after, expected.map(|expected| expected.replace('\n', line_break)));
            let Some(after) = after else { continue };
            // It covers the place, and only comments were added to the text.
            let new = Document::read(&after, ScalarRules::Yaml12);
            let place = after.find(word).unwrap();
            let covers = allowances(&new).into_iter().any(|allowance| {
                allowance.covers.contains(&place) && allowance.codes.iter().any(|(code, _)| code == "unused")
            });
            assert!(covers, "{after}");
            assert_eq!(new.root().unwrap().to_value().ok(), document.root().unwrap().to_value().ok());
        }
    }

    #[test]
    fn code_is_allowed_after_the_line_or_above_it() {
        check_here("a: 1\nb: 2\n", "b", Some("a: 1\nb: 2 # speclens: allow(unused)\n"));
        check_here("a: 1\nb: 2", "a", Some("a: 1 # speclens: allow(unused)\nb: 2"));
        check_here("x:\n- a: '#1'\n- b\n", "a", Some("x:\n- a: '#1' # speclens: allow(unused)\n- b\n"));
        check_here("x:\n  - a: 1 # why\n", "a: 1", Some("x:\n  # speclens: allow(unused)\n  - a: 1 # why\n"));
        check_here("x: 1\na: |\n  y # z\n", "a: |", Some("x: 1\n# speclens: allow(unused)\na: |\n  y # z\n"));
        check_here("x: 1\na: y\n  z\n", "a: y", Some("x: 1\n# speclens: allow(unused)\na: y\n  z\n"));
        check_here("a: |\n  y\n  z\n", "y", None);
        check_here("a: 1 # why\n", "a", None);
        check_here(
            "x: 1\n# speclens: allow(no-claims)\na: 1\n",
            "a: 1",
            Some("x: 1\n# speclens: allow(no-claims, unused)\na: 1\n"),
        );
        check_here(
            "x: 1\na: 1 # speclens: allow(no-claims)\n",
            "a: 1",
            Some("x: 1\na: 1 # speclens: allow(no-claims, unused)\n"),
        );
        check_here(
            "# speclens: allow(no-claims)\na: 1\n",
            "a: 1",
            Some("# speclens: allow(no-claims)\na: 1 # speclens: allow(unused)\n"),
        );
    }

    #[test]
    fn code_is_allowed_above_the_first_entry_for_the_file() {
        for (text, expected) in [
            ("a: 1\n", "# speclens: allow(unused)\na: 1\n"),
            ("# about\n\n- a\n", "# about\n\n# speclens: allow(unused)\n- a\n"),
            ("---\r\na: 1\r\n", "---\r\n# speclens: allow(unused)\r\na: 1\r\n"),
            ("# speclens: allow(no-claims)\na: 1\n", "# speclens: allow(no-claims, unused)\na: 1\n"),
            ("\u{feff}a: 1\n", "\u{feff}# speclens: allow(unused)\na: 1\n"),
        ] {
            let document = Document::read(text, ScalarRules::Yaml12);
            assert_eq!(in_file(&document, Code::Unused).map(|edits| replaced(text, &edits)).as_deref(), Some(expected));
        }
    }

    #[test]
    fn code_is_switched_off_in_settings_and_the_rest_stays() {
        for (text, expected) in [
            ("", "severity:\n  unused: off\n"),
            ("# ours\nlimits: {concurrency: 2}", "# ours\nlimits: {concurrency: 2}\nseverity:\n  unused: off\n"),
            (
                "severity:\n    no-claims: off # why\nlimits: {}\n",
                "severity:\n    unused: off\n    no-claims: off # why\nlimits: {}\n",
            ),
            ("severity: {no-claims: off}\n", "severity: {unused: off, no-claims: off}\n"),
            ("severity: {}\n", "severity: {unused: off}\n"),
            ("severity: # none\nlimits: {}\n", "severity: # none\n  unused: off\nlimits: {}\n"),
            ("severity:\r\n  unused: error\r\n", "severity:\r\n  unused: off\r\n"),
        ] {
            let edit = in_settings(text, Code::Unused).unwrap();
            assert_eq!(replaced(text, &[edit]), expected);
        }
        for text in ["- a\n", "severity: 3\n", "{limits: {}}\n", "a: [\n"] {
            assert_eq!(in_settings(text, Code::Unused), None, "{text}");
        }
    }
}
