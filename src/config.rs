//! The user's `config.toml`.
