//! Office formats: texts, slides and sheets of OOXML and OpenDocument by our own walk over their XML, the older
//! binary ones by a library.

mod charts;
mod comments;
mod docx;
mod epub;
mod legacy;
mod math;
mod odf;
mod pptx;
mod properties;
mod sheets;
mod style;

pub(crate) use docx::parse_docx;
pub(crate) use epub::parse_epub;
pub(crate) use legacy::{LegacyFormat, parse_legacy};
pub(crate) use odf::{parse_odp, parse_odt};
pub(crate) use pptx::parse_pptx;
pub(crate) use sheets::{parse_ods, parse_xls, parse_xlsb, parse_xlsx};
