//! Changes of whole lines: entries and items in block style, with everything that stands below them. Each
//! answers nothing where the layout is unusual: flow style, two things on one line, names that are used elsewhere.

pub(crate) mod moving;

use std::ops::Range;

use crate::{
    document::{EntryRef, NodeRef, Pointer, Shape},
    problem::{Code, Edit, Fix, Problem, Severity, Subject},
    shape::scalar,
};

/// Mappings with as many entries are not rewritten.
const MANY: usize = 256;

/// The lines of an entry or an item in block style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// From its first letter, or its dash, to the end of its last line, the line end not included.
    pub(crate) range: Range<usize>,
    /// What stands before it on its first line: blanks, and dashes of the items that begin with it.
    pub(crate) before: String,
}

/// The lines of an entry of a mapping.
pub(crate) fn entry(mapping: NodeRef<'_>, key: &str) -> Option<Lines> {
    let mut found = mapping.entries().filter(|entry| entry.key.key_text() == key);
    let entry = found.next().filter(|_| found.next().is_none())?;
    entry_lines(mapping, entry.key, entry.value)
}

/// The lines of an entry whose key and value are known.
pub(crate) fn entry_lines(mapping: NodeRef<'_>, key: NodeRef<'_>, value: NodeRef<'_>) -> Option<Lines> {
    if mapping.resolved().is_through_alias() || key.is_through_alias() || is_flow(mapping) {
        return None;
    }
    let start = key.own_range().start;
    let end = end_of(value).max(key.own_range().end);
    let before = text_of(mapping, line_start(mapping, start)..start)?;
    is_margin(&before).then_some(())?;
    lines(mapping, start, end, before)
}

/// The lines of an item of a list.
pub(crate) fn item(list: NodeRef<'_>, item: NodeRef<'_>) -> Option<Lines> {
    if list.resolved().is_through_alias() || is_flow(list) {
        return None;
    }
    let first = if item.alias().is_some() { item.range().start } else { item.own_range().start };
    let line = line_start(list, first);
    let head = text_of(list, line..first)?;
    // An anchor may stand between the dash and the item.
    let dash =
        head.find("- ").filter(|dash| head[..*dash].trim_start_matches('\u{feff}').bytes().all(|it| it == b' '))?;
    let between = head[dash + 2..].trim();
    let is_anchor = between.starts_with('&') && !between.contains(' ');
    if !between.is_empty() && !is_anchor {
        return None;
    }
    lines(list, line + dash, end_of(item), head[..dash].to_owned())
}

fn lines(node: NodeRef<'_>, start: usize, end: usize, before: String) -> Option<Lines> {
    let text = node.document().text();
    let line = text.byte_to_line(end.min(text.len_bytes()));
    let whole = text_of(node, text.line_to_byte(line)..text.line_to_byte((line + 1).min(text.len_lines())))?;
    let stop = text.line_to_byte(line) + whole.trim_end_matches(['\n', '\r']).len();
    let behind = text_of(node, end.min(stop)..stop)?;
    let rest = behind.trim_start();
    (rest.is_empty() || rest.starts_with('#') && behind.len() > rest.len())
        .then_some(Lines { range: start..stop, before })
}

/// Where the last thing of a node ends. What a reader counts to a block may reach over blank lines and comments.
fn end_of(node: NodeRef<'_>) -> usize {
    if node.alias().is_some() {
        return node.range().end;
    }
    let own = node.own_range();
    if !is_flow(node) {
        let last = match node.shape() {
            Shape::Mapping => node.entries().last().map(|entry| end_of(entry.value).max(entry.key.own_range().end)),
            Shape::Sequence => node.items().last().map(end_of),
            Shape::Scalar | Shape::Dangling => None,
        };
        if let Some(last) = last {
            return last;
        }
    }
    let written = text_of(node, own.clone()).unwrap_or_default();
    own.start + written.trim_end().len()
}

/// Whether a collection is written with brackets or braces.
pub(crate) fn is_flow(node: NodeRef<'_>) -> bool {
    let own = node.own_range();
    let written = text_of(node, own.start..own.end.min(own.start + 512)).unwrap_or_default();
    let mut rest = written.trim_start();
    while rest.starts_with(['&', '!']) {
        rest = rest.find(char::is_whitespace).map_or("", |at| rest[at..].trim_start());
    }
    rest.starts_with(['[', '{'])
}

fn text_of(node: NodeRef<'_>, range: Range<usize>) -> Option<String> {
    node.document().text().get_byte_slice(range).map(String::from)
}

fn line_start(node: NodeRef<'_>, at: usize) -> usize {
    let text = node.document().text();
    text.line_to_byte(text.byte_to_line(at))
}

/// Whether nothing but blanks and dashes stands here.
fn is_margin(before: &str) -> bool {
    let before = before.trim_start_matches('\u{feff}');
    let before = before.trim_start_matches(' ');
    before.split("- ").all(|between| between.bytes().all(|it| it == b' ')) && !before.ends_with('-')
}

/// Whether something below a node has a name: it may be used elsewhere.
fn has_anchor(node: NodeRef<'_>) -> bool {
    node.alias().is_none()
        && (node.anchor().is_some()
            || node.entries().any(|entry| has_anchor(entry.key) || has_anchor(entry.value))
            || node.items().any(has_anchor))
}

/// The edits that turn an entry or an item into a comment. `at` leads to it from `root`. Nothing is lost but what it was
/// taken for, which is why the mapping or the list must keep something else.
pub(crate) fn comment(root: NodeRef<'_>, at: &Pointer) -> Option<Vec<Edit>> {
    let parent = root.find(&at.parent()?)?;
    let last = at.last()?;
    // Where there are thousands of mistakes, one cure for each would cost more than it helps.
    if parent.entries().take(MANY).count() == MANY {
        return None;
    }
    let (lines, count) = match parent.shape() {
        Shape::Mapping => {
            if has_anchor(parent.entry(&last)?.value) {
                return None;
            }
            (entry(parent, &last)?, parent.entries().count())
        }
        Shape::Sequence => {
            let node = parent.item_at(at.last_step()?.index()?)?;
            if has_anchor(node) {
                return None;
            }
            (item(parent, node)?, parent.items().take(2).count())
        }
        Shape::Scalar | Shape::Dangling => return None,
    };
    if count < 2 {
        return None;
    }
    Some(as_comment(root, &lines))
}

/// The edits that put a sign before each line.
fn as_comment(node: NodeRef<'_>, lines: &Lines) -> Vec<Edit> {
    let text = node.document().text();
    let column = lines.before.trim_start_matches('\u{feff}').chars().count();
    let (first, last) = (text.byte_to_line(lines.range.start), text.byte_to_line(lines.range.end));
    let mut edits = vec![Edit::new(lines.range.start..lines.range.start, "# ")];
    for line in first + 1..=last {
        let start = text.line_to_byte(line);
        let whole = String::from(text.line(line));
        let content = whole.trim_end_matches(['\n', '\r']);
        if !content.trim().is_empty() {
            let indent = content.bytes().take_while(|byte| *byte == b' ').count().min(column);
            edits.push(Edit::new(start + indent..start + indent, "# "));
        }
    }
    edits
}

/// The edit that puts a line with a new key behind an entry of a mapping. `None` where the layout is unusual.
pub(crate) fn line_behind(mapping: NodeRef<'_>, entry: EntryRef<'_>, line: &str) -> Option<Edit> {
    if is_flow(mapping) {
        let end = end_of(entry.value).max(entry.key.own_range().end);
        return (!entry.key.is_through_alias()).then(|| Edit::new(end..end, format!(", {line}")));
    }
    let lines = entry_lines(mapping, entry.key, entry.value).filter(|_| !moving::keeps_blank_lines(entry.value))?;
    let column = lines.before.trim_start_matches('\u{feff}').chars().count();
    Some(Edit::new(lines.range.end..lines.range.end, format!("\n{}{line}", " ".repeat(column))))
}

/// The edit that takes an entry or an item out, with its lines.
pub(crate) fn remove(root: NodeRef<'_>, lines: &Lines) -> Option<Edit> {
    let text = root.document().text();
    // What begins with a dash that is not its own takes the item with it.
    if lines.before.contains('-') {
        return None;
    }
    let start = line_start(root, lines.range.start);
    let after = text.line_to_byte((text.byte_to_line(lines.range.end) + 1).min(text.len_lines()));
    Some(Edit::new(start..after, ""))
}

/// The edit that takes an entry out of a mapping that has others.
pub(crate) fn remove_entry(mapping: NodeRef<'_>, key: NodeRef<'_>, value: NodeRef<'_>) -> Option<Edit> {
    let lines = entry_lines(mapping, key, value)?;
    let next = mapping.entries().find(|entry| entry.key.own_range().start > lines.range.start);
    if !lines.before.contains('-') {
        return remove(mapping, &lines).filter(|_| mapping.entries().count() > 1);
    }
    // The next entry takes its place behind the dash.
    let next = next?.key.own_range().start;
    let between = text_of(mapping, end_of(value).max(key.own_range().end)..next)?;
    between.trim().is_empty().then(|| Edit::new(lines.range.start..next, ""))
}

/// The cures of a key that stands twice.
pub(crate) fn repeated_key(mapping: NodeRef<'_>, range: &Range<usize>, first: &Range<usize>) -> Vec<Fix> {
    let at = |place: &Range<usize>| mapping.entries().find(|entry| entry.key.range() == *place);
    let (Some(second), Some(first)) = (at(range), at(first)) else { return Vec::new() };
    let value = |node: NodeRef<'_>| node.to_value().ok();
    if has_anchor(second.value) || has_anchor(first.value) {
        return Vec::new();
    }
    if value(second.value).is_some() && value(second.value) == value(first.value) {
        let Some(edit) = remove_entry(mapping, second.key, second.value) else { return Vec::new() };
        // A comment may hold the other value, and one without its quotes reads as no value at all.
        let has_comment = text_of(mapping, edit.range.clone()).is_none_or(|removed| removed.contains('#'));
        let written = |entry: EntryRef<'_>| text_of(mapping, entry.value.own_range());
        let is_text = first.value.as_str().is_some() && second.value.as_str().is_some();
        let is_same = is_text || written(first) == written(second);
        let title = "remove the repetition";
        let fix = if has_comment || !is_same { Fix::guess } else { Fix::safe };
        return vec![fix(title.to_owned(), vec![edit])];
    }
    // The one that has a value is kept.
    let is_empty = |node: NodeRef<'_>| node.text() == Some("");
    [(second, "turn this one into a comment", first), (first, "turn the first one into a comment", second)]
        .into_iter()
        .filter(|(entry, _, other)| is_empty(entry.value) || !is_empty(other.value))
        .filter_map(|(entry, title, _)| {
            let lines = entry_lines(mapping, entry.key, entry.value)?;
            Some(Fix::suggestion(title, as_comment(mapping, &lines)))
        })
        .collect()
}

/// As many problems of a kind get a cure that reaches beyond their item.
const ACROSS: usize = 64;

/// Gives problems of items their cures that change something outside of the item.
pub(crate) fn cure_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    let twice = problems.iter_mut().filter(|problem| problem.code == Code::DuplicateName);
    twice.take(ACROSS).for_each(|problem| cure_repetition(root, problem));
    let unknown = problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey);
    unknown.take(ACROSS).for_each(|problem| moving::cure_misplaced(root, problem));
}

/// Writes another value than the example where cures add a key.
pub(crate) fn with_value(fixes: &mut [Fix], key: &str, value: &str) {
    for text in fixes.iter_mut().flat_map(|fix| &mut fix.edits).map(|edit| &mut edit.text) {
        let begin = format!("{key}: ");
        let Some(at) = text.find(&begin).map(|at| at + begin.len()) else { continue };
        let rest = &text[at..];
        let end = [", ", " }", "\n"].iter().filter_map(|stop| rest.find(stop)).min().unwrap_or(rest.len());
        text.replace_range(at..at + end, value);
    }
}

/// Gives a problem of two items with one name its cure, where one says the same as the other.
fn cure_repetition(root: NodeRef<'_>, problem: &mut Problem) {
    let place = |at: &Pointer| {
        let item = at.parent()?;
        Some((item.parent()?, item.last_step()?.index()?))
    };
    let fix = problem.related.first().filter(|first| first.file.is_none()).and_then(|first| {
        let ((list, second), (other, first)) = (place(&problem.at)?, place(&first.at)?);
        repeated_item(root.find(&list).filter(|_| list == other)?, second, first)
    });
    problem.fixes.extend(fix);
    if problem.severity == Severity::Error {
        problem.fixes.extend(free_name(root, problem));
    }
}

/// The fix that gives an item whose name is taken one that no other item of its list has.
fn free_name(root: NodeRef<'_>, problem: &Problem) -> Option<Fix> {
    let node = root.find(&problem.at).filter(|node| node.alias().is_none() && !node.is_through_alias())?;
    let Some(Subject::Name(taken)) = &problem.subject else { return None };
    // Where the problem is on what leads to the name, the name is in another file; a path is the name of something that
    // exists.
    let name = node.text().filter(|name| !name.contains('/') && name == taken)?;
    let key = problem.at.last()?;
    let list = root.find(&problem.at.parent()?.parent()?)?;
    let names = || list.items().filter_map(|item| item.get(&key)?.text());
    let free = (2..).map(|number| format!("{name}-{number}")).find(|new| !names().any(|taken| taken == new))?;
    Some(Fix::suggestion(format!("rename it to `{free}`"), vec![Edit::new(node.own_range(), scalar(&free))]))
}

/// The cure of an item that says the same as one before it.
fn repeated_item(list: NodeRef<'_>, index: usize, first: usize) -> Option<Fix> {
    let (second, first) = (list.item_at(index)?, list.item_at(first)?);
    let value = |node: NodeRef<'_>| node.to_value().ok();
    if has_anchor(second) || value(second)? != value(first)? {
        return None;
    }
    let edit = remove(list, &item(list, second)?)?;
    Some(Fix::guess("remove the repetition", vec![edit]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cure::replaced, dialect::ScalarRules, document::Document};

    #[track_caller]
    fn check(text: &str, at: &str, expected: Option<&str>) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let expected =
                expected.map(|it| if text.contains('\r') { it.replace('\n', "\r\n") } else { it.to_owned() });
            let document = Document::read(&text, ScalarRules::Yaml12);
            let edits = comment(document.root().unwrap(), &Pointer::parse(at));
            assert_eq!(edits.map(|edits| replaced(&text, &edits)), expected);
        }
    }

    #[test]
    fn entries_and_items_become_comments() {
        check("a: 1\nb:\n  - x\n\n  - |\n    y\nc: 3\n", "/b", Some("a: 1\n# b:\n#   - x\n\n#   - |\n#     y\nc: 3\n"));
        check("l:\n  - a: 1\n    b: é\n  - c\n", "/l/0", Some("l:\n  # - a: 1\n  #   b: é\n  - c\n"));
        check("l:\n  - a: 1 # why\n    b: 2\n", "/l/0/a", Some("l:\n  - # a: 1 # why\n    b: 2\n"));
        check("l:\n- x\n# of y\n- y\n", "/l/0", Some("l:\n# - x\n# of y\n- y\n"));
        check("a: one\n  two\nb: 1", "/a", Some("# a: one\n#   two\nb: 1"));
        check("a: 1\nb: [x,\n  y]\n", "/b", Some("a: 1\n# b: [x,\n#   y]\n"));
    }

    #[test]
    fn what_cannot_be_taken_out_stays() {
        // The only one, flow style, a name that is used elsewhere, a neighbour on the same line.
        check("a: {x: 1}\n", "/a", None);
        check("a: {x: 1, y: 2}\n", "/a/x", None);
        check("a: [x, y]\n", "/a/1", None);
        check("a: &n 1\nb: *n\n", "/a", None);
        check("a:\n  - &n {x: 1}\n  - *n\n", "/a/0", None);
        check("a:\n  - x: &n 1\n    y: 2\nb: *n\n", "/a/0/x", None);
    }
}
