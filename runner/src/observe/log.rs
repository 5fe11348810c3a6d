//! The lines of a gateway log about a run.

use std::time::Duration;

use speclens_schema::{
    dialect::clawspec::config::Config,
    evidence::{Answer, LogNeed},
};

use super::{View, looking};
use crate::suspend_aware_timer::SuspendAwareTimer;
use crate::watch::log;

/// Maximum time to wait for the end of a half-written line.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Pause between two observations.
const INTERVAL: Duration = Duration::from_millis(25);

pub(super) async fn observe(need: &LogNeed, view: &View) -> Answer {
    let timer = SuspendAwareTimer::begin(view.suspended);
    loop {
        let (mut wanted, place) = (need.clone(), view.clone());
        if let (Some(path), Some(gateway)) = (&mut wanted.path, &view.gateway) {
            *path = gateway.reached_log(path);
        }
        let looked = looking(move || {
            let pattern = place.gateway.as_ref().map_or(Config::LOG_PATTERN, |gateway| &gateway.log_pattern);
            log::look(&wanted, pattern, &place.directory, place.watch.as_deref())
        });
        match looked.await {
            Ok(reading) if reading.is_half && timer.elapsed() < MAX_WAIT => {}
            Ok(reading) => return Answer::Log(reading.answer),
            Err(nothing) => return nothing,
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
