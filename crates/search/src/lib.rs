//! Web search: one question, several who may know. The query and its operators, providers behind one trait, their health, and how
//! what they answer becomes one list. It knows neither callers nor the store; pages of hits are scraped by the engine.
