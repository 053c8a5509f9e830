//! An SVG document being written.

use std::fmt::Write as _;

/// Average width of a digit or letter, in parts of the font size; a little generous, so that labels
/// placed by it never touch.
const GLYPH: f64 = 0.58;

/// Font size of labels in charts, user units.
pub(super) const FONT: f64 = 11.0;

/// From here to there.
pub(super) type Segment = ((f64, f64), (f64, f64));

/// Where a text is anchored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Collects elements; positions in user units, y downwards.
#[derive(Debug)]
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    /// `title` names the chart for those who cannot see it, `description` says what it shows in numbers.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str) -> Self {
        let text = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            number(width),
            number(height),
            escape(title),
            escape(description)
        );
        Self { text }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(element);
        self.text.push('\n');
    }

    /// Straight lines of one class as one element.
    pub(super) fn lines(&mut self, class: &str, lines: &[Segment]) {
        let pieces: Vec<Vec<(f64, f64)>> = lines.iter().map(|(a, b)| vec![*a, *b]).collect();
        self.path(class, &pieces);
    }

    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), tip: &str) {
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            number(at.0),
            number(at.1),
            number(size.0),
            number(size.1),
            escape(tip)
        ));
    }

    pub(super) fn words(&mut self, class: &str, at: (f64, f64), anchor: Anchor, words: &str) {
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>",
            number(at.0),
            number(at.1),
            anchor.name(),
            escape(words)
        ));
    }

    /// A line through points, interrupted where two lists meet.
    pub(super) fn path(&mut self, class: &str, pieces: &[Vec<(f64, f64)>]) {
        let mut data = String::new();
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            for (index, (x, y)) in piece.iter().enumerate() {
                let step = if index == 0 { 'M' } else { 'L' };
                let _ = write!(data, "{step}{} {}", number(*x), number(*y));
            }
            if piece.len() == 1 {
                // A dot: a stroke of no length is drawn round by its caps.
                data.push_str("h0");
            }
        }
        if !data.is_empty() {
            self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
        }
    }

    /// A filled area.
    pub(super) fn area(&mut self, class: &str, outline: &[(f64, f64)]) {
        let points: Vec<String> = outline
            .iter()
            .map(|(x, y)| format!("{},{}", number(*x), number(*y)))
            .collect();
        let points = points.join(" ");
        self.push(format_args!(
            "<polygon class=\"{class}\" points=\"{points}\"/>"
        ));
    }

    /// A mark whose shape goes with its series.
    pub(super) fn mark(&mut self, series: usize, at: (f64, f64), tip: &str) {
        let (x, y) = (number(at.0), number(at.1));
        let shape = match series % 4 {
            0 => "<circle r=\"4\"/>",
            1 => "<rect x=\"-3.6\" y=\"-3.6\" width=\"7.2\" height=\"7.2\"/>",
            2 => "<path d=\"M0 -5L5 4H-5Z\"/>",
            _ => "<path d=\"M0 -5.2L5.2 0L0 5.2L-5.2 0Z\"/>",
        };
        self.push(format_args!(
            "<g class=\"mark s{}\" transform=\"translate({x} {y})\"><title>{}</title>{shape}</g>",
            series + 1,
            escape(tip)
        ));
    }
}

/// At most one digit after the point, no `-0`.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0 + 0.0;
    format!("{rounded}")
}

/// How wide `words` come out, user units.
pub(super) fn width_of(words: &str) -> f64 {
    words.chars().map(|_| FONT * GLYPH).sum()
}

/// Text made safe within elements and attributes.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters are not allowed in XML at all.
            other if other.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}
