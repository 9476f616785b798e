//! Numbers as people read them.

/// `1234567` is `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let places = digits.len();
    let mut spelled = String::with_capacity(places + places / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (places - index).is_multiple_of(3) {
            spelled.push(',');
        }
        spelled.push(digit);
    }
    spelled
}

/// `65536` is `64 KiB`.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_024 => format!("{number} B"),
        1_024..1_048_576 => format!("{} KiB", count(number >> 10)),
        _ => format!("{} MiB", count(number >> 20)),
    }
}

/// With three digits that say something: more would be noise. `0.04567` is `0.0457`, `45670` is `45,700`.
pub fn rounded(figure: f64) -> String {
    if figure == 0.0 {
        return "0".to_owned();
    }
    let above = figure.abs().log10().floor() as i32 + 1;
    let step = 10_f64.powi(above - 3);
    let rounded = (figure / step).round() * step;
    if figure.fract() == 0.0 || above >= 3 {
        return count(rounded as u64);
    }
    format!("{rounded:.*}", (3 - above).max(0) as usize)
}
