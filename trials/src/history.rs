//! What happened in several processes, and whether it was allowed.
