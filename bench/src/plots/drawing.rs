//! A drawing as SVG. The same calls give the same bytes.

use std::fmt::Write;

/// The colours, on a dark ground where the reader's is dark.
const STYLE: &str = include_str!("style.css");

/// Where a text stands from its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// What was drawn so far. Lengths are pixels from the upper left; a class says of what colour something is.
#[derive(Debug)]
pub(super) struct Drawing {
    width: f64,
    height: f64,
    elements: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut drawing = Self { width, height, elements: String::new() };
        drawing.rectangle("ground", (0.0, 0.0), (width, height));
        drawing
    }

    pub(super) fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.element(&format!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.element(&format!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    /// A line through all points.
    pub(super) fn through(&mut self, class: &str, points: &[(f64, f64)]) {
        self.element(&format!(r#"<polyline class="{class}" points="{}"/>"#, listed(points)));
    }

    /// What all points go around.
    pub(super) fn around(&mut self, class: &str, points: &[(f64, f64)]) {
        self.element(&format!(r#"<polygon class="{class}" points="{}"/>"#, listed(points)));
    }

    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        self.element(&format!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#));
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.element(&format!(
            r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{}</text>"#,
            plain(text)
        ));
    }

    fn element(&mut self, element: &str) {
        self.elements.push_str(element);
        self.elements.push('\n');
    }

    /// The file; `title` is for those who cannot see it.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { width, height, elements } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n{elements}</svg>\n",
            plain(title)
        )
    }
}

fn listed(points: &[(f64, f64)]) -> String {
    let mut list = String::new();
    for (x, y) in points {
        write!(list, "{x:.1},{y:.1} ").expect("a string takes everything");
    }
    list.trim_end().to_owned()
}

/// Text without marks of Markdown, and with what XML takes for its own.
fn plain(text: &str) -> String {
    text.replace('`', "").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
