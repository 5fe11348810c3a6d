//! The headings of a Markdown text: lines that begin with `#`, and lines that are underlined. Code and comments do not
//! count.

use super::text::case_folded;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub text: String,
    pub level: usize,
    /// The bytes of its lines.
    pub range: std::ops::Range<usize>,
}

impl Heading {
    pub fn is(&self, name: &str) -> bool {
        case_folded(&bare(&self.text)) == case_folded(&bare(name))
    }
}

/// Start and end of HTML whose lines are not Markdown, in lower case. It ends with the line that contains the end.
const RAW_HTML: [(&str, &str); 6] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<?", "?>"),
];

/// Returns whether a line begins with the start of raw HTML. The name of a tag must be complete.
fn starts_with(line: &str, start: &str) -> bool {
    let Some(head) = line.get(..start.len()) else { return false };
    let is_whole = !start.ends_with(|letter: char| letter.is_ascii_alphabetic())
        || line[start.len()..].chars().next().is_none_or(|next| next == '>' || next.is_whitespace());
    head.eq_ignore_ascii_case(start) && is_whole
}

pub fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut html: Option<&str> = None;
    let mut before: Option<(usize, &str)> = None;
    // A byte order mark is not part of the text.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut start = text.len() - body.len();
    // Front matter is not part of the text: its closing line would underline the one above.
    let front = start + front_matter(body);
    for whole in body.split_inclusive('\n') {
        let at = start;
        start += whole.len();
        let line = whole.trim_end();
        if at < front {
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let words = line.trim_start_matches(' ');
        let mark = words.chars().next().filter(|letter| matches!(letter, '`' | '~'));
        let run = mark.map_or(0, |mark| words.chars().take_while(|letter| *letter == mark).count());
        if fence.is_none() && indent < 4 && html.is_none() {
            html = RAW_HTML.iter().find(|(start, _)| starts_with(words, start)).map(|(_, end)| *end);
        }
        if let Some(end) = html {
            before = None;
            html = html.filter(|_| !line.to_ascii_lowercase().contains(end));
            continue;
        }
        match (fence, mark) {
            (Some((open, length)), Some(mark)) if open == mark && run >= length && words[run..].trim().is_empty() => {
                (fence, before) = (None, None);
                continue;
            }
            (Some(_), _) => continue,
            // The text after the opening backticks of a fence has no backticks: such a line is inline code.
            (None, Some(mark)) if run >= 3 && indent < 4 && !(mark == '`' && words[run..].contains('`')) => {
                (fence, before) = (Some((mark, run)), None);
                continue;
            }
            (None, _) => {}
        }
        if indent >= 4 {
            before = None;
            continue;
        }
        let level = words.chars().take_while(|letter| *letter == '#').count();
        if (1..=6).contains(&level) && (words.len() == level || words[level..].starts_with([' ', '\t'])) {
            let body = words[level..].trim();
            let closed = body.trim_end_matches('#');
            let body = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim() } else { body };
            found.push(Heading { text: bare(body), level, range: at..at + line.len() });
            before = None;
            continue;
        }
        let underline = !words.is_empty()
            && (words.chars().all(|letter| letter == '=') || words.chars().all(|letter| letter == '-'));
        match before {
            Some((from, above)) if underline => {
                let level = if words.starts_with('=') { 1 } else { 2 };
                found.push(Heading { text: bare(above.trim()), level, range: from..at + line.len() });
                before = None;
            }
            _ if words.is_empty() || underline || words.starts_with(['>', '|']) => before = None,
            _ => before = Some((at, line)),
        }
    }
    found
}

/// Returns the section below a heading, up to the next heading of its level or above; the heading itself included.
pub fn section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let found = headings(text);
    let index = found.iter().position(|heading| heading.is(name))?;
    let level = found[index].level;
    let end =
        found[index + 1..].iter().find(|heading| heading.level <= level).map_or(text.len(), |next| next.range.start);
    Some(&text[found[index].range.start..end])
}

/// Returns the YAML between the two lines `---` at the start of a Markdown text.
pub fn front_matter_of(text: &str) -> Option<&str> {
    let block = &text[..front_matter(text)];
    let (first, last) = (block.find('\n')? + 1, block.trim_end().rfind('\n')? + 1);
    block.get(first..last)
}

fn front_matter(text: &str) -> usize {
    if !text.starts_with("---\n") && !text.starts_with("---\r\n") {
        return 0;
    }
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        if index > 0 && line.trim_end() == "---" {
            return at;
        }
    }
    0
}

fn bare(text: &str) -> String {
    let trimmed = text.trim().trim_matches(['*', '_', '`']).trim();
    trimmed.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(usize, String)> {
        headings(text).into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    #[test]
    fn headings_of_both_forms_are_found() {
        let text = "# One\n\ntext\n\nTwo\n---\n\n### **Three** ###\n#tight\nThree: no\n";
        let expected = [(1, "One"), (2, "Two"), (3, "Three")].map(|(level, text)| (level, text.to_owned()));
        assert_eq!(names(text), expected);
    }

    #[test]
    fn code_and_front_matter_are_not_headings() {
        assert_eq!(
            names("---\ntitle: T\n---\n```\n# no\n```\n~~~\n# no\n```\n~~~\n    # no\n# Yes\n"),
            [(1, "Yes".into())]
        );
    }

    #[test]
    fn front_matter_is_the_block_at_the_start() {
        for (text, front_matter) in [
            ("---\ntitle: T\n---\n# Hook\n", Some("title: T\n")),
            ("---\r\ntitle: T\r\n---\r\n", Some("title: T\r\n")),
            ("---\ntitle: T\nid: 1\n---", Some("title: T\nid: 1\n")),
            ("---\n---\n", Some("")),
            ("---\ntitle: T\n", None),
            ("# Hook\n---\n", None),
            ("", None),
        ] {
            assert_eq!(front_matter_of(text), front_matter, "{text:?}");
        }
    }

    #[test]
    fn byte_order_mark_is_not_part_of_the_text() {
        let text = "\u{feff}# Hook\nx\n";
        assert_eq!(names(text), [(1, "Hook".into())]);
        assert_eq!(section(text, "hook"), Some("# Hook\nx\n"));
        assert_eq!(names("\u{feff}---\ntitle: T\n---\n# Hook\n"), [(1, "Hook".into())]);
    }

    #[test]
    fn line_of_inline_code_does_not_open_a_fence() {
        assert_eq!(names("```x``` is code\n\n# Hook\n"), [(1, "Hook".into())]);
        assert_eq!(names("```x\n# no\n```\n~~~ a `b`\n# no\n~~~\n# Hook\n"), [(1, "Hook".into())]);
    }

    #[test]
    fn commented_heading_is_not_a_heading() {
        assert_eq!(names("<!--\n# no\n\nNo\n--\n-->\n# Hook\n"), [(1, "Hook".into())]);
        assert_eq!(names("<!-- one line -->\n# Hook\n"), [(1, "Hook".into())]);
        assert_eq!(names("<PRE class=x>\n# no\n</Pre>\n<pretty>\n# Hook\n"), [(1, "Hook".into())]);
        assert_eq!(names("# Hook\n<!--\n# no\n"), [(1, "Hook".into())]);
        assert_eq!(names("```\n<!--\n```\n# Hook\n"), [(1, "Hook".into())]);
    }

    #[test]
    fn name_of_a_heading_is_case_folded() {
        for name in ["Straße", "STRASSE", "strasse"] {
            assert!(section("# Straße\n", name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let text = "# A\none\n## B\ntwo\n# C\nthree\n";
        assert_eq!(section(text, "a"), Some("# A\none\n## B\ntwo\n"));
        assert_eq!(section(text, "B"), Some("## B\ntwo\n"));
        assert_eq!(section(text, "D"), None);
    }
}
