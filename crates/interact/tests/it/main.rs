//! Sessions with a real Chromium.
