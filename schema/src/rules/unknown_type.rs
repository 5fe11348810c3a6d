use crate::{
    dialect::clawspec::{
        assertion::Assertion,
        type_fields::{assertion_shape, fields_of},
    },
    document::NodeRef,
    edit,
    finding::{Report, Rule, Scope, Site, Words},
    problem::{Code, Edit, Fix},
    shape::{Need, Type},
    spot::Spot,
    words::nearest,
};

page! {
    /// An assertion of a type that does not exist. It checks nothing.
    "unknown-type", Error
}

/// The type of an assertion elsewhere than under `type`: as a key, as in other formats, or under another key.
#[derive(Debug)]
struct NotUnderType {
    name: String,
    /// Whether another key than `type` has it.
    is_value: bool,
}

/// Looks for the type of an assertion that has none under `type`.
pub(crate) fn check_assertion(assertion: &Spot<'_>, report: &mut Report) {
    if !assertion.is_mapping() || assertion.get("type").is_some() {
        return;
    }
    let entries = assertion.entries();
    let is_type = |name: &str| Assertion::type_info(name).is_some();
    let shape = assertion_shape();
    let is_called = |key: &str| shape.as_ref().is_some_and(|shape| shape.field_called(key, None).is_some());
    let is_tag = |key: &str| is_called(key) || nearest(key, ["type"]).is_some();
    let tagged = entries.iter().find(|(key, value)| is_tag(key) && value.text().is_some_and(is_type));
    let named = entries.iter().find(|(key, _)| is_type(key));
    let (member, name, is_value) = match (tagged, named) {
        (Some((_, member)), _) => (member, member.text().unwrap_or_default(), true),
        (None, Some((key, member))) => (member, key.as_str(), false),
        (None, None) => return,
    };
    let places = [assertion.at.key("type"), member.at.clone(), assertion.at.clone()];
    let finding = member.head_finding(NotUnderType { name: name.to_owned(), is_value });
    report.push(places.into_iter().fold(finding, |finding, at| finding.instead_of(Scope::At(at))));
}

/// The edits that make `type: name` of `name: …`, with what is below the name beside it.
fn spelled_out(assertion: &Spot<'_>, name: &str, member: &Spot<'_>) -> Option<Vec<Edit>> {
    let field = only_field(name, member.node).and_then(|(field, is_list)| {
        let words = edit::words(member.node)?;
        Some(if is_list { format!("{field}: [{words}]") } else { format!("{field}: {words}") })
    });
    edit::split_key(assertion.node, member.entry()?, &format!("type: {name}"), field.as_deref())
}

/// The field that a type needs, where it is one, and whether it is a list; nothing where the value does not fit.
fn only_field(name: &str, value: NodeRef<'_>) -> Option<(&'static str, bool)> {
    let fields = fields_of(name);
    let mut needed = fields.iter().filter(|field| field.need == Need::Required && field.name != "type");
    let field = needed.next().filter(|_| needed.next().is_none())?;
    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
    match field.shape.kind() {
        Type::Text if is_text => Some((field.name, false)),
        Type::List if is_text => Some((field.name, true)),
        Type::Number | Type::Integer if value.as_str().is_none() && !value.is_null() => Some((field.name, false)),
        Type::Text | Type::List | Type::Number | Type::Integer | Type::Boolean | Type::Mapping | Type::Any => None,
    }
}

impl Rule for NotUnderType {
    fn code(&self) -> Code {
        Code::UnknownType
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let name = &self.name;
        let assertion = site.at.parent().and_then(|at| Spot::root(site.root).at(&at));
        let edits = site.spot().zip(assertion).and_then(|(member, assertion)| match self.is_value {
            true => member.renamed("type"),
            false => spelled_out(&assertion, name, &member),
        });
        let help = format!("write `type: {name}`");
        Words::new("the type of the assertion is not in the key `type`, so nothing is checked")
            .fix(edits.map(|edits| Fix::safe(&help, edits)))
            .help(help)
    }
}
