pub(crate) mod clawspec;
pub(crate) mod cut_text;
pub(crate) mod kindlm;
pub(crate) mod number;
pub(crate) mod stray_sign;
pub(crate) mod tag;
pub(crate) mod yaml_1_1;

page! {
    /// YAML 1.1 and YAML 1.2 read an unquoted scalar differently, or an unquoted string is cut off at ` #`
    /// or at a comma.
    "ambiguous-scalar", Hint
}
