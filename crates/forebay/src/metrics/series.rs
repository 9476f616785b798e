//! The handles of one metric, for each of its last label's values.

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder, SharedString};

use super::table::{Kind, Metric, TABLE, Unit};

/// Where metrics go.
pub(super) enum Sink {
    /// To the recorder of the whole process, or whatever is set for the thread.
    Process,
    To(Box<dyn Recorder + Send + Sync>),
}

const METADATA: Metadata<'static> = Metadata::new("forebay", Level::INFO, Some(module_path!()));

impl Sink {
    fn with<T>(&self, work: impl FnOnce(&dyn Recorder) -> T) -> T {
        match self {
            Self::Process => metrics::with_recorder(work),
            Self::To(recorder) => work(recorder),
        }
    }

    /// Tells what all metrics are.
    pub(super) fn describe(&self) {
        self.with(|recorder| {
            for Metric { name, kind, unit, help, .. } in TABLE {
                let unit = Some(match unit {
                    Unit::Count => metrics::Unit::Count,
                    Unit::Seconds => metrics::Unit::Seconds,
                    Unit::Bytes => metrics::Unit::Bytes,
                });
                let (name, help) = ((*name).into(), (*help).into());
                match kind {
                    Kind::Counter => recorder.describe_counter(name, unit, help),
                    Kind::Gauge => recorder.describe_gauge(name, unit, help),
                    Kind::Histogram(_) => recorder.describe_histogram(name, unit, help),
                }
            }
        });
    }

    /// One counter for each value of the last label, or one at all; `names` are the values of the labels before.
    pub(super) fn counters(&self, metric: &Metric, names: &[&str]) -> Box<[Counter]> {
        self.with(|recorder| each(metric, names, |key| recorder.register_counter(&key, &METADATA)))
    }

    pub(super) fn histograms(&self, metric: &Metric, names: &[&str]) -> Box<[Histogram]> {
        self.with(|recorder| each(metric, names, |key| recorder.register_histogram(&key, &METADATA)))
    }

    pub(super) fn counter(&self, metric: &Metric, names: &[&str]) -> Counter {
        self.with(|recorder| recorder.register_counter(&key(metric, names, None), &METADATA))
    }

    pub(super) fn histogram(&self, metric: &Metric, names: &[&str]) -> Histogram {
        self.with(|recorder| recorder.register_histogram(&key(metric, names, None), &METADATA))
    }

    pub(super) fn gauge(&self, metric: &Metric, names: &[&str]) -> Gauge {
        self.with(|recorder| recorder.register_gauge(&key(metric, names, None), &METADATA))
    }
}

fn each<T>(metric: &Metric, names: &[&str], register: impl Fn(Key) -> T) -> Box<[T]> {
    let values = metric.labels.last().map_or(&[][..], |label| label.values);
    values.iter().map(|value| register(key(metric, names, Some(value)))).collect()
}

fn key(metric: &Metric, names: &[&str], last: Option<&'static str>) -> Key {
    let names = names.iter().map(|name| SharedString::from((*name).to_owned()));
    let values = names.chain(last.map(SharedString::const_str));
    let labels: Vec<Label> =
        metric.labels.iter().zip(values).map(|(label, value)| Label::new(label.name, value)).collect();
    Key::from_parts(metric.name, labels)
}
