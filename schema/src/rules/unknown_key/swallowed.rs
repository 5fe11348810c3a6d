//! Keys that are indented into a mapping with free keys above which they belong: `expect` in `vars`.

use crate::{
    document::Pointer,
    edit,
    finding::{Finding, MessageParts, Scope},
    key_path::KeyPath,
    lint_node::head,
    names,
    problem::{Code, Fix, Severity},
    validate::Context,
    words::all_of,
};

/// Reports keys of the mapping at `outer`. `at` is the first one.
pub(crate) fn of(context: &Context<'_>, at: Pointer, keys: Vec<String>, outer: Pointer) -> Finding {
    let owner = context.mapping(&outer).here.as_ref().map(owner).unwrap_or_default();
    let range = head(context.node, &at);
    let holder = at.parent().unwrap_or_default();
    // No template uses them, because they are not names.
    let unused: Vec<Scope> = keys.iter().map(|key| Scope::CodeAt(Code::Unused, holder.key(key))).collect();
    let words = words(context, &at, &keys, &outer, &owner);
    let finding = Finding::stated(Code::UnknownKey, words, at, range).with_severity(Severity::Error);
    unused.into_iter().fold(finding, Finding::instead_of)
}

/// Returns a place as the owner of a key: "the test", "`target`".
fn owner(place: &KeyPath) -> String {
    match place.0.as_slice() {
        [] => "the top level".to_owned(),
        [.., list, "[]"] => match names::singular(list) {
            noun if noun != *list => format!("the {noun}"),
            _ => format!("the item of `{list}`"),
        },
        [.., key] => format!("`{key}`"),
    }
}

fn words(context: &Context<'_>, at: &Pointer, keys: &[String], outer: &Pointer, owner: &str) -> MessageParts {
    let root = context.node;
    let parent = at.parent().and_then(|parent| root.find(&parent));
    let holder = at.parent().and_then(|parent| parent.below(outer));
    let Some(holder) = holder.and_then(|below| Some(below.steps().next()?.to_string())) else {
        return MessageParts::new("this key belongs to an enclosing mapping");
    };
    let names = all_of(keys.iter().map(String::as_str));
    let verb = if keys.len() == 1 { "belongs" } else { "belong" };
    let within = at.parent().and_then(|parent| parent.last()).unwrap_or_default();
    let words = MessageParts::new(format!("{names} {verb} to {owner}, not to `{within}`"));
    let start = |range: std::ops::Range<usize>| {
        let text = root.document().text();
        range.start - text.line_to_byte(text.byte_to_line(range.start))
    };
    let entry = parent.and_then(|parent| parent.entry(keys.first()?));
    let columns = entry.zip(root.find(outer).and_then(|outer| outer.entry(&holder)));
    let less = columns.map(|(own, outer)| start(own.key.range()).saturating_sub(start(outer.key.range())));
    let is_flow = parent.is_some_and(edit::nodes::is_flow);
    let help = match less.filter(|less| *less > 0 && !is_flow) {
        Some(less) => {
            format!("move {} out of `{holder}`: indent by {less} less", if keys.len() == 1 { "it" } else { "them" })
        }
        None => format!("move {} out of `{holder}`", if keys.len() == 1 { "it" } else { "them" }),
    };
    let edits = match keys {
        [key] => parent.zip(root.find(outer)).and_then(|(parent, outer)| edit::beside(parent, key, outer, &holder)),
        _ => None,
    };
    words.remedy(help, Fix::guess, edits)
}
