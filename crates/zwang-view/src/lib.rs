//! Results as bytes: messages, tables, JSON, documents, figures, pages and data files. No file is opened.
//!
//! Everything shown derives from M, Q, A and b:
//!
//! $$ M \ddot q = Q + A^T \lambda, \qquad A \ddot q = b $$
//!
//! ```
//! let system = zwang::load("coordinates x\nmass x: 2\nforce x: 6 - x\nstart x = 0")?;
//! assert!(zwang_view::equations_text(&mut system.equations()).ends_with("x'' = 3 - x/2\n"));
//! # Ok::<(), zwang::Error>(())
//! ```

mod article;
mod code;
mod content_policy;
mod csv;
mod derivation;
mod document;
mod equations_code;
mod figure;
mod formula;
mod geometry;
mod inverse;
mod json;
mod lagrangian;
mod letters;
mod linearize;
mod message;
mod npz;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod plot;
#[cfg(feature = "png")]
mod png;
mod report;
mod sketch;
mod svg_element;
mod table;

pub use article::{Article, Block, article_html, article_latex, article_markdown};
pub use code::{Language, code};
pub use csv::csv;
pub use derivation::{DerivationContext, derivation, derivation_article};
pub use document::{equations_latex, equations_text};
pub use equations_code::{FormulaLanguage, Formulas, equations_code};
pub use figure::{figure, geometry_of, wants_samples};
pub use geometry::{GeometryNames, geometry_svg, reading};
pub use inverse::{inverse_json, inverse_table};
pub use json::{check_json, diagnostics_json, inspect_json, run_json, samples_json};
pub use lagrangian::{lagrangian_latex, lagrangian_text};
pub use linearize::{linearize_json, linearize_table};
pub use message::{Paint, messages, note_sentences};
pub use npz::npz;
pub use page::{Page, PagePlot, page};
#[cfg(feature = "parquet")]
pub use parquet::parquet;
pub use plot::{Curve, Figure, Panel, PlotQuantity, panels_by_unit, svg};
#[cfg(feature = "png")]
pub use png::png;
pub use report::{DriftComparison, RunReport, comparison, comparison_json, facts};
pub use sketch::sketch;
pub use table::{check_table, inspect_table, summary};
