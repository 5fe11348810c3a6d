//! Address and key of a model, decided from its id, the settings, and the keys that are set.
//!
//! A key goes to the built-in address of its own provider, or to an address in the same entry of the settings as the
//! name of its variable, and to no other address.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use reqwest::header::HeaderValue;
use speclens_schema::{
    evidence::{AskedModel, RunError, RunErrorKind, Service},
    settings::{Api, Provider, Settings},
    words,
};
use url::Url;

use crate::http::may_carry_secret;

struct BuiltIn {
    names: &'static [&'static str],
    api: Api,
    base_url: &'static str,
    /// The variables that may hold its key, the usual one first. Empty if it needs none.
    variables: &'static [&'static str],
}

const fn open_ai(
    names: &'static [&'static str],
    base_url: &'static str,
    variables: &'static [&'static str],
) -> BuiltIn {
    BuiltIn { names, api: Api::OpenAi, base_url, variables }
}

const BUILT_IN: &[BuiltIn] = &[
    open_ai(&["openai"], "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    BuiltIn {
        names: &["anthropic"],
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        variables: &["ANTHROPIC_API_KEY"],
    },
    BuiltIn {
        names: &["google", "gemini"],
        api: Api::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        variables: &["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    },
    BuiltIn { names: &["ollama"], api: Api::Ollama, base_url: "http://localhost:11434", variables: &[] },
    open_ai(&["mistral"], "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    open_ai(&["xai"], "https://api.x.ai/v1", &["XAI_API_KEY"]),
    open_ai(&["deepseek"], "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    open_ai(&["groq"], "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    BuiltIn {
        names: &["cohere"],
        api: Api::Cohere,
        base_url: "https://api.cohere.com",
        variables: &["COHERE_API_KEY"],
    },
    open_ai(&["cerebras"], "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]),
    open_ai(&["fireworks"], "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"]),
    open_ai(&["together", "togetherai"], "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    open_ai(&["moonshot", "moonshotai"], "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"]),
    open_ai(&["zai"], "https://api.z.ai/api/paas/v4", &["ZAI_API_KEY"]),
    open_ai(&["openrouter"], "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
];

/// The default gateway of cli-bench. It knows models by their whole ids.
const GATEWAY: BuiltIn = open_ai(&[], "https://ai-gateway.vercel.sh/v1", &[GATEWAY_VARIABLE]);

pub(super) const GATEWAY_VARIABLE: &str = "AI_GATEWAY_API_KEY";

/// Variables that hold a key of a tool whose suites run here, and of no provider.
const KEYS_OF_TOOLS: &[&str] = &["CLIWATCH_API_KEY"];

/// How a provider is asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Protocol {
    Api(Api),
    Service(Service),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) model: String,
    pub(super) protocol: Protocol,
    pub(super) base_url: Url,
    /// The variables that may hold the key, the usual one first. If empty, no key is sent.
    pub(super) variables: Vec<String>,
    /// The name of the provider.
    provider: String,
    /// Further headers. A value `env:NAME` is replaced by the environment variable.
    pub(super) headers: Vec<(String, String)>,
    pub(super) is_gateway: bool,
}

pub(super) fn key_variables(settings: &Settings) -> BTreeSet<String> {
    let built_in = BUILT_IN.iter().chain([&GATEWAY]).flat_map(|known| known.variables).chain(KEYS_OF_TOOLS);
    let named = settings.providers.values().filter_map(|provider| provider.key_env.as_deref());
    built_in.copied().chain(named).map(str::to_owned).collect()
}

pub(super) fn target(id: &str, settings: &Settings, is_set: impl Fn(&str) -> bool) -> Result<Target, RunError> {
    let (provider, model) = split(id)?;
    let built_in = built_in(provider);
    if let Some(entry) = settings.providers.get(provider) {
        return described(model, entry, built_in).map_err(|fault| fault.into_error(provider));
    }
    let has_key = |known: &BuiltIn| known.variables.is_empty() || known.variables.iter().any(|name| is_set(name));
    match built_in {
        Some(known) if has_key(known) || !has_key(&GATEWAY) => Ok(known.target(model, false)),
        Some(_) => Ok(GATEWAY.target(id, true)),
        None if has_key(&GATEWAY) => Ok(GATEWAY.target(id, true)),
        None => {
            let known = BUILT_IN.iter().flat_map(|known| known.names).copied();
            let near = words::nearest(provider, known.chain(settings.providers.keys().map(String::as_str)));
            let near = near.map(|near| format!("change it to `{near}`, ")).unwrap_or_default();
            Err(provider_error(format!(
                "unknown provider `{provider}` in the model id `{id}`; {near}describe it under `providers` in `speclens.yaml`, \
                 or set `{GATEWAY_VARIABLE}` to reach it through the AI Gateway"
            )))
        }
    }
}

fn split(id: &str) -> Result<(&str, &str), RunError> {
    let parts = id.split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
    parts.ok_or_else(|| provider_error(format!("`{id}` is not a valid model id; write `provider/model`")))
}

/// Returns the target of a model that a suite describes itself: a provider with a variable for the key, or with an
/// address, or a service with a protocol of its own.
pub(super) fn of_suite(asked: &AskedModel) -> Result<Target, RunError> {
    let AskedModel { provider, model, base_url, key_env, service, organization } = asked;
    let of_suite = |key: &'static str| {
        move |fault: EntryFault| RunError {
            kind: fault.kind(),
            message: format!("{} (provider `{provider}` in the suite); {}", fault.sentence(key), fault.help()),
        }
    };
    let (protocol, address, key, known_variables) = match (service.as_deref(), built_in(provider)) {
        (Some(service), _) => {
            let (url, key) = match service {
                Service::Http(http) => (&http.url, "url"),
                Service::Mcp(mcp) => (&mcp.url, "serverUrl"),
            };
            (Protocol::Service(service.clone()), url.as_str(), key, &[][..])
        }
        (None, Some(known)) => {
            let address = base_url.as_deref().unwrap_or(known.base_url);
            (Protocol::Api(known.api), address, "baseUrl", known.variables)
        }
        (None, None) => {
            return Err(provider_error(format!(
                "`{provider}` is not a provider that can be asked; see `providers` in the suite"
            )));
        }
    };
    let headers = service.as_deref().map(Service::headers).into_iter().flatten();
    let organization = organization.iter().map(|organization| ("openai-organization".to_owned(), organization.clone()));
    let target = Target {
        model: model.to_owned(),
        protocol,
        base_url: read_address(address).map_err(of_suite(key))?,
        // A provider that needs no key gets none, whatever the suite names.
        variables: key_env.iter().filter(|_| !known_variables.is_empty()).cloned().collect(),
        provider: provider.clone(),
        headers: headers.map(|(name, value)| (name.clone(), value.clone())).chain(organization).collect(),
        is_gateway: false,
    };
    target.checked().map_err(of_suite(key))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryFault {
    NoAddress,
    NotAnAddress(String),
    NotWeb,
    Password,
    Open,
}

impl EntryFault {
    pub fn of(name: &str, entry: &Provider) -> Option<EntryFault> {
        described("any", entry, built_in(name)).err()
    }

    pub fn help(&self) -> &'static str {
        match self {
            EntryFault::NoAddress => "add `base_url`",
            EntryFault::NotAnAddress(_) | EntryFault::NotWeb => "write it as `https://host/v1`",
            EntryFault::Password => "put the password in an environment variable, and name the variable as `key_env`",
            EntryFault::Open => "use `https://`, or remove `key_env`",
        }
    }

    fn into_error(self, name: &str) -> RunError {
        let message = format!("{self} (provider `{name}` in `speclens.yaml`); {}", self.help());
        RunError { kind: self.kind(), message }
    }

    fn kind(&self) -> RunErrorKind {
        match self {
            EntryFault::Open | EntryFault::Password => RunErrorKind::Key,
            EntryFault::NoAddress | EntryFault::NotAnAddress(_) | EntryFault::NotWeb => RunErrorKind::Provider,
        }
    }

    fn sentence(&self, key: &str) -> String {
        match self {
            EntryFault::NoAddress => format!("missing `{key}`, because no built-in provider has this name"),
            EntryFault::NotAnAddress(why) => format!("the value of `{key}` is not a valid URL: {why}"),
            EntryFault::NotWeb => format!("the value of `{key}` does not begin with `https://` or `http://`"),
            EntryFault::Password => format!("the value of `{key}` contains a password"),
            EntryFault::Open => "the key would be sent over `http://`, which does not encrypt it".to_owned(),
        }
    }
}

impl fmt::Display for EntryFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence("base_url"))
    }
}

fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|known| known.names.contains(&name))
}

fn described(model: &str, entry: &Provider, built_in: Option<&BuiltIn>) -> Result<Target, EntryFault> {
    let api = entry.api.or(built_in.map(|known| known.api)).unwrap_or(Api::OpenAi);
    let own = entry.key_env.iter().map(|variable| variable.to_string()).collect();
    let (address, variables) = match (&entry.base_url, built_in) {
        (Some(address), _) => (&**address, own),
        (None, Some(known)) if entry.key_env.is_none() => (known.base_url, owned(known.variables)),
        (None, Some(known)) => (known.base_url, own),
        (None, None) => return Err(EntryFault::NoAddress),
    };
    let target = Target {
        model: model.to_owned(),
        protocol: Protocol::Api(api),
        base_url: read_address(address)?,
        variables,
        provider: built_in.and_then(|known| known.names.first()).copied().unwrap_or_default().to_owned(),
        headers: Vec::new(),
        is_gateway: false,
    };
    target.checked()
}

/// Reads a base address: no part of it may be a credential.
fn read_address(text: &str) -> Result<Url, EntryFault> {
    let address = Url::parse(text.trim()).map_err(|error| EntryFault::NotAnAddress(error.to_string()))?;
    if !matches!(address.scheme(), "http" | "https") || !address.has_host() {
        return Err(EntryFault::NotWeb);
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(EntryFault::Password);
    }
    Ok(address)
}

impl BuiltIn {
    fn target(&self, model: &str, is_gateway: bool) -> Target {
        Target {
            model: model.to_owned(),
            protocol: Protocol::Api(self.api),
            provider: self.names.first().copied().unwrap_or_default().to_owned(),
            headers: Vec::new(),
            base_url: Url::parse(self.base_url).expect("built-in addresses are tested"),
            variables: owned(self.variables),
            is_gateway,
        }
    }
}

impl Target {
    pub(super) fn is_of(&self, provider: &str) -> bool {
        self.provider == provider
    }

    fn checked(self) -> Result<Target, EntryFault> {
        let is_open = !may_carry_secret(&self.base_url);
        let has_secret =
            !self.variables.is_empty() || self.headers.iter().any(|(_, value)| variable_of(value).is_some());
        if is_open && has_secret { Err(EntryFault::Open) } else { Ok(self) }
    }

    pub(super) fn host(&self) -> String {
        let host = self.base_url.host_str().unwrap_or_default();
        self.base_url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub(super) fn url(&self) -> Url {
        let mut url = self.base_url.clone();
        let Protocol::Api(api) = &self.protocol else { return url };
        let last = match api {
            Api::OpenAi => vec!["chat", "completions"],
            Api::Anthropic => vec!["messages"],
            Api::Gemini => vec!["models", &self.model],
            Api::Cohere => vec!["v2", "chat"],
            Api::Ollama => vec!["api", "chat"],
        };
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(last);
        }
        if *api == Api::Gemini {
            let path = format!("{}:generateContent", url.path());
            url.set_path(&path);
        }
        url
    }
}

/// Returns the variable that replaces the value of a header.
pub(super) fn variable_of(value: &str) -> Option<&str> {
    value.strip_prefix("env:")
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn provider_error(message: String) -> RunError {
    RunError { kind: RunErrorKind::Provider, message }
}

/// The key of a provider. Its value is never shown: it leaves only as a header that is marked as sensitive.
#[derive(Clone)]
pub(super) struct Key(Arc<str>);

impl Key {
    /// Reads the value of a variable. `None` if it is not a valid key: blank, or not allowed in a header.
    pub(super) fn read(text: &str) -> Option<Key> {
        let text = text.trim();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Key(text.into()))
    }

    /// Returns the header with the key, after a word such as `Bearer `.
    pub(super) fn header(&self, before: &str) -> HeaderValue {
        let text = format!("{before}{}", self.0);
        let mut value = HeaderValue::from_str(&text).expect("a key holds only characters that a header may hold");
        value.set_sensitive(true);
        value
    }

    pub(super) fn mask(&self, text: &str) -> String {
        text.replace(&*self.0, "***")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

/// Reads the variables with these names. Those that are not set, or have no valid key, are omitted.
pub(super) fn read_keys(
    names: &BTreeSet<String>,
    environment: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, Key> {
    let key = |name: &String| Some((name.clone(), Key::read(&environment(name)?)?));
    names.iter().filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use speclens_schema::{
        evidence::RunErrorKind,
        settings::{Api, Provider, Settings},
    };

    use super::{BUILT_IN, key_variables, owned, read_address, target};

    fn settings(name: &str, api: Option<Api>, base_url: Option<&str>, key_env: Option<&str>) -> Settings {
        let provider = Provider { api, base_url: base_url.map(Into::into), key_env: key_env.map(Into::into) };
        Settings { providers: [(name.to_owned(), provider)].into(), ..Settings::default() }
    }

    #[track_caller]
    fn check(id: &str, settings: &Settings, set: &[&str], url: &str, variables: &[&str]) {
        let found = target(id, settings, |name| set.contains(&name)).unwrap();
        assert_eq!((found.url().as_str(), &found.variables[..]), (url, &owned(variables)[..]), "{id}");
    }

    const GATEWAY: &str = "https://ai-gateway.vercel.sh/v1/chat/completions";
    const ANTHROPIC: &str = "https://api.anthropic.com/v1/messages";

    #[test]
    fn own_key_wins_over_the_gateway() {
        let none = Settings::default();
        let both = ["ANTHROPIC_API_KEY", "AI_GATEWAY_API_KEY"];
        check("anthropic/claude", &none, &both, ANTHROPIC, &["ANTHROPIC_API_KEY"]);
        check("anthropic/claude", &none, &both[1..], GATEWAY, &["AI_GATEWAY_API_KEY"]);
        check("anthropic/claude", &none, &[], ANTHROPIC, &["ANTHROPIC_API_KEY"]);
        check("meta/llama", &none, &both, GATEWAY, &["AI_GATEWAY_API_KEY"]);
        check("ollama/llama3.2:1b", &none, &both, "http://localhost:11434/api/chat", &[]);
        assert_eq!(target("meta/llama", &none, |_| true).unwrap().model, "meta/llama");
        assert_eq!(target("anthropic/claude", &none, |name| name == both[0]).unwrap().model, "claude");
    }

    #[test]
    fn entry_of_settings_wins_over_everything() {
        let proxy = settings("anthropic", None, Some("http://localhost:1/v1/"), Some("PROXY_KEY"));
        check("anthropic/claude", &proxy, &["AI_GATEWAY_API_KEY"], "http://localhost:1/v1/messages", &["PROXY_KEY"]);
        let other = settings("openai", Some(Api::Gemini), Some("https://proxy.example/v9?a=b"), None);
        check("openai/a/b", &other, &[], "https://proxy.example/v9/models/a%2Fb:generateContent?a=b", &[]);
        let renamed = settings("openai", None, None, Some("MY_KEY"));
        check("openai/gpt", &renamed, &[], "https://api.openai.com/v1/chat/completions", &["MY_KEY"]);
        let empty = settings("openai", None, None, None);
        check("openai/gpt", &empty, &[], "https://api.openai.com/v1/chat/completions", &["OPENAI_API_KEY"]);
    }

    #[test]
    fn address_of_settings_gets_no_key_of_its_own() {
        let moved = settings("openai", None, Some("https://elsewhere.example/v1"), None);
        check("openai/gpt", &moved, &["OPENAI_API_KEY"], "https://elsewhere.example/v1/chat/completions", &[]);
    }

    #[test]
    fn key_is_not_sent_in_the_open() {
        for address in ["http://proxy.example/v1", "http://localhost.example/v1", "http://10.0.0.1/v1"] {
            let open = settings("local", None, Some(address), Some("KEY"));
            let error = target("local/m", &open, |_| true).unwrap_err();
            assert_eq!(error.kind, RunErrorKind::Key, "{address}");
            assert!(error.message.contains("`local`") && error.message.contains("`https://`"), "{}", error.message);
            assert!(target("local/m", &settings("local", None, Some(address), None), |_| true).is_ok());
        }
        for address in ["http://LOCALHOST:8000/v1", "http://127.8.8.8/v1", "http://[::1]:80/v1"] {
            assert!(target("l/m", &settings("l", None, Some(address), Some("KEY")), |_| true).is_ok(), "{address}");
        }
    }

    #[track_caller]
    fn check_refused(id: &str, settings: &Settings, parts: &[&str]) {
        let error = target(id, settings, |_| false).unwrap_err();
        assert!(parts.iter().all(|part| error.message.contains(part)), "{}", error.message);
        assert_eq!(error.kind, RunErrorKind::Provider);
    }

    #[test]
    fn id_or_entry_that_leads_nowhere_is_refused() {
        let none = Settings::default();
        for id in ["gpt-4o", "/gpt", "openai/"] {
            check_refused(id, &none, &[id, "provider/model"]);
        }
        check_refused("meta/llama", &none, &["`meta`", "`providers`", "AI_GATEWAY_API_KEY"]);
        check_refused("local/m", &settings("local", None, None, Some("KEY")), &["`local`", "`base_url`"]);
        for address in ["localhost:8000", "ftp://a/b", "http://", "not an address"] {
            check_refused("local/m", &settings("local", None, Some(address), None), &["`local`", "`base_url`"]);
        }
    }

    #[test]
    fn passwords_of_addresses_are_not_repeated() {
        let error = target("l/m", &settings("l", None, Some("https://u:hunter2@h/v1"), None), |_| true).unwrap_err();
        assert!(error.message.contains("`key_env`") && !error.message.contains("hunter2"), "{}", error.message);
    }

    #[test]
    fn every_variable_of_a_key_is_known() {
        let known = key_variables(&settings("local", None, None, Some("MY_OWN_VARIABLE")));
        for name in ["MY_OWN_VARIABLE", "AI_GATEWAY_API_KEY", "CLIWATCH_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"] {
            assert!(known.contains(name), "{name}");
        }
    }

    #[test]
    fn built_in_addresses_encrypt_or_stay_on_this_machine() {
        for known in BUILT_IN {
            let address = read_address(known.base_url).unwrap();
            assert_eq!(address.scheme() == "http", crate::http::is_loopback(&address), "{address}");
            assert!(known.variables.is_empty() || address.scheme() == "https");
        }
    }

    use super::{Key, read_keys};

    #[test]
    fn key_has_no_visible_value() {
        let keys = read_keys(&["API_KEY".to_owned()].into(), |_| Some(" sk-secret-value\n".to_owned()));
        let key = keys.get("API_KEY").unwrap();
        let shown = format!("{keys:?} {key:?} {:?}", key.header("Bearer "));
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(key.header("Bearer ").to_str().unwrap(), "Bearer sk-secret-value");
        assert_eq!(key.mask("wrong key: sk-secret-value."), "wrong key: ***.");
    }

    #[test]
    fn blank_or_invalid_variable_is_not_a_key() {
        for text in ["", "  \n", "two words", "schlüssel", "line\nbreak"] {
            assert!(Key::read(text).is_none(), "{text:?}");
        }
    }
}
