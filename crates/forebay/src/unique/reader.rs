//! A counter that is asked, and records nobody.

use super::{Date, Unique, count::Count};
use crate::error::Error;

/// Counts what others have recorded. Cheap to clone.
///
/// It takes no place of its own: there may be any number beside the one [`Unique`] that records, and where nobody does.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use forebay::Forebay;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let visitors = forebay.unique("site").build()?;
/// visitors.record("ada");
///
/// assert_eq!(forebay.unique("site").reader()?.today().await?.visitors, 1);
/// assert_eq!(forebay.unique("shop").reader()?.today().await?.visitors, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Reader(pub(super) Unique);

impl Reader {
    /// How many days can be counted together.
    #[must_use]
    pub fn keep_days(&self) -> u32 {
        self.0.keep_days()
    }

    /// As [`Unique::today`].
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn today(&self) -> Result<Count, Error> {
        self.0.today().await
    }

    /// As [`Unique::count`].
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or the day is longer ago than days are kept.
    pub async fn count(&self, date: Date) -> Result<Count, Error> {
        self.0.count(date).await
    }

    /// As [`Unique::count_days`].
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or `days` is 0 or more than [`Reader::keep_days`].
    pub async fn count_days(&self, days: u32) -> Result<Count, Error> {
        self.0.count_days(days).await
    }
}
