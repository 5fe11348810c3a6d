//! Sizes and ages in words.

use std::time::Duration;

use speclens_schema::words::plural;

/// Returns a size with a readable unit.
pub(super) fn size(bytes: u64) -> String {
    // Rounded: no relevant size loses a visible digit.
    let rounded = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1024 => plural(usize::try_from(bytes).unwrap_or_default(), "byte"),
        1024..1_048_576 => format!("{:.1} KiB", rounded(1024)),
        1_048_576.. => format!("{:.1} MiB", rounded(1_048_576)),
    }
}

/// Returns an age with a readable unit.
pub(super) fn age(age: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match age.as_secs() {
        0..MINUTE => "just now".to_owned(),
        seconds @ MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h ago", seconds / HOUR),
        seconds @ DAY.. => format!("{} ago", plural(usize::try_from(seconds / DAY).unwrap_or(usize::MAX), "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_read_well() {
        let sizes = [0, 1, 1023, 1024, 1_048_575, 1_048_576, 5 << 30].map(size);
        assert_eq!(sizes, ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1024.0 KiB", "1.0 MiB", "5120.0 MiB"]);
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 200_000].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(
            ages,
            ["just now", "just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago", "1 day ago", "2 days ago"]
        );
    }
}
