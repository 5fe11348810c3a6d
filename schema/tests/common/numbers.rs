//! Random choices that can be repeated: the same seed makes the same ones.

/// A small generator.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number below the limit; 0 where there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}
