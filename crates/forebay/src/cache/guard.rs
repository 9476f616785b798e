//! The filter that guards a cache: ids that cannot exist are looked for nowhere.

use super::{backend::Budget, flights::Arrival, inner::Inner};

impl<V: Send + Sync + 'static> Inner<V> {
    /// When the filter was asked, if it does not know `id`: whoever came later may know better.
    pub(crate) async fn rules_out(&self, id: &str, budget: &mut Budget) -> Option<Arrival> {
        let filter = self.guard.as_ref()?;
        let sent = self.flights.depart();
        // Most caches have none: apart, it makes their reads no larger.
        let (answer, spent) = Box::pin(filter.sift(id)).await;
        budget.0 = budget.0.saturating_sub(spent);
        answer.is_no().then_some(sent)
    }
}
