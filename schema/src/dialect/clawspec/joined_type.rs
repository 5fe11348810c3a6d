//! An assertion type that is joined with another key on its line: `type: file_present: a`.

use super::{assertion::Assertion, assertion_lists::is_item, type_fields::fields_of};
use crate::{lint_node::LintNode, shape::Need};

/// A type joined with another key.
#[derive(Debug)]
pub(crate) struct JoinedType {
    /// Name of the type.
    pub(crate) name: &'static str,
    /// Key that the type requires.
    pub(crate) key: &'static str,
    /// Value of the key.
    pub(crate) value: String,
}

impl JoinedType {
    /// Reads the value of `type`. `None` if it is a plain string, or if the key is another one.
    pub(crate) fn of(kind: &LintNode<'_>) -> Option<JoinedType> {
        let text = kind.text()?;
        let (name, value) = text.split_once(':')?;
        if kind.at.last().as_deref() != Some("type") || !kind.at.parent().is_some_and(|at| is_item(&at)) {
            return None;
        }
        // In quotes, or as a block scalar, it is a string.
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
