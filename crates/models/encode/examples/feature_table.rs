//! Prints `docs/reference/features.md`: every component of the `features` encoder.

use sqlgauge_encode::encoders::features::FeatureEncoder;
use sqlgauge_encode::{Encoder, InputForm};

fn main() {
    let (short, long) = (
        FeatureEncoder::new(InputForm::QuestionSchema),
        FeatureEncoder::new(InputForm::QuestionSchemaPrediction),
    );
    println!("# The components of `{}`\n", long.id());
    println!(
        "Counts and lengths are ln(1 + n), shares are in [0, 1], yes and no are 1 and 0. A share of nothing is 0. The\n\
         form `question-schema` has the components 0 to {}, `question-schema-prediction` all {}. A gold query is never\n\
         looked at. Word lists are in `crates/models/encode/src/encoders/features/`.\n",
        short.dimensions() - 1,
        long.dimensions()
    );
    print!("{}", long.markdown());
}
