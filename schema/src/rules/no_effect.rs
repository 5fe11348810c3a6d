pub(crate) mod gateway;
pub(crate) mod script;
