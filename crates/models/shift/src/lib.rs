//! Embeddings to distribution-shift descriptors, and meta-sets of them.
//!
//! [`Reference`] keeps what is needed of a source; [`Reference::describe`] compares a target with it and gives
//! [`Descriptors`]. Both sides are read chunk by chunk, by many threads, and only their projections stay in memory.
//! Parts of a side ([`Partial`]) can be made on many machines and merged. [`shift()`] does it all for two sets.
//!
//! Source: T. Pham et al., "An Efficient and Effective Evaluator for `Text2SQL` Models on Unseen and Unlabeled Data"
//! (FusionSQL), sections IV-B and IV-C.

mod attribution;
mod codec;
mod descriptor_set;
mod descriptors;
mod directions;
mod eigen;
mod error;
mod kernels;
mod metaset;
mod moments;
mod partial;
mod pca;
mod reference;
mod scan;
mod standardised;
mod wasserstein;

pub use attribution::{DimensionShift, GroupShift};
pub use descriptor_set::{DescriptorSet, UnknownDescriptors, columns_of};
pub use descriptors::{Descriptors, Frechet, Mahalanobis, Sliced};
pub use directions::{Directions, Slices};
pub use error::{SetSide, ShiftError};
pub use metaset::{Corpus, Grouping, MetaSetOptions, SampleSet, Strategy, meta_set};
pub use moments::Moments;
pub use partial::Partial;
pub use pca::principal_directions;
pub use reference::{Reference, shift};
pub use standardised::{Standardised, moments};
