//! What is reported beyond the types of the schema, in all formats: one file for each kind of problem, with the check,
//! the message and its fixes. [`Code`](crate::problem::Code) lists the kinds.

pub(crate) mod ambiguous_scalar;
pub(crate) mod collision;
pub(crate) mod conflicting_fields;
pub(crate) mod contradiction;
pub(crate) mod duplicate_name;
pub(crate) mod invalid_path;
pub(crate) mod invalid_pattern;
pub(crate) mod invalid_setting;
pub(crate) mod invalid_value;
pub(crate) mod merge_key;
pub(crate) mod missing_field;
pub(crate) mod missing_file;
pub(crate) mod missing_variable;
pub(crate) mod out_of_range;
pub(crate) mod pasted_secret;
pub(crate) mod placeholder;
pub(crate) mod shell_quoting;
pub(crate) mod suspicious_pattern;
pub(crate) mod syntax;
pub(crate) mod unknown_key;
pub(crate) mod unknown_reference;
pub(crate) mod unquoted_template;
pub(crate) mod wrong_type;
