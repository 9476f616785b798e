//! What a story comes to, as a table in Markdown.

use std::time::Duration;

use crate::{
    load::{KINDS, Load, Told},
    side::{Figures, Story},
};

/// In dollars, of a million tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    pub(crate) told: f64,
    pub(crate) said: f64,
}

pub(crate) fn compare(load: Load, instances: usize, price: Price, without: &Story, with: &Story) -> String {
    let both = |of: fn(&Story) -> String| format!("{} | {}", of(without), of(with));
    let cost = |story: &Story| format!("{:.2} $", price.of(&story.model));
    format!(
        "{} questions of {KINDS} different ones, zipf 1, {} in a second, instances: {instances}. Prices: {} $ for a \
         million tokens that the model is told, {} $ for those that it says.\n\n\
         | | without cache | with cache |\n\
         |---|---:|---:|\n\
         | calls of the model | {} |\n\
         | tokens told | {} |\n\
         | tokens said | {} |\n\
         | cost | {} | {} |\n\
         | half of the answers within | {} |\n\
         | 99 of 100 within | {} |\n\
         | answered from memory or Redis | {} |\n\
         | half of those within | {} |\n\
         | 99 of 100 of those within | {} |\n\
         | waited for another's call | {} |\n\n",
        load.questions,
        load.per_second,
        price.told,
        price.said,
        both(|story| story.model.calls.to_string()),
        both(|story| story.model.prompt_tokens.to_string()),
        both(|story| story.model.completion_tokens.to_string()),
        cost(without),
        cost(with),
        both(|story| story.within(0.5, |_| true)),
        both(|story| story.within(0.99, |_| true)),
        both(|story| story.share(is_hit)),
        both(|story| story.within(0.5, is_hit)),
        both(|story| story.within(0.99, is_hit)),
        both(|story| story.share(|told| told.source == "shared")),
    )
}

/// What holds after a restart of all instances, and after changes of profiles.
pub(crate) fn afterwards((calls, asked): (u64, usize), (new, all): (usize, usize)) -> String {
    format!(
        "After a restart of all instances, {asked} questions that had been asked before cost {calls} calls of the \
         model. Of {all} answers right after a change of a profile, on every instance, {new} were about the new one.\n"
    )
}

fn is_hit(told: &Told) -> bool {
    ["memory", "store"].contains(&&*told.source)
}

impl Price {
    fn of(self, figures: &Figures) -> f64 {
        (self.told * figures.prompt_tokens as f64 + self.said * figures.completion_tokens as f64) / 1e6
    }
}

impl Story {
    /// Within how long so many of those answers came.
    fn within(&self, share: f64, of: fn(&Told) -> bool) -> String {
        let mut took: Vec<_> = self.told.iter().filter(|told| of(told)).map(|told| told.took).collect();
        took.sort_unstable();
        let last = (took.len() as f64 * share).ceil() as usize;
        took.get(last.saturating_sub(1)).map_or("–".into(), |took| spelled(*took))
    }

    fn share(&self, of: fn(&Told) -> bool) -> String {
        let some = self.told.iter().filter(|told| of(told)).count();
        format!("{:.1} %", 100.0 * some as f64 / self.told.len().max(1) as f64)
    }
}

fn spelled(span: Duration) -> String {
    format!("{:.2} ms", span.as_secs_f64() * 1e3)
}
