//! The names and ids that contestants are asked for.

/// How many ids the filters know.
pub const KNOWN: usize = 10_000;

/// A name that is claimed twice: for the first time, and while that claim holds.
pub fn claimed_twice(number: usize) -> String {
    format!("code-{:09}", number / 2)
}

/// The key of a payment.
pub fn payment(number: usize) -> String {
    format!("payment-{number:09}")
}

/// A visitor who never came before.
pub fn visitor(number: usize) -> String {
    format!("v-{number:09}")
}

/// `count` ids of products, every other one of which the filters know, and whether they do.
pub fn products(number: usize, count: usize) -> Vec<(String, bool)> {
    let from = number * count;
    (from..from + count).map(|number| (product(number), number.is_multiple_of(2))).collect()
}

/// The ids that the filters know.
pub fn known_products() -> Vec<String> {
    (0..KNOWN).map(|number| product(2 * number)).collect()
}

/// An even one is known.
fn product(number: usize) -> String {
    let number = number % (2 * KNOWN);
    format!("p-{number:06}")
}
