//! Finds the occurrences of a name: names of things that the file defines, variables in braces, anchors and aliases.
//! Definition, references, highlights and rename all use this. The schema says which texts are names.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    ops::Range,
    rc::Rc,
};

use speclens_schema::{
    document::{Document, NodeRef, Pointer, Shape as NodeShape, Style},
    json_schema::SpecFile,
    shape::{Shape, Type, Word},
    template, template_syntax,
};

use super::{
    walk::{self, NodePath},
    written::Written,
};

#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    pub name: String,
    pub kind: NameKind,
    /// The bytes at the cursor.
    pub token: Range<usize>,
    /// Every place, in the order of the text.
    pub places: Vec<Occurrence>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Something that the file defines, such as one of its `models`.
    Thing(&'static str),
    /// Something without a definition that several places name, such as one of the `tags`.
    Shared(&'static str),
    Variable(&'static str),
    /// A name in braces that the format fills, in texts of this kind.
    BuiltIn(&'static str),
    Anchor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The bytes of the name alone: no quotes, no braces, no `&`.
    pub range: Range<usize>,
    pub is_definition: bool,
    /// The scalar that is the name; `None` if the name is only a part of a scalar.
    pub scalar: Option<(Range<usize>, Style)>,
}

/// Returns the name at an offset with all its places; `None` if there is no name.
pub(crate) fn find(document: &Document, file: SpecFile, offset: usize) -> Option<Occurrences> {
    anchors(document, offset).or_else(|| {
        let pointer = document.pointer_at(offset);
        Finder::new(document, file).at(offset, &pointer)
    })
}

/// Returns the places of another name of the same kind, as if it were at the offset: those that a new name would be
/// confused with.
pub(crate) fn find_other(
    document: &Document,
    file: SpecFile,
    offset: usize,
    kind: &NameKind,
    name: &str,
) -> Vec<Occurrence> {
    let finder = Finder::new(document, file);
    let (pointer, token) = (document.pointer_at(offset), offset..offset);
    let found = match kind {
        NameKind::Thing(kind) => finder.thing(kind, name, token, &pointer),
        NameKind::Shared(kind) => Some(finder.shared(kind, name, token)),
        NameKind::Variable(kind) => finder.variable(kind, name, token, &pointer),
        NameKind::Anchor => return anchors_named(document, name),
        NameKind::BuiltIn(_) => None,
    };
    found.map(|found| found.places).unwrap_or_default()
}

struct Finder<'d> {
    document: &'d Document,
    file: SpecFile,
    shapes: walk::Shapes<'d>,
    /// Meanings of the fields of a type; computed once per type.
    words: RefCell<HashMap<&'static str, FieldMeanings>>,
}

/// The fields of a mapping that have a meaning: name, meaning, type.
type FieldMeanings = Rc<[(&'static str, Word, Type)]>;

/// The owner of variables, or of texts that are filled with them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// A mapping with texts and their variables.
    Given(Pointer),
    /// A thing that others refer to, and give variables to.
    Thing(&'static str, String),
    /// Variables at one place that other places use through an alias.
    Shared(usize),
}

impl<'d> Finder<'d> {
    fn new(document: &'d Document, file: SpecFile) -> Finder<'d> {
        Finder { document, file, shapes: walk::Shapes::new(document, file), words: RefCell::default() }
    }

    fn at(&self, offset: usize, pointer: &Pointer) -> Option<Occurrences> {
        let key = pointer.parent().and_then(|parent| self.document.find(&parent)?.entry(&pointer.last()?));
        if let Some(entry) = key.filter(|entry| touches(&entry.key.range(), offset)) {
            let name = entry.key.key_text();
            return match self.shape(&pointer.parent()?)?.word()? {
                Word::Defines(kind) if self.fills(kind) => self.variable(kind, &name, inner(entry.key), pointer),
                Word::Defines(kind) | Word::Refers(kind) => self.thing(kind, &name, inner(entry.key), pointer),
                Word::Template(_) | Word::File(_) | Word::Pattern(_) | Word::Shell => None,
            };
        }
        let node = self.document.find(pointer).filter(|node| touches(&node.range(), offset))?;
        let text = node.text().filter(|text| !text.is_empty() && !node.is_through_alias())?;
        let shape = self.shape(pointer)?;
        if let Some(kind) = shape.template()
            && let Some((name, token)) = placeholders(node, kind).into_iter().find(|(_, range)| touches(range, offset))
        {
            return match template_syntax::variables(kind, self.file).into_iter().find(|known| known.name == name) {
                Some(_) => Some(self.built_in(kind, &name, token)),
                None => self.variable(kind, &name, token, pointer),
            };
        }
        if let Some(kind) = shape.shares() {
            return Some(self.shared(kind, text, inner(node)));
        }
        match shape.word()? {
            Word::Refers(kind) | Word::Defines(kind) => self.thing(kind, text, inner(node), pointer),
            Word::Template(_) | Word::File(_) | Word::Pattern(_) | Word::Shell => None,
        }
    }

    fn shape(&self, at: &Pointer) -> Option<Shape> {
        self.shapes.at(at)
    }

    fn fills(&self, kind: &str) -> bool {
        walk::keyword_values(self.file, "x-template").contains(kind)
    }

    fn thing(&self, kind: &'static str, name: &str, token: Range<usize>, at: &Pointer) -> Option<Occurrences> {
        // Each place with the mapping in which it can be used, or where it is used.
        let mut defined: Vec<(Pointer, Occurrence)> = Vec::new();
        let mut used: Vec<(Pointer, Occurrence)> = Vec::new();
        walk::scalars_in(self.document, &walk::WHOLE, &mut |node, place| {
            let is_named = if place.is_key() { node.key_text() == name } else { node.text() == Some(name) };
            if !is_named {
                return;
            }
            let pointer = place.pointer();
            let Some(parent) = pointer.parent() else { return };
            let word = self.shape(if place.is_key() { &parent } else { &pointer }).and_then(|shape| shape.word());
            match word {
                Some(Word::Defines(found)) if found == kind => {
                    // `/models/0/id` and `/prompts/ask` are in a section of the root.
                    let section = if place.is_key() { Some(parent) } else { parent.parent() };
                    let scope = section.and_then(|section| section.parent()).unwrap_or_default();
                    defined.push((scope, occurrence(node, true)));
                }
                // A mapping may hold something for each thing, by its name.
                Some(Word::Refers(found)) if found == kind => {
                    used.push((pointer, occurrence(node, false)));
                }
                Some(_) | None => {}
            }
        });
        let scope_of = |at: &Pointer| {
            let around = defined.iter().map(|(scope, _)| scope).filter(|scope| at.below(scope).is_some());
            around.max_by_key(|scope| scope.as_str().len()).cloned().unwrap_or_default()
        };
        let scope = scope_of(at);
        let own = defined.iter().filter(|(place, _)| *place == scope).map(|(_, found)| found.clone());
        let uses = used.iter().filter(|(place, _)| scope_of(place) == scope).map(|(_, found)| found.clone());
        Some(Occurrences::sorted(name, NameKind::Thing(kind), token, own.chain(uses).collect()))
    }

    fn shared(&self, kind: &'static str, name: &str, token: Range<usize>) -> Occurrences {
        let mut places = Vec::new();
        walk::scalars_in(self.document, &walk::WHOLE, &mut |node, place| {
            let is_named = !place.is_key() && node.text() == Some(name);
            if is_named && self.shape(&place.pointer()).is_some_and(|shape| shape.shares() == Some(kind)) {
                places.push(occurrence(node, false));
            }
        });
        Occurrences::sorted(name, NameKind::Shared(kind), token, places)
    }

    fn built_in(&self, kind: &'static str, name: &str, token: Range<usize>) -> Occurrences {
        let mut places = Vec::new();
        walk::values(self.document, self.file, &walk::WHOLE, &mut |node, shape, _| {
            if shape.template() == Some(kind) {
                let named = placeholders(node, kind).into_iter().filter(|(found, _)| found == name);
                places.extend(named.map(|(_, range)| Occurrence { range, is_definition: false, scalar: None }));
            }
        });
        Occurrences::sorted(name, NameKind::BuiltIn(kind), token, places)
    }

    /// Returns all places of a variable: where its value is given, and the texts that use it.
    fn variable(&self, kind: &'static str, name: &str, token: Range<usize>, at: &Pointer) -> Option<Occurrences> {
        if template::is_reserved(name) {
            return None;
        }
        let first = self.owner(kind, at)?;
        let at_home = first.clone();
        // An owner that is not joined with another is searched in its own mapping alone.
        let scope = match &first {
            Owner::Given(own) if self.things_of(&first, kind).is_empty() => self.document.find(own)?.own_range(),
            Owner::Given(_) | Owner::Thing(..) | Owner::Shared(_) => walk::WHOLE,
        };
        let mut found: Vec<(Owner, Occurrence)> = Vec::new();
        let braced = format!("{{{{{name}}}}}");
        walk::scalars_in(self.document, &scope, &mut |node, place| {
            let is_named = if place.is_key() {
                node.key_text() == name
            } else {
                node.text().is_some_and(|text| text.contains(&braced))
            };
            if !is_named {
                return;
            }
            let pointer = place.pointer();
            let shape_at = if place.is_key() { pointer.parent() } else { Some(pointer.clone()) };
            let Some(word) = shape_at.and_then(|at| self.shape(&at)?.word()) else { return };
            let occurrences: Vec<Occurrence> = match word {
                Word::Defines(word) if word == kind && place.is_key() => vec![occurrence(node, true)],
                Word::Template(word) if word == kind && !place.is_key() => placeholders(node, kind)
                    .into_iter()
                    .filter(|(found, _)| found == name)
                    .map(|(_, range)| Occurrence { range, is_definition: false, scalar: None })
                    .collect(),
                Word::Defines(_)
                | Word::Template(_)
                | Word::Refers(_)
                | Word::File(_)
                | Word::Pattern(_)
                | Word::Shell => return,
            };
            let Some(owner) = self.owner(kind, &pointer) else { return };
            found.extend(occurrences.into_iter().map(|occurrence| (owner.clone(), occurrence)));
        });
        let joined = self.joined(first, kind, found.iter().map(|(owner, _)| owner));
        // An anchor may be where the schema has no information.
        let shared: Vec<Occurrence> = joined.iter().filter_map(|owner| self.shared_key(owner, kind, name)).collect();
        found.extend(shared.into_iter().map(|place| (at_home.clone(), place)));
        let places = found.into_iter().filter(|(owner, _)| joined.contains(owner)).map(|(_, found)| found);
        Some(Occurrences::sorted(name, NameKind::Variable(kind), token, places.collect()))
    }

    fn owner(&self, kind: &str, at: &Pointer) -> Option<Owner> {
        let above = |at: &Pointer| std::iter::successors(at.parent(), Pointer::parent);
        for at in above(at) {
            let words = self.words(&self.shape(&at)?);
            if words.iter().any(|(_, word, _)| matches!(word, Word::Defines(found) if *found == kind)) {
                return Some(Owner::Given(at));
            }
        }
        for at in above(at) {
            if let Some(parent) = at.parent()
                && let Some(Word::Defines(of)) = self.shape(&parent)?.word()
            {
                return Some(Owner::Thing(of, at.last()?));
            }
            let words = self.words(&self.shape(&at)?);
            let named = words.iter().find_map(|(field, word, kind)| match word {
                Word::Defines(of) if *kind == Type::Text => Some((*field, *of)),
                Word::Defines(_)
                | Word::Refers(_)
                | Word::Template(_)
                | Word::File(_)
                | Word::Pattern(_)
                | Word::Shell => None,
            });
            if let Some((field, of)) = named {
                return Some(Owner::Thing(of, self.document.find(&at)?.get(field)?.text()?.to_owned()));
            }
        }
        None
    }

    /// Returns the owners that share their variables with the first because they refer to the same things.
    fn joined<'o>(&self, first: Owner, kind: &str, all: impl Iterator<Item = &'o Owner>) -> BTreeSet<Owner> {
        let all: BTreeSet<&Owner> = all.collect();
        let links: Vec<(&Owner, Owner)> = all
            .iter()
            .flat_map(|owner| self.things_of(owner, kind).into_iter().map(move |thing| (*owner, thing)))
            .filter(|(_, thing)| matches!(thing, Owner::Shared(_)) || all.contains(thing))
            .collect();
        let mut joined = BTreeSet::from([first]);
        loop {
            let before = joined.len();
            for (owner, thing) in &links {
                if joined.contains(*owner) || joined.contains(thing) {
                    joined.extend([(*owner).clone(), thing.clone()]);
                }
            }
            if joined.len() == before {
                return joined;
            }
        }
    }

    fn things_of(&self, owner: &Owner, kind: &str) -> Vec<Owner> {
        let Owner::Given(at) = owner else { return Vec::new() };
        let (Some(shape), Some(node)) = (self.shape(at), self.document.find(at)) else { return Vec::new() };
        let words = self.words(&shape);
        let refers = words.iter().filter_map(|(name, word, _)| match word {
            Word::Refers(kind) => Some(Owner::Thing(kind, node.get(name)?.text()?.to_owned())),
            Word::Defines(_) | Word::Template(_) | Word::File(_) | Word::Pattern(_) | Word::Shell => None,
        });
        let given = self.given(node, &words, kind);
        let shared = given.filter(|given| given.alias().is_some() || given.anchor().is_some());
        refers.chain(shared.map(|given| Owner::Shared(given.resolved().own_range().start))).collect()
    }

    fn given(&self, node: NodeRef<'d>, words: &FieldMeanings, kind: &str) -> Option<NodeRef<'d>> {
        let (name, ..) = words.iter().find(|(_, word, _)| matches!(word, Word::Defines(found) if *found == kind))?;
        node.get(name)
    }

    fn shared_key(&self, owner: &Owner, kind: &str, name: &str) -> Option<Occurrence> {
        let Owner::Given(at) = owner else { return None };
        let given = self.given(self.document.find(at)?, &self.words(&self.shape(at)?), kind)?;
        let entry = given.alias().and_then(|_| given.entry(name))?;
        Some(occurrence(entry.key, true))
    }

    fn words(&self, shape: &Shape) -> FieldMeanings {
        let all = || {
            let fields = shape.fields(None).into_iter();
            fields
                .filter_map(|field| Some((field.name, field.shape.word()?, field.shape.kind())))
                .collect::<FieldMeanings>()
        };
        match shape.definition() {
            Some(definition) => Rc::clone(self.words.borrow_mut().entry(definition).or_insert_with(all)),
            None => all(),
        }
    }
}

impl Occurrences {
    fn sorted(name: &str, kind: NameKind, token: Range<usize>, mut places: Vec<Occurrence>) -> Occurrences {
        places.sort_by_key(|place| place.range.start);
        places.dedup();
        Occurrences { name: name.to_owned(), kind, token, places }
    }
}

fn anchors(document: &Document, offset: usize) -> Option<Occurrences> {
    let text = document.text();
    let line = super::context::Line::of(text, text.byte_to_line(offset));
    let at = offset.checked_sub(line.start).filter(|at| *at <= line.text.len())?;
    let is_end = |letter: char| letter.is_whitespace() || ",[]{}".contains(letter);
    let start =
        line.text[..at].rfind(is_end).map_or(0, |end| end + line.text[end..].chars().next().map_or(1, char::len_utf8));
    // The cursor may be before the sigil.
    let word = line.text[start..].split(is_end).next()?;
    let name = word.strip_prefix(['&', '*']).filter(|name| !name.is_empty())?;
    let token = line.start + start + 1..line.start + start + word.len();

    let mut found: Vec<(usize, Occurrence)> = Vec::new();
    walk::nodes(document, &mut |node, _: &NodePath<'_, '_>| {
        if node.alias() == Some(name) {
            let range = node.range();
            let to = node.resolved();
            if to.shape() != NodeShape::Dangling {
                let part = Occurrence { range: range.end - name.len()..range.end, is_definition: false, scalar: None };
                found.push((to.own_range().start, part));
            }
        } else if node.anchor() == Some(name)
            && let Some(range) = anchor_range(document, node.own_range().start, name)
        {
            found.push((node.own_range().start, Occurrence { range, is_definition: true, scalar: None }));
        }
    });
    let target = found.iter().find(|(_, place)| place.range == token)?.0;
    let places = found.into_iter().filter(|(to, _)| *to == target).map(|(_, place)| place).collect();
    Some(Occurrences::sorted(name, NameKind::Anchor, token, places))
}

fn anchors_named(document: &Document, name: &str) -> Vec<Occurrence> {
    let mut found = Vec::new();
    walk::nodes(document, &mut |node, _: &NodePath<'_, '_>| {
        let is_definition = node.anchor() == Some(name);
        if is_definition || node.alias() == Some(name) {
            found.push(Occurrence { range: node.own_range(), is_definition, scalar: None });
        }
    });
    found
}

/// Returns the name in `&name`, which is before its node; a tag may be between them.
fn anchor_range(document: &Document, node: usize, name: &str) -> Option<Range<usize>> {
    /// Anchors are near their nodes; comments may be between them.
    const MAX_DISTANCE_BYTES: usize = 4096;
    let text = document.text();
    let from = text.char_to_byte(text.byte_to_char(node.saturating_sub(MAX_DISTANCE_BYTES)));
    let before = String::from(text.byte_slice(from..node));
    let wanted = format!("&{name}");
    let is_end = |rest: &str| {
        rest.is_empty() || rest.starts_with(|letter: char| letter.is_whitespace() || ",[]{}".contains(letter))
    };
    let found = before.rmatch_indices(&wanted).find(|(at, _)| is_end(&before[at + wanted.len()..]))?.0;
    Some(from + found + 1..from + found + wanted.len())
}

fn placeholders(node: NodeRef<'_>, kind: &str) -> Vec<(String, Range<usize>)> {
    let Some(written) = Written::of(node.resolved()) else { return Vec::new() };
    let found = template_syntax::placeholders_of(kind, &written.text).into_iter();
    found.map(|found| (found.name.to_owned(), written.range(found.token()))).collect()
}

pub(super) fn occurrence(node: NodeRef<'_>, is_definition: bool) -> Occurrence {
    let style = node.style().unwrap_or(Style::Plain);
    Occurrence { range: inner(node), is_definition, scalar: Some((node.own_range(), style)) }
}

fn inner(node: NodeRef<'_>) -> Range<usize> {
    let range = node.own_range();
    match node.style() {
        Some(Style::SingleQuoted | Style::DoubleQuoted) if !range.is_empty() => {
            // A quote that is being typed is not closed yet.
            let text = node.document().text();
            let is_closed = range.len() >= 2
                && text.get_byte(range.start).is_some_and(|quote| text.get_byte(range.end - 1) == Some(quote));
            range.start + 1..range.end - usize::from(is_closed)
        }
        Some(_) | None => range,
    }
}

fn touches(range: &Range<usize>, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}
