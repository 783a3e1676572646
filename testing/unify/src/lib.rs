//! Nothing but dependencies: what all builds of the tests share has the same features in each (see `Cargo.toml`).
