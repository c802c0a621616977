//! The example on the page of the crate.

#[test]
fn the_example_holds() {
    include!("example/pendulum.rs")
}
