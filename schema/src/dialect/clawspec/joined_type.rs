//! The type of an assertion with the value of another key on its line: `type: file_present: a`.

use super::{assertion::Assertion, assertion_lists::is_item, type_fields::fields_of};
use crate::{shape::Need, spot::Spot};

/// A type with the value of another key.
#[derive(Debug)]
pub(crate) struct JoinedType {
    /// The type.
    pub(crate) name: &'static str,
    /// The key that the type needs.
    pub(crate) key: &'static str,
    /// Its value.
    pub(crate) value: String,
}

impl JoinedType {
    /// Reads the value of a key. `None` for a text that YAML allows, and for another key.
    pub(crate) fn of(kind: &Spot<'_>) -> Option<JoinedType> {
        let is_type = kind.at.last().as_deref() == Some("type") && kind.at.parent().is_some_and(|at| is_item(&at));
        let text = kind.text().filter(|_| is_type)?;
        let (name, value) = text.split_once(':')?;
        // In quotes, or in a block, it is a text.
        let first = kind.node.document().text().get_byte(kind.node.own_range().start);
        if first != text.bytes().next() || !value.is_empty() && !value.starts_with(char::is_whitespace) {
            return None;
        }
        let name = Assertion::type_info(name.trim_end())?.name;
        let mut fields = fields_of(name).into_iter();
        let key = fields.find(|field| field.name != "type" && field.need == Need::Required)?.name;
        Some(JoinedType { name, key, value: value.trim().to_owned() })
    }
}
