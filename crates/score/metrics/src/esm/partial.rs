//! The ten partial scores.

sqlgauge_base::named! {
    /// A component that is scored by itself, in the order of the official table.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Component by as_str {
        /// Outputs.
        Select = "select",
        /// Outputs without their outer aggregates.
        SelectNoAgg = "select(no AGG)",
        /// WHERE conditions.
        Where = "where",
        /// Left sides of the WHERE conditions.
        WhereNoOp = "where(no OP)",
        /// GROUP BY columns by name.
        GroupNoHaving = "group(no Having)",
        /// GROUP BY columns in order, with HAVING.
        Group = "group",
        /// ORDER BY, and whether there is a LIMIT.
        Order = "order",
        /// The kinds of operators in WHERE.
        AndOr = "and/or",
        /// INTERSECT, UNION, EXCEPT, each matched exactly.
        SetOperations = "IUEN",
        /// Key words.
        Keywords = "keywords",
    }
}

impl Component {
    /// The part of a query that it is about.
    pub(crate) fn part(self) -> &'static str {
        match self {
            Self::Select | Self::SelectNoAgg => "SELECT",
            Self::Where | Self::WhereNoOp => "WHERE",
            Self::Group | Self::GroupNoHaving => "GROUP BY",
            Self::Order => "ORDER BY",
            Self::AndOr => "AND and OR",
            Self::SetOperations => "set operations",
            Self::Keywords => "keywords",
        }
    }
}

/// The score of one component. Accuracy, recall and F1 of one item are all 1 when it matched and all 0
/// otherwise; the totals say in which averages the item takes part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartialScore {
    /// Everything in the component agrees.
    pub matched: bool,
    /// Members on the gold side; the item counts for recall when there are any. For [`Component::AndOr`] the
    /// official script swaps the two sides.
    pub label_total: usize,
    /// Members on the predicted side; the item counts for accuracy when there are any.
    pub pred_total: usize,
}

impl PartialScore {
    /// All-or-nothing: as many members on both sides, and all of them found.
    pub(super) fn new(label_total: usize, pred_total: usize, common: usize) -> Self {
        Self { matched: pred_total == label_total && common == pred_total, label_total, pred_total }
    }
}

/// The ten partial scores of one pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartialScores(pub(super) [PartialScore; 10]);

impl PartialScores {
    pub fn get(&self, component: Component) -> PartialScore {
        self.0[component as usize]
    }

    /// The scores with their components, in the order of the official table.
    pub fn iter(&self) -> impl Iterator<Item = (Component, PartialScore)> + '_ {
        Component::ALL.into_iter().zip(self.0)
    }

    /// Whether every component agrees.
    pub(crate) fn all_matched(&self) -> bool {
        self.0.iter().all(|score| score.matched)
    }
}
