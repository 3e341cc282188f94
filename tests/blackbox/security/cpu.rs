//! CPU work of one request ends at its timeout, and one caller cannot stop the others.
