//! One failure is one gap in a report, rather than its end.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use anyhow::{Result, anyhow};

/// What comes of a measurement, in which a check may also panic. Nothing that it has touched is used again.
pub fn attempt<T>(measure: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(measure)).unwrap_or_else(|panic| Err(anyhow!("{}", said(&*panic))))
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_panics_is_an_error_with_its_words() {
        let [one, two] = [1, 2];
        let error = attempt(|| {
            assert!(one == two, "{one} is not {two}");
            Ok(())
        });
        assert_eq!(error.map_err(|error| error.to_string()), Err("1 is not 2".to_owned()));
    }
}
