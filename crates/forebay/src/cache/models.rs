//! Models
