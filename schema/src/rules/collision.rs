pub(crate) mod shadowed;
