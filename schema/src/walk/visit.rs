//! Visits the values of a part of a document, and collects what the schema of its kind of file says of them.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::value::{Meaning, Value};
use crate::{
    document::{NodeRef, Shape as NodeShape, Step},
    json_schema::SpecFile,
    shape::{Shape, Word},
    spec_file::PerFile,
    template_syntax,
    validate::Definition,
};

/// Visits every value of a part of a document, following aliases; for the root, all but the lists whose items are
/// checked separately.
pub(super) fn each<'d>(node: NodeRef<'d>, definition: Definition, look: &mut dyn FnMut(&Value<'_, 'd>)) {
    let name = match definition {
        Definition::Root(_) => "",
        Definition::Item(_, list) => list,
    };
    let meaning = Meaning::of(definition.file());
    let is_fixed = matches!(definition, Definition::Root(file) if !Definition::lists(file).is_empty());
    let root = Value::root(node, name, definition.shape(), is_fixed, meaning);
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
