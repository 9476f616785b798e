//! What an operator has of the metrics: a Grafana board, and alert rules for Prometheus. Both are written from the
//! library's table, so that neither can name what is not there.

pub mod alerts;
pub mod board;
pub mod query;
