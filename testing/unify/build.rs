//! Without a build script cargo leaves the build dependencies out.

fn main() {}
