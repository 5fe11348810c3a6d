use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, Location, MessageParts, Relation, Rule},
    problem::Code,
    shape::Shape,
    validate::{Context, fix, head},
    words::all_of,
};

/// Keys that exclude each other in a mapping.
#[derive(Debug)]
struct Excluding(Vec<&'static str>);

/// Several keys in an item that is one assertion.
#[derive(Debug)]
struct SeveralInItem {
    keys: Vec<String>,
    /// Location of the item: the finding is at its second key.
    item: Pointer,
}

/// Reports keys that exclude each other at the last of them.
pub(crate) fn several_of(context: &Context<'_>, at: Pointer) -> Finding {
    let alternatives = context.shape(&at).map(|shape: Shape| shape.alternatives()).unwrap_or_default();
    let entries = context.node.find(&at).into_iter().flat_map(NodeRef::entries);
    let mut present: Vec<(String, Range<usize>)> = entries
        .map(|entry| (entry.key.key_text(), entry.key.range()))
        .filter(|(key, _)| alternatives.contains(&key.as_str()))
        .collect();
    let rule = Excluding(alternatives);
    let Some((key, range)) = present.pop() else {
        let range = head(context.node, &at);
        return Finding::new(rule, at, range);
    };
    let finding = Finding::new(rule, at.key(&key), range);
    present.into_iter().fold(finding, |finding, (key, range)| {
        let place = at.key(&key);
        finding.related(Relation::KeyHere(key), place, range)
    })
}

/// Reports an item with several assertions.
pub(crate) fn too_many(context: &Context<'_>, at: Pointer) -> Finding {
    let entries = context.node.find(&at).into_iter().flat_map(NodeRef::entries);
    let keys: Vec<(String, Range<usize>)> = entries.map(|entry| (entry.key.key_text(), entry.key.range())).collect();
    let range = keys.get(1).map_or_else(|| head(context.node, &at), |(_, range)| range.clone());
    let rule = SeveralInItem { keys: keys.iter().map(|(key, _)| key.clone()).collect(), item: at.clone() };
    let finding = Finding::new(rule, at.clone(), range);
    match keys.into_iter().next() {
        Some((key, range)) => {
            let place = at.key(&key);
            finding.related(Relation::KeyHere(key), place, range)
        }
        None => finding,
    }
}

impl Rule for Excluding {
    const CODE: Code = Code::ConflictingFields;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let help = if self.0.len() == 2 { "remove one of the two" } else { "keep one of them" };
        MessageParts::new(format!("{} are mutually exclusive", all_of(self.0.iter().copied()))).help(help)
    }
}

impl Rule for SeveralInItem {
    const CODE: Code = Code::ConflictingFields;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        if let [key] = self.keys.as_slice() {
            return MessageParts::new(format!("`{key}` makes several assertions one list item"))
                .note("YAML does not join lists")
                .help("write each assertion as an item");
        }
        let names = all_of(self.keys.iter().map(String::as_str));
        let words =
            MessageParts::new(format!("{names} are in the same list item")).help(fix::split_into(self.keys.len()));
        words.fix(location.root.find(&self.item).and_then(fix::split))
    }
}
