//! Names that a document defines and refers to, where its schema declares them: `x-defines` and `x-refers`.

mod declaration;

use std::collections::HashSet;

use crate::{
    document::NodeRef,
    json_schema::SpecFile,
    lint_node::LintNode,
    shape::{Shape, Word},
    spec_file::PerFile,
    validate::Definition,
    words::nearest,
};

pub use declaration::Role;
pub(crate) use declaration::{Declaration, Name, Named};

/// Places of names in a kind of file.
struct Declarations {
    /// Outside of the items of top-level lists.
    root: Vec<Declaration>,
    /// In the items of each top-level list.
    items: Vec<(&'static str, Vec<Declaration>)>,
    /// Kinds of names that are defined at the root, or by the items of a top-level list.
    kinds: HashSet<&'static str>,
}

impl Declarations {
    fn of(file: SpecFile) -> &'static Declarations {
        static DECLARATIONS: PerFile<Declarations> = PerFile::new();
        DECLARATIONS.get(file, || {
            let mut root = collected(&Shape::of(file));
            let lists = Definition::lists(file).iter();
            root.retain(|it| !lists.clone().any(|list| it.path.starts_with(path_of(list))));
            let items: Vec<_> = lists.map(|list| (*list, collected(Definition::Item(file, list).shape()))).collect();
            let own = items.iter().flat_map(|(_, items)| items).filter(|it| it.is_own());
            let kinds = root.iter().chain(own).filter(|it| it.role == Role::Defines).map(|it| it.kind).collect();
            Declarations { root, items, kinds }
        })
    }
}

/// Collects the places of names in a kind of file, once.
pub(crate) fn prepare(file: SpecFile) {
    Declarations::of(file);
}

fn path_of<'l>(list: &'l &'static str) -> &'l [&'static str] {
    if list.is_empty() { &[] } else { std::slice::from_ref(list) }
}

fn collected(shape: &Shape) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    shape.each_below(&mut |path, shape| {
        let (kind, role) = match shape.word() {
            Some(Word::Defines(kind)) => (kind, Role::Defines),
            Some(Word::Refers(kind)) => (kind, Role::Refers),
            // A text that must differ from the others, but that nothing refers to.
            None if shape.has_name_words() => ("", Role::Defines),
            Some(Word::File(_) | Word::Pattern(_) | Word::Template(_) | Word::Shell) | None => return,
        };
        if !found.iter().any(|it| (it.path.as_slice(), it.kind, it.role) == (path, kind, role)) {
            found.push(Declaration { path: path.to_vec(), kind, role, shape: shape.clone() });
        }
    });
    found
}

/// Returns the places of names in a part of a file: the root without its lists, or an item of one of them.
pub(crate) fn declared(definition: Definition) -> &'static [Declaration] {
    let declarations = Declarations::of(definition.file());
    match definition {
        Definition::Root(_) => &declarations.root,
        Definition::Item(_, list) => {
            let of_list = declarations.items.iter().find(|(known, _)| *known == list);
            of_list.map(|(_, items)| items.as_slice()).unwrap_or_default()
        }
    }
}

/// Whether a kind of file defines names of a kind, outside of items or as the names of items.
pub(crate) fn are_defined_in(file: SpecFile, kind: &str) -> bool {
    Declarations::of(file).kinds.contains(kind)
}

/// Returns the own name of an item, and the names that it refers to and that the file defines elsewhere. `None` if
/// the items of its list have no such names.
pub(crate) fn of_item(item: NodeRef<'_>, definition: Definition) -> Option<Vec<Name>> {
    let kinds = &Declarations::of(definition.file()).kinds;
    let start = item.range().start;
    let is_meant = |declaration: &&Declaration| match declaration.role {
        Role::Defines => declaration.is_own(),
        Role::Refers => kinds.contains(declaration.kind),
    };
    let mut meant = declared(definition).iter().filter(is_meant).peekable();
    meant.peek()?;
    let mut names = Vec::new();
    for declaration in meant {
        declaration.each(LintNode::root(item), &mut |text, node| {
            let named = Named::new(text, &node.at, declaration.range(&node), start);
            names.push(Name { declaration, named });
        });
    }
    Some(names)
}

/// Returns the names of a kind in a document: the key or the value that has each name, and the value that it names.
/// Definitions inside of items are not included.
pub fn mentions<'d>(root: NodeRef<'d>, file: SpecFile, kind: &str, role: Role) -> Vec<(NodeRef<'d>, NodeRef<'d>)> {
    let mut found = Vec::new();
    let is_meant = |it: &&Declaration| it.kind == kind && it.role == role;
    for declaration in declared(Definition::Root(file)).iter().filter(is_meant) {
        declaration.each(LintNode::root(root), &mut |_, node| {
            found.push((node.key.filter(|_| declaration.is_keys()).unwrap_or(node.node), node.node));
        });
    }
    for list in Definition::lists(file) {
        let meant = declared(Definition::Item(file, list)).iter().filter(is_meant);
        for declaration in meant.filter(|it| role == Role::Refers || it.is_own()) {
            let items = Definition::list_in(root, list).into_iter().flat_map(NodeRef::items);
            items.for_each(|item| {
                declaration.each(LintNode::root(item), &mut |_, node| found.push((node.node, item)));
            });
        }
    }
    found
}

/// Returns the name of one thing of a kind: "model".
pub(crate) fn singular(kind: &str) -> &str {
    kind.strip_suffix('s').unwrap_or(kind)
}

/// Returns the top-level keys that unknown ones resemble: for these, the misspelled key is the problem.
pub(crate) fn misspelled_sections(root: &LintNode<'_>, file: SpecFile) -> Vec<&'static str> {
    let names: Vec<&'static str> = Shape::of(file).fields(None).iter().map(|field| field.name).collect();
    let unknown = root.entries().into_iter().map(|(key, _)| key).filter(|key| !names.contains(&key.as_str()));
    unknown.filter_map(|key| nearest(&key, names.iter().copied())).collect()
}
