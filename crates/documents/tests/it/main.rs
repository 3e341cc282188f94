//! Files of every kind that the crate reads.

mod hostile;
mod page_edges;
mod pdf;
mod pdf_files;
