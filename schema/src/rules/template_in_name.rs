page! {
    /// A template in the name of a scenario. ClawSpec does not find the scenario again once its name is filled in.
    "template-in-name", Error
}
