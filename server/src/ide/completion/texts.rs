//! What is completed inside a text: variables in braces, paths, codes in comments.

use speclens_schema::{document::NodeRef, files::FileKind, problem::Code};

use super::{CompletionKind, List};
use crate::ide::{card, context::is_template, line, names, template};

impl List<'_> {
    /// Names inside `{{`.
    pub(super) fn variables(&mut self) {
        if !is_template(&self.context.shape) {
            return;
        }
        let (line, start) = self.line();
        let before = &line[..self.offset - start];
        let typed = before.len() - before.trim_end_matches(template::is_name).len();
        if !before[..before.len() - typed].ends_with("{{") {
            return;
        }
        let behind = &line[self.offset - start..];
        let rest = behind.find(|letter| !template::is_name(letter)).unwrap_or(behind.len());
        let range = self.offset - typed..self.offset + rest;
        let closing = match &behind[rest..] {
            tail if tail.starts_with("}}") => "",
            tail if tail.starts_with('}') => "}",
            _ => "}}",
        };
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: String, detail: String| {
            let is_new = !name.is_empty() && name.chars().all(template::is_name);
            if is_new && !found.iter().any(|(known, _)| *known == name) {
                found.push((name, detail));
            }
        };
        let own = names::variables(self.document, &self.context.at, &self.context.shape);
        for entry in own.into_iter().flat_map(NodeRef::entries) {
            add(entry.key.key_text(), card::inline(entry.value.text().unwrap_or_default()));
        }
        if own.is_none()
            && let Some(prompt) = self.prompt()
        {
            for (name, value) in names::given_to(self.document, &prompt) {
                add(name, value.map(card::inline).unwrap_or_default());
            }
        }
        // What is being typed here is no name yet.
        let typing = line[range.start - start..range.end - start].to_owned();
        for name in names::used_in_prompts(self.document).into_iter().filter(|name| *name != typing) {
            add(name, "used in a prompt".to_owned());
        }
        for (name, detail) in found {
            let item = self.add(0, name.clone(), CompletionKind::Variable, format!("{name}{closing}"));
            item.edit.range = range.clone();
            item.detail = detail;
        }
    }

    /// The prompt in which the cursor stands.
    pub(super) fn prompt(&self) -> Option<String> {
        let mut steps = self.context.at.steps();
        (steps.next()? == "prompts").then(|| steps.next())?
    }

    /// Files and directories below the suite's directory.
    pub(super) fn paths(&mut self, kind: &str, quote: Option<char>) {
        let (line, start) = self.line();
        let token = self.context.token.clone();
        let typed = line[token.start.min(self.offset) - start..self.offset - start].to_owned();
        let (directory, _) = typed.rsplit_once('/').map_or(("", typed.as_str()), |(directory, name)| (directory, name));
        let clean = directory.trim_start_matches("./");
        if directory.starts_with('/') || clean.split('/').any(|part| part == "..") {
            return;
        }
        let gap = self.layout().gap;
        for (name, entry) in self.files.list(clean) {
            let is_hidden = name.starts_with('.') || name == "node_modules";
            let is_wanted = kind == "any" || name.ends_with(".json");
            let (rank, is_directory) = match entry {
                FileKind::Directory => (1, true),
                FileKind::File if is_wanted => (0, false),
                FileKind::File => (2, false),
                FileKind::Other => continue,
            };
            if is_hidden || (!is_directory && self.file_is_own(clean, &name)) {
                continue;
            }
            let slash = if is_directory { "/" } else { "" };
            let path =
                if directory.is_empty() { format!("{name}{slash}") } else { format!("{directory}/{name}{slash}") };
            let text = if quote.is_some() { path.clone() } else { speclens_schema::shape::scalar(&path) };
            let kind = if is_directory { CompletionKind::Directory } else { CompletionKind::File };
            let item = self.add(rank, format!("{name}{slash}"), kind, format!("{gap}{text}"));
            item.filter_text = path;
        }
    }

    /// Suites lie in the same directory, and are never what a path in them means.
    pub(super) fn file_is_own(&self, directory: &str, name: &str) -> bool {
        directory.is_empty() && matches!(name, "kindlm.yaml" | "kindlm.yml" | "speclens.yaml")
    }

    /// Codes in `# speclens: allow(`.
    pub(super) fn codes(&mut self) {
        let (line, start) = self.line();
        let before = &line[self.context.token.start - start..self.offset - start];
        let Some((head, list)) = before.rsplit_once("allow(") else { return };
        if list.contains(')') || !head.trim_start_matches(['#', ' ']).starts_with("speclens:") {
            return;
        }
        let typed =
            list.len() - list.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '-').len();
        let behind = &line[self.offset - start..];
        let rest =
            behind.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(behind.len());
        let closing = if behind[rest..].contains(')') { "" } else { ")" };
        let taken: Vec<String> = list[..list.len() - typed].split(',').map(|code| code.trim().to_owned()).collect();
        let range = self.offset - typed..self.offset + rest;
        for code in Code::ALL.iter().copied().filter(|code| !taken.iter().any(|taken| taken == code.as_str())) {
            let item = self.add(0, code.as_str(), CompletionKind::Value, format!("{}{closing}", code.as_str()));
            item.edit.range = range.clone();
            item.detail = code.severity().as_str().to_owned();
            item.docs = card::code(code);
        }
    }

    /// The cursor's line, and where it begins.
    pub(super) fn line(&self) -> (String, usize) {
        let text = self.document.text();
        let line = line::Line::of(text, text.byte_to_line(self.offset));
        (line.text.into_owned(), line.start)
    }

    pub(super) fn text_behind(&self, at: usize) -> String {
        let (line, start) = self.line();
        line.get(at - start..).unwrap_or_default().to_owned()
    }
}
