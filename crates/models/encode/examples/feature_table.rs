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
        "Look up what each number of a vector means. Counts and lengths are ln(1 + n), shares are in [0, 1] (of nothing: 0), yes and no\n\
         are 1 and 0. The form `question-schema` has the components 0 to {}, `question-schema-prediction` all {}.\n",
        short.dimensions() - 1,
        long.dimensions()
    );
    print!("{}", long.markdown());
}
