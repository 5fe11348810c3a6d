//! The models of a suite, by their ids.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use speclens_schema::{
    evidence::{AskedModel, RunError, RunErrorKind},
    mask::holds_secret,
    settings::Settings,
    suite::PromptAction,
};

use super::{
    Model,
    failure::RequestDeadline,
    manual::{self, Manual},
    network::{Network, RequestLimit},
    price::{self, Quote},
    provider::{self, Key, Target, read_keys},
    script::Scripted,
};

#[derive(Debug)]
pub struct Models {
    settings: Arc<Settings>,
    keys: BTreeMap<String, Key>,
    request_limit: RequestLimit,
    directory: PathBuf,
    opened: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub host: String,
    pub is_gateway: bool,
    pub key: KeyState,
    /// The price; `None` if it is not known.
    pub price: Option<Quote>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    NotNeeded,
    Set(String),
    Missing(String),
}

impl Models {
    /// Reads the keys from the environment. `requests` is the number of requests that may be in flight at once.
    pub fn new(settings: Arc<Settings>, requests: usize, environment: impl Fn(&str) -> Option<String>) -> Models {
        let names = provider::key_variables(&settings);
        let keys = read_keys(&names, environment);
        Models {
            settings,
            keys,
            request_limit: RequestLimit::new(requests),
            directory: PathBuf::new(),
            opened: Mutex::default(),
        }
    }

    pub fn in_directory(self, directory: &Path) -> Models {
        Models { directory: directory.to_owned(), ..self }
    }

    /// Opens a model. Nothing is sent: the error names what is missing.
    pub fn open(&self, id: &str) -> Result<Arc<dyn Model>, RunError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = opened.get(id) {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = match (Scripted::of_id(id, &self.directory), id) {
            (Some(scripted), _) => Arc::new(scripted?),
            (None, manual::ID) => Arc::new(Manual::at_terminal()?),
            (None, _) => Arc::new(self.network(id)?),
        };
        opened.insert(id.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// Opens the model for a question. If its suite gives an address or a variable for the key, they are used. Nothing
    /// is sent.
    pub fn open_peer(&self, asked: &AskedModel) -> Result<Arc<dyn Model>, RunError> {
        self.open_within(asked, self.settings.limits.request_deadline(), "`limits.request_seconds` in `speclens.yaml`")
    }

    /// Opens the model with an id for a prompt.
    pub fn open_for(&self, prompt: &PromptAction, id: &str) -> Result<Arc<dyn Model>, RunError> {
        let asked = prompt.model(id).asked;
        if asked.provider.is_empty() {
            return self.open(id);
        }
        self.open_within(&asked, Duration::from_millis(prompt.timeout_ms), "`defaults.timeoutMs`")
    }

    fn open_within(
        &self,
        asked: &AskedModel,
        deadline: Duration,
        raise: &'static str,
    ) -> Result<Arc<dyn Model>, RunError> {
        let id = asked.id();
        if Scripted::of_id(&id, &self.directory).is_some() {
            return self.open(&id);
        }
        let key = format!("{asked:?} {deadline:?}");
        if let Some(model) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(model));
        }
        let target = self.target_of(asked)?;
        let model: Arc<dyn Model> = Arc::new(self.reached(target, &id, RequestDeadline { limit: deadline, raise })?);
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&model));
        Ok(model)
    }

    /// Reads the keys in more variables: those that a suite names.
    pub fn also_with(mut self, names: &BTreeSet<String>, environment: impl Fn(&str) -> Option<String>) -> Models {
        self.keys.extend(read_keys(names, environment));
        self
    }

    #[cfg(test)]
    pub(crate) fn put(&self, id: &str, model: Arc<dyn Model>) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), model);
    }

    fn network(&self, id: &str) -> Result<Network, RunError> {
        let limit = self.settings.limits.request_deadline();
        let raise = "`limits.request_seconds` in `speclens.yaml`";
        self.reached(self.target(id)?, id, RequestDeadline { limit, raise })
    }

    fn reached(&self, target: Target, id: &str, deadline: RequestDeadline) -> Result<Network, RunError> {
        let key = match self.key(&target) {
            Ok(key) => key.map(|(variable, key)| (variable.to_owned(), key.clone())),
            Err(variable) => return Err(self.missing(&target, variable, id)),
        };
        let header = |(name, value): &(String, String)| match provider::variable_of(value) {
            None => Ok((name.clone(), value.clone(), None)),
            Some(variable) => match self.keys.get(variable) {
                Some(key) => Ok((name.clone(), String::new(), Some(key.clone()))),
                None => {
                    let message = format!("the variable `{variable}` of the header `{name}` is not set");
                    Err(RunError::new(RunErrorKind::Key, message))
                }
            },
        };
        let headers = target.headers.iter().map(header).collect::<Result<Vec<_>, _>>()?;
        let price = price::price_of(&self.settings.prices, id).map(|quote| quote.price);
        Network::new(target, key, headers, price, deadline, self.request_limit.clone())
    }

    /// Describes a model without asking it. The error is the reason why it could not be asked at all.
    pub fn describe(&self, id: &str) -> Result<Description, RunError> {
        Ok(self.described(&self.target(id)?, id))
    }

    /// Describes a model of a suite without asking it.
    pub fn describe_peer(&self, asked: &AskedModel) -> Result<Description, RunError> {
        Ok(self.described(&self.target_of(asked)?, &asked.id()))
    }

    /// Whether a model of a suite costs nothing.
    pub(crate) fn is_free(&self, asked: &AskedModel) -> bool {
        price::price_of(&self.settings.prices, &asked.id()).is_some_and(|quote| price::is_free(quote.price))
    }

    fn described(&self, target: &Target, id: &str) -> Description {
        let mut of_headers = target.headers.iter().filter_map(|(_, value)| provider::variable_of(value));
        let missing = of_headers.clone().find(|name| !self.keys.contains_key(*name));
        let key = match (self.key(target), missing) {
            (Err(variable), _) | (Ok(_), Some(variable)) => KeyState::Missing(variable.to_owned()),
            (Ok(Some((variable, _))), None) => KeyState::Set(variable.to_owned()),
            (Ok(None), None) => of_headers.next().map_or(KeyState::NotNeeded, |name| KeyState::Set(name.to_owned())),
        };
        let price = price::price_of(&self.settings.prices, id);
        Description { host: target.host(), is_gateway: target.is_gateway, key, price }
    }

    fn target_of(&self, asked: &AskedModel) -> Result<Target, RunError> {
        let AskedModel { base_url, key_env, service, .. } = asked;
        let is_of_suite = base_url.is_some() || key_env.is_some() || service.is_some();
        if is_of_suite { provider::of_suite(asked) } else { self.target(&asked.id()) }
    }

    /// Names every variable that commands of an agent do not see: those that may hold a key of a provider, and those
    /// whose names look secret, unless the settings name them.
    pub fn hidden_variables(&self) -> BTreeSet<String> {
        let holds_secret = |(name, value): &(String, OsString)| holds_secret(name, &value.to_string_lossy());
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let mut hidden = provider::key_variables(&self.settings);
        hidden.extend(variables.filter(holds_secret).map(|(name, _)| name));
        hidden.retain(|name| !self.settings.env.iter().any(|named| **named == *name));
        hidden
    }

    fn target(&self, id: &str) -> Result<Target, RunError> {
        provider::target(id, &self.settings, |name| self.keys.contains_key(name))
    }

    /// Returns the key of a target, with its variable; `None` if none is sent. The error is the variable that should
    /// have it.
    fn key<'t>(&self, target: &'t Target) -> Result<Option<(&'t str, &Key)>, &'t str> {
        let Some(usual) = target.variables.first() else { return Ok(None) };
        let found = target.variables.iter().find_map(|name| Some((name.as_str(), self.keys.get(name)?)));
        found.map(Some).ok_or(usual)
    }

    fn missing(&self, target: &Target, variable: &str, id: &str) -> RunError {
        let host = target.host();
        let gateway = match id.split_once('/') {
            // An entry of the settings has an address: the gateway does not replace it.
            Some((provider, _)) if self.settings.providers.contains_key(provider) => String::new(),
            Some(_) | None => format!(", or `{}` to a key for the AI Gateway", provider::GATEWAY_VARIABLE),
        };
        let message = format!("no key for `{id}`; set `{variable}` to a key for {host}{gateway}");
        RunError { kind: RunErrorKind::Key, message }
    }
}
