//! Moving satellites without a clock: positions, visibility, routes, timelines.
