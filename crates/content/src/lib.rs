//! Bytes of a web page in; main content, markdown, metadata, links and a verdict out.
