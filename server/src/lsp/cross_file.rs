//! Names across files: definition, references and rename, in open and closed files.

use std::path::PathBuf;

use speclens_schema::{document::Document, problem::Edit};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert,
    edits::Edited,
    world::{Snapshot, Source},
};
use crate::{
    ide::{
        agents,
        cross_file_names::{self, CrossFileOccurrence},
        occurrences::{NameKind, Occurrences},
        rename,
    },
    index::{self, Span},
    read::read_text,
    scope::Scope,
};

/// A name that other files may contain as well.
pub(super) struct CrossFileName {
    kind: &'static str,
    name: String,
    /// The scope of the name: a directory, or the file that defines it.
    home: PathBuf,
    scope: Scope,
    at: CrossFileOccurrence,
    /// The places of the name in the document itself.
    own: Vec<CrossFileOccurrence>,
}

impl CrossFileName {
    pub(super) fn of(snapshot: &Snapshot, found: &Occurrences) -> Option<CrossFileName> {
        let kind = match found.kind {
            NameKind::Shared(kind) => kind,
            NameKind::Thing(kind) if cross_file_names::crosses(kind) => kind,
            NameKind::Thing(_) | NameKind::Variable(_) | NameKind::BuiltIn(_) | NameKind::Anchor => return None,
        };
        let scope = snapshot.place.scope.clone()?;
        let all = cross_file_names::mentions(&snapshot.document, scope.file, &scope.place);
        let at = all.iter().find(|mention| mention.kind == kind && mention.place.range == found.token)?;
        let home = index::home_of(&scope, &at.home);
        let mut cross_file_name =
            CrossFileName { kind, name: found.name.clone(), home, at: at.clone(), own: Vec::new(), scope };
        cross_file_name.own = cross_file_name.those_of(all, &cross_file_name.scope);
        Some(cross_file_name)
    }

    pub(super) fn is_of(&self, kind: &str) -> bool {
        self.kind == kind
    }

    fn those_of(&self, all: Vec<CrossFileOccurrence>, scope: &Scope) -> Vec<CrossFileOccurrence> {
        let is_same = |mention: &CrossFileOccurrence| {
            mention.kind == self.kind && mention.name == self.name && index::home_of(scope, &mention.home) == self.home
        };
        all.into_iter().filter(is_same).collect()
    }

    /// Returns every place, those of the document itself first, and whether it is a definition.
    pub(super) fn places(&self, snapshot: &Snapshot) -> Vec<(lsp::Location, bool)> {
        let own = self.own.iter().map(|mention| {
            let range = snapshot.range(mention.place.range.clone());
            (lsp::Location { uri: snapshot.uri.clone(), range }, mention.place.is_definition)
        });
        let mut places: Vec<_> = own.collect();
        for other in snapshot.world.sources(Some(&snapshot.uri.0)) {
            let mut facts = other.facts.places(self.kind, &self.name, &self.home).peekable();
            let Some(uri) = facts.peek().and_then(|_| other.uri()) else { continue };
            places.extend(
                facts.map(|fact| (lsp::Location { uri: uri.clone(), range: range(fact.span) }, fact.is_definition)),
            );
        }
        places
    }

    /// Returns the edits that rename it, by document; or the reason why it is impossible.
    pub(super) fn rename(&self, snapshot: &Snapshot, to: &str) -> Result<Vec<Edited>, String> {
        if self.kind == cross_file_names::LOGS {
            return Err("the path of a log cannot be renamed; edit it instead".to_owned());
        }
        if to.trim().is_empty() || to.contains(['\n', '\r']) {
            return Err("a name must be a single line and must not be empty".to_owned());
        }
        if to != self.name
            && let Some(reason) = rename::meaning(self.scope.file, self.kind, &self.name)
        {
            return Err(reason);
        }
        if self.kind == agents::KIND
            && to != self.name
            && let Some(reason) = agents::refuse_rename(&self.name, to, self.scope.file, snapshot.place.files.as_ref())
        {
            return Err(reason);
        }
        if !snapshot.world.is_index_complete {
            return Err("the files of the workspace are still being read; try again in a moment".to_owned());
        }
        if let Some(reason) = snapshot.world.index.cut.clone() {
            return Err(reason);
        }
        let others = snapshot.world.sources(Some(&snapshot.uri.0));
        if to != self.name {
            self.refuse_a_collision(&others, snapshot, to)?;
        }
        let edit = |mention: &CrossFileOccurrence| rename::edit(&mention.place, to);
        let only_here = self.is_one_of_several(&others)?;
        let own = if only_here { std::slice::from_ref(&self.at) } else { &self.own };
        let own: Vec<Edit> = own.iter().map(edit).collect();
        if to != self.name {
            rename::refuse_an_error(&snapshot.document, self.scope.file, &own, to)?;
        }
        let mut all = vec![Edited::of(snapshot, &own)];
        if only_here {
            return Ok(all);
        }
        for other in others.iter().filter(|other| self.is_in(other, &self.name)) {
            // The current file on the disk counts, not its state when it was indexed.
            let document = match (&other.open, &other.path) {
                (Some(open), _) => open.document.clone(),
                (None, Some(path)) => {
                    let (text, problem) = read_text(path);
                    if let Some(problem) = problem {
                        let (name, path) = (&self.name, path.display());
                        return Err(format!("`{name}` cannot be renamed in {path} ({})", problem.message));
                    }
                    Document::read_cut(&text, other.facts.scope.file.scalar_rules())
                }
                (None, None) => continue,
            };
            let scope = &other.facts.scope;
            let found = self.those_of(cross_file_names::mentions(&document, scope.file, &scope.place), scope);
            if !found.is_empty() {
                let edits: Vec<Edit> = found.iter().map(edit).collect();
                if to != self.name {
                    rename::refuse_an_error(&document, scope.file, &edits, to)?;
                }
                let version = other.open.as_ref().map(|open| open.version);
                let Some(uri) = other.uri() else { continue };
                let encoding = snapshot.abilities.encoding;
                let edits = edits.iter().map(|edit| convert::text_edit(&document, encoding, edit));
                all.push(Edited { uri, version, edits: edits.collect() });
            }
        }
        Ok(all)
    }

    /// Whether the place defines one of several things with the name: then only that one is renamed. Which of them a
    /// reference means is unknown.
    fn is_one_of_several(&self, others: &[Source]) -> Result<bool, String> {
        let own = self.own.iter().filter(|mention| mention.place.is_definition).count();
        let elsewhere = others.iter().flat_map(|other| other.facts.places(self.kind, &self.name, &self.home));
        if own + elsewhere.filter(|fact| fact.is_definition).count() < 2 {
            return Ok(false);
        }
        if self.at.place.is_definition { Ok(true) } else { Err(rename::ambiguous(self.kind, &self.name)) }
    }

    fn is_in(&self, other: &Source, name: &str) -> bool {
        other.facts.places(self.kind, name, &self.home).next().is_some()
    }

    fn refuse_a_collision(&self, others: &[Source], snapshot: &Snapshot, to: &str) -> Result<(), String> {
        let all = cross_file_names::mentions(&snapshot.document, self.scope.file, &self.scope.place);
        let is_own = all.iter().any(|mention| {
            mention.kind == self.kind && mention.name == to && index::home_of(&self.scope, &mention.home) == self.home
        });
        let place = match is_own {
            true => "this file".to_owned(),
            false => match others.iter().find(|other| self.is_in(other, to)) {
                Some(other) => {
                    let path = other.path.as_ref().map(|path| path.strip_prefix(&self.scope.root).unwrap_or(path));
                    path.map_or_else(|| "another document".to_owned(), |path| format!("`{}`", path.display()))
                }
                None => return Ok(()),
            },
        };
        Err(format!("`{}` in {place} already has `{to}`; choose another name", self.kind))
    }
}

pub(super) fn range(span: Span) -> lsp::Range {
    let place = |(line, character): (u32, u32)| lsp::Position { line, character };
    lsp::Range { start: place(span.start), end: place(span.end) }
}
