//! Spans, logs and metrics for a collector of OpenTelemetry, over OTLP.
//!
//! Crates open spans with `tracing` under the target [`SPANS`]. Where no collector is configured that target is
//! off, and a span costs one comparison. Where one is, [`CollectorLayer`] writes each span that ends, and each log
//! line, into a queue with a ceiling in bytes, and [`Exporter`] sends the queues from time to time through a function
//! that it is given. Nothing here ever waits in the path of a request.
//!
//! Fields of spans are attributes. These have a meaning of their own:
//!
//! | field | meaning |
//! |---|---|
//! | `otel.root` | the span may begin a trace; any other span without a parent is left out |
//! | `otel.name` | the name shown, where it is not the same each time |
//! | `otel.kind` | `server` or `client`; otherwise the span is internal |
//! | `otel.private` | nothing may be said of the page: addresses of this span and all below it are left out |
//! | `error.type` | the span failed, and how |

mod context;
mod current;
mod exporter;
mod layer;
mod metrics_text;
mod open_span;
mod post;
mod protobuf;
mod queue;
mod record;
mod signal_sender;

pub use context::TraceContext;
pub use current::{
    continue_trace, current_context, current_traceparent, link_to, place_below_current, trace_id_of,
};
pub use exporter::{Exporter, MetricsText, Resource, probe};
pub use layer::{Collected, CollectorLayer};
pub use post::{Answer, Post};

/// The target of our spans, in filters of the log.
pub const SPANS: &str = "gannet_spans";
