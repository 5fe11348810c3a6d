pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// ClawSpec, KindLM or cli-bench, in the version that speclens knows, rejects the file or reads it differently. Each
    /// difference is reported once per file. It is an error for the programs listed under `compat` in `speclens.yaml`.
    "upstream-differs", Hint
}
