//! How figures are written.

use forebay::health::Rating;

/// A size as Redis writes it: `1.05M`.
pub(super) fn human(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
        Some((name, unit)) => format!("{:.2}{name}", bytes as f64 / unit as f64),
        None => format!("{bytes}B"),
    }
}

pub(super) fn rating(rating: Rating) -> &'static str {
    match rating {
        Rating::Excellent => "excellent",
        Rating::Good => "good",
        Rating::Poor => "poor",
    }
}

pub(super) fn role(is_replica: Option<bool>) -> Option<&'static str> {
    is_replica.map(|yes| if yes { "replica" } else { "primary" })
}

/// With so many digits behind the point.
pub(super) fn rounded(number: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (number * unit).round() / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_redis_does() {
        let sizes = [0, 1_023, 1_024, 1_101_005, 3 << 30, 5 << 40].map(human);
        assert_eq!(sizes, ["0B", "1023B", "1.00K", "1.05M", "3.00G", "5.00T"]);
    }
}
