//! Charts as SVG text.
//!
//! Purpose: pictures that open anywhere, print, follow the reader's light or dark setting and can be
//! compared as text in tests (benchtools.md 7.3). Colours and fonts come from the page by class name.
//! Duties: [`canvas::Canvas`] escapes all text and rounds all numbers; the charts know scales and labels.
//! Lines differ by dash pattern and marks by shape, so that colour is never the only carrier.

mod canvas;
mod lines;
mod ranges;
mod scale;
mod spectrum;
mod timeline;

pub(crate) use lines::{Line, LineChart, Size, line_chart};
pub(crate) use ranges::{RangeRow, range_chart};
pub(crate) use spectrum::{Curve, spectrum_chart};
pub(crate) use timeline::{Bar, timeline_chart};
