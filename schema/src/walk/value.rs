//! A value of a document with its schema, as the rules see it.

use std::{borrow::Cow, cell::OnceCell};

use rustc_hash::FxHashSet;

use crate::{
    document::{NodeRef, Pointer, Shape as NodeShape, Step},
    json_schema::SpecFile,
    lint_node::LintNode,
    shape::{Compared, Shape, Word},
    spec_file::PerFile,
    template_syntax,
    validate::Definition,
};

/// A visited value.
pub struct Value<'w, 'd> {
    pub(crate) node: NodeRef<'d>,
    /// Its text, if it is a string.
    pub(crate) text: Option<&'d str>,
    key: Option<NodeRef<'d>>,
    /// Nearest enclosing key, including that of the list; empty at the root.
    pub(crate) name: &'w str,
    place: ValueLocation<'w, 'd>,
    /// Whether the schema may have a keyword that the rules here use.
    pub(super) may_mean: bool,
    shape: OnceCell<Option<Shape>>,
}

enum ValueLocation<'w, 'd> {
    Root(Definition),
    /// Inside another value.
    In(&'w Value<'w, 'd>, Step<'w>),
}

/// Visits every value of a part of a document, following aliases; for the root, all but the lists whose items are
/// checked separately.
pub(super) fn each<'d>(node: NodeRef<'d>, definition: Definition, look: &mut dyn FnMut(&Value<'_, 'd>)) {
    let name = match definition {
        Definition::Root(_) => "",
        Definition::Item(_, list) => list,
    };
    let meaning = Meaning::of(definition.file());
    let may_mean = meaning.keys.contains(name);
    let place = ValueLocation::Root(definition);
    let root = Value { node, text: node.as_str(), key: None, name, place, may_mean, shape: OnceCell::new() };
    let mut walk = Walk { meaning, left: MAX_REPEATED, look };
    match definition {
        Definition::Item(..) => walk.visit(&root),
        Definition::Root(file) => {
            let lists = Definition::lists(file);
            let is_elsewhere =
                |name: &str, node: NodeRef<'_>| lists.contains(&name) && node.shape() == NodeShape::Sequence;
            if node.shape() == NodeShape::Scalar {
                walk.visit(&root);
            } else if !is_elsewhere("", node) {
                walk.entries(&root, node, &is_elsewhere);
                // Their items are checked separately, the lists themselves are not.
                for entry in node.entries().filter(|entry| !entry.is_merge()) {
                    let name = entry.key.key_name();
                    if is_elsewhere(&name, entry.value) {
                        let step = Step::Key(Cow::Borrowed(&name));
                        let is_meant = meaning.keys.contains(&*name);
                        (walk.look)(&root.member(step, entry.value, Some(entry.key), &name, is_meant));
                    }
                }
            }
        }
    }
}

/// Maximum number of values to visit again because aliases repeat them.
const MAX_REPEATED: usize = 20_000;

struct Walk<'l, 'd> {
    meaning: &'static Meaning,
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

    /// Visits the entries of a mapping, including merged ones. `is_omitted` returns by key and value which ones to
    /// skip.
    fn entries(
        &mut self,
        holder: &Value<'_, 'd>,
        mapping: NodeRef<'d>,
        is_omitted: &dyn Fn(&str, NodeRef<'d>) -> bool,
    ) {
        for entry in mapping.entries().filter(|entry| !entry.is_merge()) {
            let name = entry.key.key_name();
            if is_omitted(&name, entry.value) {
                continue;
            }
            let may_mean = holder.may_mean || self.meaning.keys.contains(&*name);
            let step = Step::Key(Cow::Borrowed(&name));
            self.visit(&holder.member(step, entry.value, Some(entry.key), &name, may_mean));
        }
        self.merged(holder, mapping, is_omitted);
    }

    /// Visits what is merged into a mapping, except for keys that it has itself or from a mapping before.
    fn merged(&mut self, holder: &Value<'_, 'd>, mapping: NodeRef<'d>, is_omitted: &dyn Fn(&str, NodeRef<'d>) -> bool) {
        let bases = mapping.bases();
        if bases.is_empty() {
            return;
        }
        let names = |mapping: NodeRef<'d>| mapping.entries().map(|entry| entry.key.key_name());
        let mut taken: FxHashSet<Cow<'d, str>> = names(holder.node).collect();
        for base in bases {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            self.entries(holder, base, &|name, value| taken.contains(name) || is_omitted(name, value));
            taken.extend(names(base));
        }
    }
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
        let place = ValueLocation::In(self, step);
        Value { node, text: node.as_str(), key, name, place, may_mean, shape: OnceCell::new() }
    }

    /// Returns the schema of the value.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        let shape = || match &self.place {
            // Conditions of a root with lists depend on every item. They decide which keys are required, not what they mean.
            ValueLocation::Root(Definition::Root(file)) if !Definition::lists(*file).is_empty() => {
                Some(Definition::Root(*file).shape().clone())
            }
            ValueLocation::Root(definition) => Some(definition.shape().at(Some(self.node))),
            ValueLocation::In(holder, step) => holder.shape()?.member_at(step, Some(self.node)),
        };
        self.shape.get_or_init(shape).as_ref()
    }

    /// Returns the meaning of a string.
    pub(super) fn word(&self) -> Option<Word> {
        self.text?;
        self.shape()?.word()
    }

    /// Returns the source of values for placeholders: from the schema of the string, or else from that of its parent.
    pub(crate) fn template(&self) -> Option<&'static str> {
        let around = || match &self.place {
            ValueLocation::Root(_) => None,
            ValueLocation::In(holder, _) => holder.template(),
        };
        Meaning::of(self.file()).syntax.or_else(|| self.shape()?.template()).or_else(around)
    }

    /// Returns the allowed names of placeholders; `None` if all are allowed.
    pub(crate) fn template_names(&self) -> Option<Vec<&'static str>> {
        if Meaning::of(self.file()).is_limited { self.shape()?.template_names() } else { None }
    }

    pub(crate) fn file(&self) -> SpecFile {
        match &self.place {
            ValueLocation::Root(definition) => definition.file(),
            ValueLocation::In(holder, _) => holder.file(),
        }
    }

    /// Returns another member of the same mapping.
    pub(crate) fn sibling(&self, key: &str) -> Option<LintNode<'d>> {
        match &self.place {
            ValueLocation::Root(_) => None,
            ValueLocation::In(holder, _) => holder.lint_node().get(key),
        }
    }

    pub(crate) fn holder(&self) -> Option<&Value<'w, 'd>> {
        match &self.place {
            ValueLocation::Root(_) => None,
            ValueLocation::In(holder, _) => Some(holder),
        }
    }

    /// Returns how it is compared, by what the schema says of it, of the list that it is in, or of a value around it
    /// whose texts are compared.
    pub(crate) fn compared(&self) -> Option<Compared> {
        self.declared(Shape::compared).or_else(|| self.compared_around())
    }

    fn compared_around(&self) -> Option<Compared> {
        match &self.place {
            ValueLocation::In(holder, _) => {
                holder.shape().and_then(Shape::declared_compared).or_else(|| holder.compared_around())
            }
            ValueLocation::Root(_) => None,
        }
    }

    /// Returns what the schema says of it, or of the list that it is in.
    pub(crate) fn declared<T>(&self, look: impl Fn(&Shape) -> Option<T>) -> Option<T> {
        let of_list = || match &self.place {
            ValueLocation::In(holder, Step::Index(_)) => look(holder.shape()?),
            ValueLocation::In(_, Step::Key(_)) | ValueLocation::Root(_) => None,
        };
        self.shape().and_then(&look).or_else(of_list)
    }

    /// Whether it is written here, not behind an alias.
    pub(super) fn is_own(&self) -> bool {
        !self.node.resolved().is_through_alias()
    }

    /// Returns the key, and the mapping that it is in, if nothing is written after it.
    pub(crate) fn lone_key(&self) -> Option<(NodeRef<'d>, &Value<'w, 'd>)> {
        match &self.place {
            ValueLocation::In(mapping, _) if self.node.is_null() && self.node.own_range().is_empty() => {
                Some((self.key?, *mapping))
            }
            ValueLocation::In(..) | ValueLocation::Root(_) => None,
        }
    }

    /// Returns the key of the value. `None` for an item of a list.
    pub(crate) fn own_key(&self) -> Option<&str> {
        match &self.place {
            ValueLocation::In(_, step) => step.key(),
            ValueLocation::Root(_) => None,
        }
    }

    fn at(&self) -> Pointer {
        match &self.place {
            ValueLocation::Root(_) => Pointer::root(),
            ValueLocation::In(holder, step) => holder.at().step(step),
        }
    }

    pub(crate) fn lint_node(&self) -> LintNode<'d> {
        LintNode { node: self.node, key: self.key, at: self.at() }
    }
}

/// Keywords in the schema of a kind of file that the rules here use. For most values, no access to the schema is
/// necessary.
#[derive(Default)]
pub(super) struct Meaning {
    /// Keys whose values, including nested ones, are checked.
    keys: FxHashSet<&'static str>,
    /// Source of values for the placeholders of every string.
    syntax: Option<&'static str>,
    /// Whether placeholders without a value are reported in some strings.
    pub(super) is_filled: bool,
    /// Whether some strings have fewer variables than others.
    is_limited: bool,
}

impl Meaning {
    pub(super) fn of(file: SpecFile) -> &'static Meaning {
        static MEANINGS: PerFile<Meaning> = PerFile::new();
        MEANINGS.get(file, || {
            let root = Shape::of(file);
            let mut meaning = Meaning { syntax: root.template(), ..Meaning::default() };
            meaning.collect(file, &root, "", &mut FxHashSet::default());
            meaning
        })
    }

    /// `seen`: the schemas that were looked at, with the key that they were found at. Types may be recursive, and most are
    /// used at many places.
    fn collect(
        &mut self,
        file: SpecFile,
        shape: &Shape,
        name: &'static str,
        seen: &mut FxHashSet<(u64, &'static str)>,
    ) {
        if !seen.insert((shape.id(), name)) {
            return;
        }
        let forms = shape.variants().into_iter().map(|variant| variant.shape).chain([shape.clone()]);
        for form in forms {
            self.add(file, name, &form);
            for field in form.chosen_fields() {
                self.collect(file, &field.shape, field.name, seen);
            }
            for member in form.item().into_iter().chain(form.map_value()) {
                self.collect(file, &member, name, seen);
            }
        }
    }

    fn add(&mut self, file: SpecFile, name: &'static str, form: &Shape) {
        let is_pattern = matches!(form.word(), Some(Word::Pattern(_)));
        let directories = file.dialect().zip(form.shares()).and_then(|(format, kind)| format.directories(kind));
        if is_pattern
            || directories.is_some()
            || form.exists_before().is_some()
            || form.is_inside()
            || form.at_most().is_some()
            || form.is_shell()
            || form.is_url()
            || form.declares_problems()
        {
            self.keys.insert(name);
        }
        let syntax = form.template().and_then(template_syntax::syntax);
        self.is_filled |= syntax.is_some_and(|syntax| syntax.missing_value.is_some());
        self.is_limited |= form.template_names().is_some();
    }
}
