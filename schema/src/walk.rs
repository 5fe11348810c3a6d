//! One walk over a part of a document: each value with what the schema says of it. The rules that are the same for all
//! formats look at the values that they meet here.

use std::{borrow::Cow, cell::OnceCell, collections::HashSet};

use crate::{
    dialect::Format,
    document::{EntryRef, NodeRef, Pointer, Shape as NodeShape, Step},
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    pattern::Pattern,
    rules::{
        ambiguous_scalar::yaml_1_1,
        contradiction, invalid_path, invalid_pattern, missing_file, missing_variable, pasted_secret, placeholder,
        suspicious_pattern::{self, compared},
        unquoted_template,
    },
    shape::{Shape, Word},
    spec_file::PerFile,
    spot::Spot,
    validate::Definition,
};

/// A value that the walk meets.
pub(crate) struct Value<'w, 'd> {
    pub(crate) node: NodeRef<'d>,
    /// The key that owns it.
    key: Option<NodeRef<'d>>,
    /// The nearest key above, that of the list included; empty at the root.
    pub(crate) name: &'w str,
    place: Place<'w, 'd>,
    /// Whether the schema may say more of it than its type.
    may_mean: bool,
    shape: OnceCell<Option<Shape>>,
}

/// Where a value is.
enum Place<'w, 'd> {
    /// It is what a definition is about.
    Root(Definition),
    /// It is in another value.
    In(&'w Value<'w, 'd>, Step<'w>),
}

/// Applies the rules that are the same for all formats to a part of a document.
pub(crate) fn check(
    node: NodeRef<'_>,
    definition: Definition,
    format: Option<&dyn Format>,
    files: &dyn Files,
    report: &mut Report,
) {
    each(node, definition, &mut |value| {
        if value.is_own() {
            pasted_secret::check(value, report);
            placeholder::check(value, report);
            compared::check(value, report);
        }
        if let Some(format) = format.filter(|_| value.is_own()) {
            yaml_1_1::check(value, format, report);
        }
        if value.is_own() {
            missing_variable::check(value, definition.file(), report);
            unquoted_template::check(value, report);
        }
        if value.may_mean {
            contradiction::check_bounds(value, report);
        }
        match (value.word(), format) {
            (Some(Word::Pattern(flavour)), Some(format)) => {
                let Some(pattern) = Pattern::of(value, flavour, format) else { return };
                invalid_pattern::check(&pattern, format, report);
                suspicious_pattern::check(&pattern, report);
                format.report_pattern(&pattern, report);
            }
            (Some(Word::File(kind)), _) => {
                invalid_path::check(value, report);
                if let Some(format) = format {
                    missing_file::check(value, kind, format, files, report);
                }
            }
            (
                Some(Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell) | None,
                _,
            ) => {}
        }
    });
}

/// Visits every value of a part of a document, aliases followed; of the whole, all but the lists whose items are looked at
/// one by one.
fn each<'d>(node: NodeRef<'d>, definition: Definition, look: &mut dyn FnMut(&Value<'_, 'd>)) {
    let name = match definition {
        Definition::Root(_) => "",
        Definition::Item(_, list) => list,
    };
    let meaning = meaning(definition.file());
    let may_mean = meaning.contains(name);
    let place = Place::Root(definition);
    let root = Value { node, key: None, name, place, may_mean, shape: OnceCell::new() };
    let mut walk = Walk { meaning, left: MAX_REPEATED, look };
    match definition {
        Definition::Item(..) => walk.visit(&root),
        Definition::Root(file) => {
            let lists = Definition::lists(file);
            let is_elsewhere =
                |name: &str, node: NodeRef<'_>| lists.contains(&name) && node.shape() == NodeShape::Sequence;
            if !is_elsewhere("", node) {
                walk.entries(&root, node, &is_elsewhere);
            }
        }
    }
}

/// Maximum number of values that are visited once more because aliases repeat them.
const MAX_REPEATED: usize = 20_000;

struct Walk<'l, 'd> {
    meaning: &'static HashSet<&'static str>,
    left: usize,
    look: &'l mut dyn FnMut(&Value<'_, 'd>),
}

impl<'d> Walk<'_, 'd> {
    fn visit(&mut self, value: &Value<'_, 'd>) {
        if !value.is_own() {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
        }
        (self.look)(value);
        for (index, node) in value.node.items().enumerate() {
            self.visit(&value.member(Step::Index(index), node, None, value.name, value.may_mean));
        }
        self.entries(value, value.node, &|_, _| false);
    }

    /// Visits the entries of a mapping, and those that are merged into it. `is_omitted` says by key and value which are
    /// not.
    fn entries(
        &mut self,
        holder: &Value<'_, 'd>,
        mapping: NodeRef<'d>,
        is_omitted: &dyn Fn(&str, NodeRef<'d>) -> bool,
    ) {
        for entry in mapping.entries() {
            if entry.is_merge() {
                self.merged(holder, entry, is_omitted);
                continue;
            }
            let name = name_of(entry.key);
            if is_omitted(&name, entry.value) {
                continue;
            }
            let may_mean = holder.may_mean || self.meaning.contains(&*name);
            let step = Step::Key(Cow::Borrowed(&name));
            self.visit(&holder.member(step, entry.value, Some(entry.key), &name, may_mean));
        }
    }

    /// Visits what is merged into a mapping, except for the keys that it has itself.
    fn merged(&mut self, holder: &Value<'_, 'd>, merge: EntryRef<'d>, is_omitted: &dyn Fn(&str, NodeRef<'d>) -> bool) {
        let is_list = merge.value.shape() == NodeShape::Sequence;
        let bases: Vec<NodeRef<'d>> = if is_list { merge.value.items().collect() } else { vec![merge.value] };
        for base in bases {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let is_own = |name: &str| holder.node.entries().any(|entry| name_of(entry.key) == name);
            self.entries(holder, base, &|name, value| is_own(name) || is_omitted(name, value));
        }
    }
}

fn name_of(key: NodeRef<'_>) -> Cow<'_, str> {
    key.as_str().map_or_else(|| key.key_text().into(), Cow::Borrowed)
}

impl<'w, 'd> Value<'w, 'd> {
    fn member<'m>(
        &'m self,
        step: Step<'m>,
        node: NodeRef<'d>,
        key: Option<NodeRef<'d>>,
        name: &'m str,
        may_mean: bool,
    ) -> Value<'m, 'd> {
        Value { node, key, name, place: Place::In(self, step), may_mean, shape: OnceCell::new() }
    }

    /// Returns what the schema says of it.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        let shape = || match &self.place {
            Place::Root(definition) => Some(definition.shape().at(Some(self.node))),
            Place::In(holder, step) => holder.shape()?.member_at(step, Some(self.node)),
        };
        self.shape.get_or_init(shape).as_ref()
    }

    /// Returns what a text means beyond its letters.
    fn word(&self) -> Option<Word> {
        if !self.may_mean || self.node.as_str().is_none() {
            return None;
        }
        self.shape()?.word()
    }

    /// Returns what fills the placeholders of a text: what the schema says of it, or else of what it is in.
    pub(crate) fn template(&self) -> Option<&'static str> {
        let around = || match &self.place {
            Place::Root(definition) => Shape::of(definition.file()).template(),
            Place::In(holder, _) => holder.template(),
        };
        self.shape().and_then(Shape::template).or_else(around)
    }

    /// Returns another member of the mapping that it is in.
    pub(crate) fn sibling(&self, key: &str) -> Option<Spot<'d>> {
        match &self.place {
            Place::Root(_) => None,
            Place::In(holder, _) => holder.spot().get(key),
        }
    }

    /// Whether it is written where it is, not behind an alias.
    fn is_own(&self) -> bool {
        !self.node.resolved().is_through_alias()
    }

    /// Returns the key that owns it. `None` for an item of a list.
    pub(crate) fn own_key(&self) -> Option<&str> {
        match &self.place {
            Place::In(_, step) => step.key(),
            Place::Root(_) => None,
        }
    }

    fn at(&self) -> Pointer {
        match &self.place {
            Place::Root(_) => Pointer::root(),
            Place::In(holder, step) => holder.at().step(step),
        }
    }

    /// Returns the node with its place.
    pub(crate) fn spot(&self) -> Spot<'d> {
        Spot { node: self.node, key: self.key, at: self.at() }
    }
}

/// Returns the keys whose values, or the items or members of them, may mean more than their type says.
fn meaning(file: SpecFile) -> &'static HashSet<&'static str> {
    static KEYS: PerFile<HashSet<&'static str>> = PerFile::new();
    KEYS.get(file, || {
        let mut keys = HashSet::new();
        collect(&Shape::of(file), "", 0, &mut keys);
        keys
    })
}

fn collect(shape: &Shape, name: &'static str, depth: usize, keys: &mut HashSet<&'static str>) {
    /// No format is deeper; a type that contains itself would be.
    const DEPTH: usize = 16;
    if depth > DEPTH {
        return;
    }
    let forms = shape.variants().into_iter().map(|variant| variant.shape).chain([shape.clone()]);
    for form in forms {
        if form.word().is_some() || form.at_most().is_some() {
            keys.insert(name);
        }
        for field in form.all_fields() {
            collect(&field.shape, field.name, depth + 1, keys);
        }
        for member in form.item().into_iter().chain(form.map_value()) {
            collect(&member, name, depth + 1, keys);
        }
    }
}
