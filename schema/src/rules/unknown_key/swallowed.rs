//! Keys that are indented into a mapping with free keys above which they belong: `expect` in `vars`.

use crate::{
    document::Pointer,
    edit,
    finding::{Finding, Location, MessageParts, Rule, Scope},
    names,
    problem::{Code, Fix, Severity},
    shape::KeyPath,
    validate::{Context, head},
    words::all_of,
};

/// Keys of an enclosing mapping.
#[derive(Debug)]
struct Swallowed {
    keys: Vec<String>,
    /// The enclosing mapping, and the place in words.
    outer: Pointer,
    owner: String,
}

/// Reports keys of the mapping at `outer`. `at` is the first one.
pub(crate) fn of(context: &Context<'_>, at: Pointer, keys: Vec<String>, outer: Pointer) -> Finding {
    let owner = context.mapping(&outer).here.as_ref().map(owner).unwrap_or_default();
    let range = head(context.node, &at);
    let holder = at.parent().unwrap_or_default();
    // No template uses them, because they are not names.
    let unused: Vec<Scope> = keys.iter().map(|key| Scope::CodeAt(Code::Unused, holder.key(key))).collect();
    let finding = Finding::new(Swallowed { keys, outer, owner }, at, range);
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

impl Rule for Swallowed {
    const CODE: Code = Code::UnknownKey;
    const SEVERITY: Severity = Severity::Error;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let Swallowed { keys, outer, owner } = self;
        let holder = location.at.parent().and_then(|parent| parent.below(outer));
        let Some(holder) = holder.and_then(|below| Some(below.steps().next()?.to_string())) else {
            return MessageParts::new("this key belongs to an enclosing mapping");
        };
        let names = all_of(keys.iter().map(String::as_str));
        let verb = if keys.len() == 1 { "belongs" } else { "belong" };
        let within = location.at.parent().and_then(|parent| parent.last()).unwrap_or_default();
        let words = MessageParts::new(format!("{names} {verb} to {owner}, not to `{within}`"));
        let start = |range: std::ops::Range<usize>| {
            let text = location.root.document().text();
            range.start - text.line_to_byte(text.byte_to_line(range.start))
        };
        let entry = location.parent().and_then(|parent| parent.entry(keys.first()?));
        let columns = entry.zip(location.root.find(outer).and_then(|outer| outer.entry(&holder)));
        let less = columns.map(|(own, outer)| start(own.key.range()).saturating_sub(start(outer.key.range())));
        let is_flow = location.parent().is_some_and(edit::is_flow);
        let help = match less.filter(|less| *less > 0 && !is_flow) {
            Some(less) => {
                format!("move {} out of `{holder}`: indent by {less} less", if keys.len() == 1 { "it" } else { "them" })
            }
            None => format!("move {} out of `{holder}`", if keys.len() == 1 { "it" } else { "them" }),
        };
        let edits = match keys.as_slice() {
            [key] => location
                .parent()
                .zip(location.root.find(outer))
                .and_then(|(parent, outer)| edit::beside(parent, key, outer, &holder)),
            _ => None,
        };
        words.remedy(help, Fix::guess, edits)
    }
}
