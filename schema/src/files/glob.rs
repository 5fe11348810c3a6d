//! Glob patterns. The search is bounded: a pattern like `**/**/*` in a huge tree terminates and reports
//! that it was truncated.

/// Maximum number of directory entries to visit.
const MAX_ENTRIES: usize = 100_000;

/// Maximum depth of the search.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Paths of files and directories, in byte order.
    pub paths: Vec<String>,
    /// Whether there may be more: the search was aborted after too many entries.
    pub cut: bool,
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// Anything else.
    Other,
}

/// Returns the matches of a pattern in the tree that `list` returns.
///
/// `real` returns the path of a directory without symbolic links, if it may be entered.
pub(super) fn glob(
    list: &dyn Fn(&str) -> Vec<(String, FileKind)>,
    real: &dyn Fn(&str) -> Option<String>,
    pattern: &str,
) -> Matches {
    let segments: Vec<&str> = pattern.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    let up = segments.iter().take_while(|segment| **segment == "..").count();
    let base = segments[..up].join("/");
    let trail = vec![real(&base).unwrap_or_else(|| base.clone())];
    let mut search = Search { list, real, trail, seen: 0, found: Matches::default() };
    search.below(&base, &segments[up..], 0);
    search.found.paths.sort_unstable();
    search.found.paths.dedup();
    search.found
}

/// Whether a pattern matches a path, without access to files.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    fn rest(segments: &[&str], names: &[&str]) -> bool {
        match (segments.split_first(), names.split_first()) {
            (None, None) => true,
            (Some((&"**", [])), Some(_)) => names.iter().all(|name| !name.starts_with('.')),
            (Some((&"**", more)), Some((name, others))) => {
                rest(more, names) || (!name.starts_with('.') && rest(segments, others))
            }
            (Some((segment, more)), Some((name, others))) => name_matches(segment, name) && rest(more, others),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
    let cut = |text: &'_ str| -> Vec<String> {
        text.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
    };
    let (segments, names) = (cut(pattern), cut(path));
    // Each `**` multiplies the number of ways to match.
    if names.len() > MAX_DEPTH || segments.iter().filter(|segment| *segment == "**").count() > 4 {
        return false;
    }
    let (segments, names): (Vec<&str>, Vec<&str>) =
        (segments.iter().map(String::as_str).collect(), names.iter().map(String::as_str).collect());
    rest(&segments, &names)
}

struct Search<'l> {
    list: &'l dyn Fn(&str) -> Vec<(String, FileKind)>,
    real: &'l dyn Fn(&str) -> Option<String>,
    /// Real paths of the directories that are currently entered, from the start of the search.
    trail: Vec<String>,
    seen: usize,
    found: Matches,
}

impl Search<'_> {
    /// Searches a directory, unless a link leads out of the tree or back to an entered directory.
    fn enter(&mut self, directory: &str, segments: &[&str], depth: usize) {
        let Some(real) = (self.real)(directory) else { return };
        if self.trail.contains(&real) || !is_below(&real, &self.trail[0]) {
            return;
        }
        self.trail.push(real);
        self.below(directory, segments, depth);
        self.trail.pop();
    }

    fn below(&mut self, directory: &str, segments: &[&str], depth: usize) {
        let Some((segment, rest)) = segments.split_first() else { return };
        if depth > MAX_DEPTH || self.seen > MAX_ENTRIES {
            self.found.cut = true;
            return;
        }
        if *segment == "**" && !rest.is_empty() {
            self.below(directory, rest, depth);
        }
        let entries = (self.list)(directory);
        self.seen += entries.len() + 1;
        for (name, kind) in entries {
            let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            if *segment == "**" {
                if name.starts_with('.') {
                    continue;
                }
                if rest.is_empty() {
                    self.found.paths.push(path.clone());
                }
                if kind == FileKind::Directory {
                    self.enter(&path, segments, depth + 1);
                }
            } else if name_matches(segment, &name) {
                match (rest.is_empty(), kind) {
                    (true, _) => self.found.paths.push(path),
                    (false, FileKind::Directory) => self.enter(&path, rest, depth + 1),
                    (false, FileKind::File | FileKind::Other) => {}
                }
            }
        }
    }
}

/// Whether a path is below a directory. Both begin with as many `..` as necessary.
fn is_below(path: &str, directory: &str) -> bool {
    fn cut(path: &str) -> (usize, Vec<&str>) {
        let (up, names): (Vec<&str>, Vec<&str>) =
            path.split('/').filter(|name| !name.is_empty()).partition(|it| *it == "..");
        (up.len(), names)
    }
    let ((up, names), (base_up, base)) = (cut(path), cut(directory));
    // A path with fewer `..` is below one with more.
    up < base_up && base.is_empty() || up == base_up && names.len() > base.len() && names.starts_with(&base)
}

/// Whether a pattern without `/` matches a name.
fn name_matches(pattern: &str, name: &str) -> bool {
    is_match(pattern, name, &['!', '^'])
}

/// Whether a pattern without `/` matches a name as in Python's `glob`: `*`, `?`, `[...]` and `[!...]`. A
/// leading dot matches only a literal dot.
pub fn python_name_matches(pattern: &str, name: &str) -> bool {
    is_match(pattern, name, &['!'])
}

/// Whether a pattern matches a name; `negations` are the characters that negate a bracket expression.
fn is_match(pattern: &str, name: &str, negations: &[char]) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut on) = (0, 0);
    // The last `*` and the end of its match: only it needs backtracking.
    let mut star: Option<(usize, usize)> = None;
    while on < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, on));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => class(&pattern, at, name[on], negations),
            Some(letter) => (*letter == name[on]).then_some(at + 1),
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                on += 1;
            }
            (None, Some((begin, end))) => {
                at = begin + 1;
                on = end + 1;
                star = Some((begin, end + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// Returns the index after a `[...]` that matches the character. An unclosed bracket is literal.
fn class(pattern: &[char], start: usize, letter: char, negations: &[char]) -> Option<usize> {
    let mut at = start + 1;
    let negated = pattern.get(at).is_some_and(|letter| negations.contains(letter));
    if negated {
        at += 1;
    }
    let first = at;
    let mut found = false;
    loop {
        match pattern.get(at) {
            None => return (letter == '[').then_some(start + 1),
            Some(']') if at > first => return (found != negated).then_some(at + 1),
            Some(&low) => {
                let high = match (pattern.get(at + 1), pattern.get(at + 2)) {
                    (Some('-'), Some(&high)) if high != ']' => {
                        at += 2;
                        high
                    }
                    (Some(_) | None, Some(_) | None) => low,
                };
                found |= (low..=high).contains(&letter);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Files, MemoryFiles};
    use super::name_matches;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, matches) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", ".a.yaml", false),
            (".*", ".a", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("?.md", "é.md", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]x", "]x", true),
            ("[x", "[x", true),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(name_matches(pattern, name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn caret_in_brackets_is_a_letter_in_python() {
        for (pattern, name, matches) in
            [("[^a]", "a", true), ("[^a]", "^", true), ("[^a]", "b", false), ("[!a]", "b", true), ("*", ".a", false)]
        {
            assert_eq!(super::python_name_matches(pattern, name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_match_paths_in_order() {
        let files = MemoryFiles::new(
            "/s",
            ["tasks/b.yaml", "tasks/a.yaml", "tasks/deep/er/c.yaml", "tasks/.h.yaml", "x.yaml"].map(|path| (path, "")),
        );
        let paths = |pattern: &str| files.glob(pattern).paths;
        assert_eq!(paths("tasks/*.yaml"), ["tasks/a.yaml", "tasks/b.yaml"]);
        assert_eq!(paths("**/*.yaml"), ["tasks/a.yaml", "tasks/b.yaml", "tasks/deep/er/c.yaml", "x.yaml"]);
        assert_eq!(paths("./x.yaml"), ["x.yaml"]);
        assert_eq!(paths("tasks/**/c.yaml"), ["tasks/deep/er/c.yaml"]);
        assert_eq!(paths("nothing/*"), [""; 0]);
        let all = ["tasks/b.yaml", "tasks/a.yaml", "tasks/deep/er/c.yaml", "tasks/.h.yaml", "x.yaml"];
        for pattern in ["tasks/*.yaml", "**/*.yaml", "./x.yaml", "tasks/**/c.yaml", "**", "tasks/**", "nothing/*"] {
            let mut matching: Vec<&str> = all.into_iter().filter(|path| super::matches(pattern, path)).collect();
            matching.sort_unstable();
            let found: Vec<String> = paths(pattern).into_iter().filter(|path| path.ends_with("yaml")).collect();
            assert_eq!(found, matching, "{pattern}");
        }
    }

    #[test]
    fn a_search_that_grows_without_end_is_cut_off() {
        let endless = |_: &str| vec![("a".to_owned(), super::FileKind::Directory)];
        assert!(super::glob(&endless, &|path| Some(path.to_owned()), "**/b").cut);
    }
}
