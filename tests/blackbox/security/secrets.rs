//! Secrets of one key stay hidden from others, and are encrypted at rest.
