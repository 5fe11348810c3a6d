pub(crate) mod tab;
