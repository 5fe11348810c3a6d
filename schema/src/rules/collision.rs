//! Items that an earlier item of the same list replaces.

pub(crate) mod shadowed;
