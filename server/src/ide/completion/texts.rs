//! Completion inside texts: variables in braces, paths.

use speclens_schema::{document::NodeRef, files::FileKind, json_schema::SpecFile, template, template_syntax};

use super::{
    insert,
    list::{CompletionKind, List},
};
use crate::ide::{context::Line, names};

/// The prefix of a path to a file with more tasks.
const SCHEME: &str = "file://";

fn path_text(path: &str) -> String {
    match path.strip_prefix(SCHEME) {
        Some(rest) if speclens_schema::quoting::scalar(rest) == rest => path.to_owned(),
        Some(_) | None => speclens_schema::quoting::scalar(path),
    }
}

impl List<'_> {
    pub(super) fn variables(&mut self) -> bool {
        let shape = &self.context.shape;
        let Some(filled_by) = shape.template() else { return false };
        let (line, start) = self.line();
        let before = &line[..self.offset - start];
        let typed = before.len() - before.trim_end_matches(template::is_name_letter).len();
        let built_in = template_syntax::variables(filled_by, self.file);
        let opening = &before[..before.len() - typed];
        let may_be_blank = template_syntax::allows_blanks(filled_by);
        let opening = if may_be_blank { opening.trim_end_matches(' ') } else { opening };
        if !opening.ends_with("{{") {
            return false;
        }
        let behind = &line[self.offset - start..];
        let rest = behind.find(|letter| !template::is_name_letter(letter)).unwrap_or(behind.len());
        let range = self.offset - typed..self.offset + rest;
        let tail = if may_be_blank { behind[rest..].trim_start_matches(' ') } else { &behind[rest..] };
        let closing = match tail {
            tail if tail.starts_with("}}") => "",
            tail if tail.starts_with('}') => "}",
            _ => "}}",
        };
        let only = shape.template_names();
        for known in built_in.iter().filter(|known| only.as_ref().is_none_or(|only| only.contains(&known.name))) {
            let item = self.add(0, known.name, CompletionKind::Variable, format!("{}{closing}", known.name));
            item.edit.range = range.clone();
            item.detail = known.docs.to_owned();
        }
        if !built_in.is_empty() {
            return true;
        }
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: String, detail: String| {
            let is_new = !name.is_empty() && name.chars().all(template::is_name_letter);
            if is_new && !found.iter().any(|(known, _)| *known == name) {
                found.push((name, detail));
            }
        };
        let own = names::variables(self.document, &self.context.at, &self.context.shape);
        for entry in own.into_iter().flat_map(NodeRef::entries) {
            add(entry.key.key_text(), entry.value.text().unwrap_or_default().to_owned());
        }
        if own.is_none()
            && let Some(prompt) = self.prompt()
        {
            for given in names::given_to(self.document, &prompt) {
                add(given.name, given.value.unwrap_or_default().to_owned());
            }
        }
        // The text that is being typed is not a name yet.
        let typing = line[range.start - start..range.end - start].to_owned();
        for name in names::used_in_prompts(self.document).into_iter().filter(|name| *name != typing) {
            add(name, "used in a prompt".to_owned());
        }
        for (name, detail) in found {
            let item = self.add(0, name.clone(), CompletionKind::Variable, format!("{name}{closing}"));
            item.edit.range = range.clone();
            item.detail = detail;
        }
        true
    }

    pub(super) fn prompt(&self) -> Option<String> {
        let mut steps = self.context.at.steps();
        (steps.next()? == "prompts").then(|| steps.next())?.map(|step| step.to_string())
    }

    /// Offers files and directories below the suite's directory.
    pub(super) fn paths(&mut self, kind: &str) {
        let (line, start) = self.line();
        let token = self.context.token.clone();
        let typed = line[token.start.min(self.offset) - start..self.offset - start].to_owned();
        let scheme = if kind == "tasks" { SCHEME } else { "" };
        let written = typed.strip_prefix(scheme).unwrap_or(&typed);
        let (directory, _) = written.rsplit_once('/').map_or(("", written), |(directory, name)| (directory, name));
        let clean = directory.trim_start_matches("./");
        if directory.starts_with('/') || written.starts_with('/') || clean.split('/').any(|part| part == "..") {
            return;
        }
        let endings: &[&str] = match kind {
            "json-schema" => &[".json"],
            "tasks" | "yaml" | "handoff" => &[".yaml", ".yml"],
            "markdown" => &[".md"],
            "log" => &[".log", ".jsonl"],
            _ => &[],
        };
        let base = self.context.shape.base(self.values.files.place());
        let below = [base, clean].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        for (name, entry) in self.values.files.list(&below) {
            let is_hidden = name.starts_with('.') || name == "node_modules";
            let is_wanted = endings.is_empty() || endings.iter().any(|ending| name.ends_with(ending));
            let (rank, is_directory) = match entry {
                FileKind::Directory => (if kind == "directory" { 0 } else { 1 }, true),
                FileKind::File if kind == "directory" => continue,
                FileKind::File if is_wanted => (0, false),
                FileKind::File => (2, false),
                FileKind::Other => continue,
            };
            if is_hidden || (!is_directory && self.file_is_own(clean, &name)) {
                continue;
            }
            // A directory that is the target itself needs no slash.
            let slash = if is_directory && kind != "directory" { "/" } else { "" };
            let below = if directory.is_empty() { "" } else { "/" };
            let path = format!("{scheme}{directory}{below}{name}{slash}");
            let text = self.quote.map_or_else(|| path_text(&path), |quote| insert::quoted(&path, quote));
            let kind = if is_directory { CompletionKind::Directory } else { CompletionKind::File };
            let item = self.offer(rank, format!("{name}{slash}"), kind, &text);
            item.filter_text = path;
        }
    }

    /// Whether a file is the document itself or a main file beside it, which a path never means.
    pub(super) fn file_is_own(&self, directory: &str, name: &str) -> bool {
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let mains = SpecFile::ALL.iter().filter(|file| file.is_suite() || file.is_settings());
        path == self.values.files.place()
            || (directory.is_empty() && mains.flat_map(|file| file.plain_names()).any(|main| main == name))
    }

    pub(super) fn line(&self) -> (String, usize) {
        let text = self.document.text();
        let line = Line::of(text, text.byte_to_line(self.offset));
        (line.text.into_owned(), line.start)
    }

    pub(super) fn text_behind(&self, at: usize) -> String {
        let (line, start) = self.line();
        line.get(at - start..).unwrap_or_default().to_owned()
    }
}
