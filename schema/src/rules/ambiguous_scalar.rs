pub(crate) mod clawspec;
pub(crate) mod cut_text;
pub(crate) mod kindlm;
pub(crate) mod tag;
pub(crate) mod yaml_1_1;

page! {
    /// YAML 1.1 and YAML 1.2 read an unquoted scalar differently, or an unquoted string is cut off at ` #`.
    "ambiguous-scalar", Hint
}
