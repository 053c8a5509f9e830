//! The model as text.
//!
//! Purpose: three formats from one model, so that they cannot disagree.
//! Duties: escape by format. HTML: tera's autoescape; only charts made by our own SVG module are marked
//! safe. Markdown: every cell and paragraph passes the `md` filter.

use tera::{Context, Kwargs, State, Tera};

use super::model::Report;
use super::view::View;
use crate::failure::Failure;

/// `report.json`: the model, ending with a newline.
///
/// # Errors
/// When the model cannot be written as JSON, which is a defect.
pub fn json(report: &Report) -> Result<String, Failure> {
    serde_json::to_string_pretty(report)
        .map(|text| text + "\n")
        .map_err(|error| Failure::step(format!("cannot write the report as JSON: {error}")))
}

/// One self-contained HTML file; `template` is `templates/report/report.html.tera`.
///
/// # Errors
/// When the template is wrong; the place is in the message.
pub fn html(report: &Report, template: &str) -> Result<String, Failure> {
    render(report, "report.html", template)
}

/// GitHub-flavoured Markdown; `template` is `templates/report/report.md.tera`.
///
/// # Errors
/// When the template is wrong; the place is in the message.
pub fn markdown(report: &Report, template: &str) -> Result<String, Failure> {
    let text = render(report, "report.md", template)?;
    Ok(without_blank_runs(&text))
}

fn render(report: &Report, name: &str, template: &str) -> Result<String, Failure> {
    let refuse = |error: tera::Error| {
        Failure::inventory(format!("cannot render {name}")).line(error.to_string())
    };
    let mut tera = Tera::default();
    tera.register_filter("md", |text: &str, _: Kwargs, _: &State| markdown_text(text));
    tera.add_raw_template(name, template).map_err(refuse)?;
    let context = Context::from_serialize(&View::of(report)).map_err(refuse)?;
    tera.render(name, &context).map_err(refuse)
}

/// Text that stays text in Markdown, in a paragraph and in a table cell.
fn markdown_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '~' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            other if other.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

/// Loops of a template leave blank lines; two in a row become one.
fn without_blank_runs(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let doubled = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !doubled {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}
