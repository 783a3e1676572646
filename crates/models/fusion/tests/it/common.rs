//! Random numbers, and what an error says.

use sqlgauge_fusion::EvaluatorError;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

pub(crate) fn message<T>(result: Result<T, EvaluatorError>) -> String {
    match result {
        Ok(_) => panic!("it should have been refused"),
        Err(error) => error.to_string(),
    }
}
