//! Robots files, sitemaps and the rules of a crawl over whole sites.

mod hostile;
mod properties;
mod whole_crawl;
