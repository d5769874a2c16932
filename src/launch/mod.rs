//! Starting an engine.
