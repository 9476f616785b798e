//! Whether what the store has is still current: no tag of it, nor the whole space, was invalidated since its load began.

use super::{
    backend::{Budget, Purpose, Question, Unavailable},
    inner::Inner,
    numbers::{Judgement, Known, Stamp},
    options::Life,
};

/// What a load begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// The number of the space.
    pub(crate) number: u64,
    /// Whether the stale value that the load is given was current by then.
    pub(crate) base_is_current: bool,
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Whether an entry that was read just now is current. The store is asked where this process does not know.
    pub(crate) async fn is_current(&self, stamp: &Stamp, budget: &mut Budget) -> Result<bool, Unavailable> {
        match self.numbers.judge(stamp) {
            Judgement::Current => Ok(true),
            Judgement::Passed => Ok(false),
            Judgement::Unknown => {
                let known = self.ask_numbers(&stamp.tags, Purpose::Look, budget).await?;
                Ok(known.admits(stamp) && !self.numbers.have_passed(stamp))
            }
        }
    }

    /// The number for a load that is about to begin, on the grounds of `base` if there is something stale.
    pub(crate) async fn begin(
        &self,
        base: Option<&Stamp>,
        budget: &mut Budget,
    ) -> Result<Beginning, Unavailable> {
        let tags = base.map_or(&[][..], |base| &base.tags);
        let known = self.ask_numbers(tags, Purpose::Load, budget).await?;
        let base_is_current = base.is_none_or(|base| known.admits(base) && !self.numbers.have_passed(base));
        Ok(Beginning { number: known.now.ok_or(Unavailable)?, base_is_current })
    }

    /// Sees to it that an entry, once stored, has numbers to be judged by for as long as it lives. Answers whether it
    /// still is current.
    pub(crate) async fn may_fill(&self, stamp: &Stamp, life: Life) -> Result<bool, Unavailable> {
        if stamp.tags.is_empty() && life.total() <= self.options.longest() {
            return Ok(!self.numbers.have_passed(stamp));
        }
        let purpose = Purpose::Fill(life.total());
        let known = self.ask_numbers(&stamp.tags, purpose, &mut self.backend.budget()).await?;
        Ok(known.admits(stamp) && !self.numbers.have_passed(stamp))
    }

    async fn ask_numbers(
        &self,
        tags: &[Box<str>],
        purpose: Purpose,
        budget: &mut Budget,
    ) -> Result<Known, Unavailable> {
        let asked = self.numbers.ask();
        let known = self.backend.numbers(Question { tags, purpose }, budget).await?;
        self.numbers.learn(asked, tags, &known);
        Ok(known)
    }
}
