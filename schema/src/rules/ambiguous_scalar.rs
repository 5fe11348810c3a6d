pub(crate) mod clawspec;
pub(crate) mod cut_text;
pub(crate) mod kindlm;
pub(crate) mod tag;
pub(crate) mod yaml_1_1;

page! {
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently, or a string without quotes that ends at a ` #` which is
    /// most likely part of it.
    "ambiguous-scalar", Hint
}
