//! Values that YAML reads differently than they look.

pub(crate) mod cut_text;
pub(crate) mod number;
pub(crate) mod stray_sign;
pub(crate) mod tag;
pub(crate) mod yaml_1_1;
