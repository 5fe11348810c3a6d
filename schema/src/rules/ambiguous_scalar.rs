pub(crate) mod cut_text;
pub(crate) mod tag;

page! {
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently, or a string without quotes that ends at a ` #` which is
    /// most likely part of it.
    "ambiguous-scalar", Hint
}
