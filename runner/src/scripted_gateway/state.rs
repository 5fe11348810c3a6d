//! The state that all runs of a script share, and the files that they write.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    str::FromStr as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use speclens_schema::{check::text::hexadecimal, files, gateway_script::Lines};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;

const MAX_FAULTS: usize = 16;

#[derive(Debug)]
pub(super) struct GatewayState {
    pub(super) name: String,
    pub(super) lines: Lines,
    /// The root of the workspace, with symbolic links resolved.
    pub(super) root: PathBuf,
    pub(super) webhook: String,
    pub(super) time: Time,
    pub(super) client: reqwest::Client,
    pub(super) log: String,
    pub(super) receiver: Mutex<Option<Receiver>>,
    pub(super) logging: tokio::sync::Mutex<()>,
    pub(super) faults: Mutex<Vec<String>>,
    pub(super) started: AtomicU64,
    pub(super) cancel: CancellationToken,
}

impl GatewayState {
    pub(super) fn fault(&self, message: String) {
        tracing::debug!("{message}");
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < MAX_FAULTS {
            faults.push(message);
        }
    }

    /// Returns a new id for a run: the same for the same session key, and a different one for each run without a key.
    pub(super) fn run_id(&self, session_key: Option<&str>) -> String {
        let seed = match session_key.filter(|key| !key.is_empty()) {
            Some(key) => key.to_owned(),
            None => {
                let number = self.started.fetch_add(1, Ordering::Relaxed);
                format!("{} {number} {}", self.time.nanoseconds(), std::process::id())
            }
        };
        uuid(&format!("run {seed}"))
    }

    pub(super) fn receiver(&self) -> Option<Receiver> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a file below the root of the workspace. The error is a sentence.
    pub(super) async fn write(&self, path: &str, content: &str, mode: Mode) -> Result<(), String> {
        let (root, name, content) = (self.root.clone(), path.to_owned(), content.to_owned());
        let work = move || {
            let path = below(&root, &name)?;
            write(&path, content.as_bytes(), mode).map_err(|error| format!("cannot write `{name}`: {error}"))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) address: String,
    pub(super) resource: Map<String, Value>,
}

impl Receiver {
    pub(super) fn of(environment: &[(String, String)]) -> Option<Receiver> {
        let value = |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let address = value("OTEL_EXPORTER_OTLP_ENDPOINT")?.trim_end_matches('/').to_owned();
        let resource = value("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default().split(',');
        let resource = resource.filter_map(|pair| pair.split_once('='));
        let resource = resource.map(|(name, value)| (name.trim().to_owned(), value.trim().into())).collect();
        Some(Receiver { address, resource })
    }
}

/// The time in a script: it advances even if the clock is fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    began: Timestamp,
    since: Instant,
}

impl Time {
    pub(super) fn begin(clock: Clock) -> Time {
        let began = Timestamp::from_str(&clock.now()).unwrap_or_else(|_| Timestamp::now());
        Time { began, since: Instant::now() }
    }

    pub(super) fn now(self) -> Timestamp {
        self.began.checked_add(self.since.elapsed()).unwrap_or(self.began)
    }

    pub(super) fn nanoseconds(self) -> i128 {
        self.now().as_nanosecond()
    }

    pub(super) fn today(self) -> String {
        self.now().to_zoned(TimeZone::UTC).date().to_string()
    }

    pub(super) fn moment(self) -> String {
        self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

pub(super) fn uuid(seed: &str) -> String {
    let digits = hexadecimal(&Sha256::digest(seed.as_bytes())[..16]);
    format!("{}-{}-4{}-8{}-{}", &digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Replace,
    Append,
}

/// Finds a path below the root, and creates the directories on the way. Neither `..` nor a symbolic link leads out.
fn below(root: &Path, name: &str) -> Result<PathBuf, String> {
    let outside = || format!("`{name}` is outside the workspace");
    let inside = files::inside(name).ok_or_else(outside)?;
    let mut place = root.to_owned();
    let mut steps = Path::new(&inside).components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(step) = step else { return Err(outside()) };
        place.push(step);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                place = fs::canonicalize(&place).map_err(|error| format!("cannot write `{name}`: {error}"))?;
                if !place.starts_with(root) {
                    return Err(outside());
                }
            }
            Ok(_) => {}
            Err(_) if steps.peek().is_some() => {
                fs::create_dir(&place)
                    .or_else(|error| if place.is_dir() { Ok(()) } else { Err(error) })
                    .map_err(|error| format!("cannot write `{name}`: {error}"))?;
            }
            Err(_) => {}
        }
    }
    Ok(place)
}

fn write(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    match mode {
        Mode::Replace => fs::write(path, content),
        Mode::Append => {
            use io::Write as _;
            fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(content)
        }
    }
}
