//! An axis whose equal lengths are equal ratios.

/// From a least to a most figure, both of them marks, over some pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis with room for all `figures` above zero. `from` is the pixel of the least.
    pub(super) fn around(figures: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let figures = figures.filter(|&figure| figure > 0.0);
        let least = figures.clone().fold(f64::INFINITY, f64::min);
        let most = figures.fold(0.0, f64::max);
        if least > most {
            return Self { least: 1.0, most: 10.0, from, to };
        }
        Self { least: below(least), most: above(most), from, to }
    }

    /// An axis that ends where the figures do.
    pub(super) fn between(least: f64, most: f64, from: f64, to: f64) -> Self {
        Self { least, most: if most > least { most } else { least * 10.0 }, from, to }
    }

    /// The pixel of `figure`, which is within the axis if it is drawn at all.
    pub(super) fn pixel(self, figure: f64) -> f64 {
        let figure = figure.clamp(self.least, self.most);
        self.from + (self.to - self.from) * (figure / self.least).ln() / (self.most / self.least).ln()
    }

    /// Powers of ten, and where these are few, also two and five times those.
    pub(super) fn marks(self) -> Vec<f64> {
        let factors: &[f64] = if self.most / self.least > 500.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = self.least.log10().floor() as i32;
        let last = self.most.log10().ceil() as i32;
        let marks = (first..=last).flat_map(|power| factors.iter().map(move |by| by * 10_f64.powi(power)));
        // Neither of the ends is lost to rounding.
        let (least, most) = (self.least * 0.999, self.most * 1.001);
        marks.filter(|mark| (least..=most).contains(mark)).collect()
    }
}

/// The last of 1, 2, 5, 10, 20 and so on that is below.
fn below(figure: f64) -> f64 {
    let power = 10_f64.powf(figure.log10().floor());
    [5.0, 2.0].into_iter().map(|by| by * power).find(|&mark| mark < figure).unwrap_or(power)
}

/// The first one that is above.
fn above(figure: f64) -> f64 {
    let power = 10_f64.powf(figure.log10().floor());
    [2.0, 5.0].into_iter().map(|by| by * power).find(|&mark| mark > figure).unwrap_or(10.0 * power)
}
