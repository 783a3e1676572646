//! How rich a query becomes: drawn once, before anything is built.

use sqlgauge_base::Random;
use sqlgauge_sql::tree::{JoinKind, SetOperator};

use crate::tier::Tier;
use crate::wish::Wish;

/// What the outputs of a SELECT are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Columns, row by row.
    List,
    /// Aggregates over all rows.
    Aggregate,
    /// Aggregates per group.
    Grouped,
    /// Columns with a window function.
    Windowed,
}

/// How the next level of queries is put inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nest {
    /// IN with a subquery.
    In,
    /// A comparison with a subquery.
    Scalar,
    /// EXISTS.
    Exists,
    /// A subquery in FROM.
    Derived,
    /// A common table expression.
    With,
    /// HAVING with a subquery.
    Having,
    /// A subquery that reads the row around it, as a result column.
    Output,
}

/// A special join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// Of that kind, along a link.
    Kind(JoinKind),
    /// Of two rows of one table.
    SelfJoin,
}

/// Numbers of joins, conditions and outputs to draw from, weights of the forms, and the percentage that is ordered.
type Choices = (&'static [usize], &'static [usize], &'static [usize], [u8; 4], u8);

/// The wish for the outermost SELECT.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a clause that is there or not")]
pub(super) struct Draft {
    pub form: Form,
    pub joins: usize,
    pub special: Option<Special>,
    pub conditions: usize,
    pub outputs: usize,
    pub distinct: bool,
    pub having: bool,
    pub ordered: bool,
    pub limited: bool,
    pub offset: bool,
    pub compound: Option<(SetOperator, bool)>,
    pub nest: Option<Nest>,
    /// Whether a value of what is shown may be that of many rows.
    pub shared: bool,
    /// Operators that the outputs or conditions are to have; each is taken out when it is made.
    pub wanted: Vec<&'static str>,
}

impl Draft {
    /// A draft that leads to what is wished for, as far as one can say beforehand.
    pub(super) fn draw(wish: &Wish, random: &mut Random) -> Self {
        let mut draft = Self::of_tier(wish, random);
        draft.wanted = vec![wish.operator.get().name];
        if wish.tier == Tier::HighlyComplex {
            let extras = ["in_list", "like", "between", "and"];
            for _ in 0..2 {
                let extra = random.pick(&extras).copied();
                draft.wanted.extend(extra.filter(|_| random.chance(40)));
            }
        }
        draft.insist(wish.operator.get().name, random);
        // "Only those with two songs, only the one with the most" is not asked.
        if draft.having && draft.limited {
            let keeps_limit = matches!(wish.operator.get().name, "limit" | "offset");
            (draft.having, draft.limited) = (!keeps_limit, keeps_limit);
        }
        if draft.having
            && draft.ordered
            && !matches!(wish.operator.get().name, "order_by" | "limit" | "offset")
        {
            (draft.ordered, draft.limited) = (false, false);
        }
        // "Dogs whose age is above 3 and that have treatments whose cost is below 5."
        let is_brief = wish.tier < Tier::HighlyComplex && wish.depth == 2;
        if is_brief && matches!(draft.nest, Some(Nest::In | Nest::Exists)) && random.chance(80) {
            draft.conditions = 0;
        }
        if draft.nest == Some(Nest::Output) {
            (draft.joins, draft.special) = (0, None);
        }
        // A product or an outer join of three tables is understood by nobody.
        if draft.special.is_some() {
            draft.joins = 1;
        }
        // What rows of several tables have to do with those of others takes many words.
        if matches!(draft.nest, Some(Nest::In | Nest::Exists)) && draft.joins > 0 {
            if draft.special.is_some() || wish.operator.get().name == "inner_join" {
                draft.nest = Some(Nest::Scalar);
            } else {
                draft.joins = 0;
            }
        }
        draft
    }

    fn of_tier(wish: &Wish, random: &mut Random) -> Self {
        let pick = |random: &mut Random, from: &[usize]| random.pick(from).copied().unwrap_or(0);
        let deep = wish.depth >= 4;
        let (joins, conditions, outputs, forms, ordered): Choices = match wish.tier {
            Tier::Simple => (&[0], &[0, 1, 1, 1, 2], &[1, 1, 1, 2, 2], [56, 28, 16, 0], 22),
            Tier::Moderate => (&[0, 1, 1, 1], &[0, 1, 1, 2], &[1, 1, 2, 2], [50, 13, 37, 0], 40),
            Tier::Complex if deep => (&[0, 0, 1], &[0, 1], &[1, 2], [75, 15, 10, 0], 10),
            Tier::Complex => (&[0, 1, 1, 1], &[1, 1, 2, 2], &[1, 2, 2], [75, 10, 15, 0], 35),
            Tier::HighlyComplex if deep => (&[0, 1, 1, 2], &[1, 1, 2], &[1, 2], [60, 10, 30, 0], 40),
            Tier::HighlyComplex => (&[1, 2, 2], &[2, 2, 3], &[1, 2, 2], [36, 4, 60, 0], 60),
        };
        let form = [Form::List, Form::Aggregate, Form::Grouped, Form::Windowed]
            [weighted(&forms.map(f64::from), random).unwrap_or(0)];
        let ordered = random.chance(ordered) && matches!(form, Form::List | Form::Grouped);
        let is_compound = wish.tier >= Tier::Moderate
            && random.chance(match wish.tier {
                Tier::HighlyComplex => 8,
                _ => 0,
            });
        Self {
            form,
            joins: pick(random, joins),
            special: None,
            conditions: pick(random, conditions),
            outputs: pick(random, outputs),
            distinct: form == Form::List && random.chance(10),
            having: form == Form::Grouped
                && random.chance(if wish.tier >= Tier::HighlyComplex { 45 } else { 8 }),
            ordered,
            limited: ordered && random.chance(50),
            offset: false,
            compound: is_compound.then(|| set_operator(random)),
            nest: (wish.depth > 1).then(|| nest(wish, random)),
            shared: false,
            wanted: Vec::new(),
        }
    }

    /// Makes sure of an operator that is part of the structure.
    fn insist(&mut self, operator: &str, random: &mut Random) {
        let has_special = |kind| Some(Special::Kind(kind));
        match operator {
            "where" | "equal" | "not_equal" | "less" | "greater" | "between" | "in_list" | "like"
            | "is_null" | "or" | "not" => self.conditions = self.conditions.max(1),
            "and" => self.conditions = self.conditions.max(2),
            "distinct" if self.form != Form::Aggregate => {
                (self.form, self.distinct) = (Form::List, true);
            }
            "group_by" => self.form = Form::Grouped,
            "having" => (self.form, self.having) = (Form::Grouped, true),
            "order_by" | "limit" | "offset" => {
                if !matches!(self.form, Form::List | Form::Grouped) {
                    self.form = Form::List;
                }
                self.ordered = true;
                self.limited = operator != "order_by" || self.limited;
                self.offset = operator == "offset";
                self.compound = None;
            }
            "inner_join" => self.joins = self.joins.max(1),
            "left_join" => (self.special, self.joins) = (has_special(JoinKind::Left), self.joins.max(1)),
            "full_join" => (self.special, self.joins) = (has_special(JoinKind::Full), self.joins.max(1)),
            "cross_join" => (self.special, self.joins) = (has_special(JoinKind::Cross), self.joins.max(1)),
            "self_join" => (self.special, self.joins) = (Some(Special::SelfJoin), self.joins.max(1)),
            "union" => self.compound = Some((SetOperator::Union, false)),
            "union_all" => self.compound = Some((SetOperator::Union, true)),
            "intersect" => self.compound = Some((SetOperator::Intersect, false)),
            "except" => self.compound = Some((SetOperator::Except, false)),
            "window" => {
                self.form = Form::Windowed;
                (self.ordered, self.limited, self.distinct, self.having) = (false, false, false, false);
                self.compound = None;
            }
            "concat" | "case" | "cast" | "arithmetic" if self.form == Form::Windowed => {
                self.form = Form::List;
            }
            "count" | "sum" | "average" | "extremum"
                if !matches!(self.form, Form::Aggregate | Form::Grouped) =>
            {
                self.form = if random.chance(50) { Form::Aggregate } else { Form::Grouped };
                self.distinct = false;
            }
            _ => {}
        }
        if self.form == Form::Aggregate {
            (self.ordered, self.limited, self.distinct) = (false, false, false);
        }
        if self.form != Form::Grouped {
            self.having = false;
        }
    }

    /// Takes the first wanted operator out that is among those, if any.
    pub(super) fn take(&mut self, operators: &[&str]) -> Option<&'static str> {
        let at = self.wanted.iter().position(|wanted| operators.contains(wanted))?;
        Some(self.wanted.remove(at))
    }
}

fn set_operator(random: &mut Random) -> (SetOperator, bool) {
    let all = [
        (SetOperator::Union, false),
        (SetOperator::Intersect, false),
        (SetOperator::Intersect, false),
        (SetOperator::Except, false),
        (SetOperator::Except, false),
    ];
    random.pick(&all).copied().unwrap_or(all[0])
}

fn nest(wish: &Wish, random: &mut Random) -> Nest {
    match wish.operator.get().name {
        "derived_table" => Nest::Derived,
        "with" => Nest::With,
        "scalar_subquery" => Nest::Scalar,
        "in_subquery" => Nest::In,
        "exists" => Nest::Exists,
        "correlated_subquery" => {
            let all = [Nest::Exists, Nest::Exists, Nest::Exists, Nest::Output, Nest::Scalar];
            *random.pick(&all).unwrap_or(&Nest::Exists)
        }
        _ => any_nest(wish.depth, random),
    }
}

/// How a level is put inside where nothing else decides; deep queries are mostly chains of IN.
pub(super) fn any_nest(levels: usize, random: &mut Random) -> Nest {
    use Nest::{Derived, Exists, Having, In, Output, Scalar, With};
    let all = [In, Scalar, Exists, Derived, With, Having, Output];
    let weights = if levels > 3 {
        [70.0, 8.0, 18.0, 2.0, 1.0, 1.0, 0.0]
    } else {
        [6.0, 45.0, 42.0, 1.0, 1.0, 1.0, 1.0]
    };
    all[weighted(&weights, random).unwrap_or(0)]
}

/// A place drawn by weight; `None` if all weights are 0.
pub(crate) fn weighted(weights: &[f64], random: &mut Random) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    let mut left = random.unit() * total;
    for (place, &weight) in weights.iter().enumerate() {
        if weight > 0.0 && left < weight {
            return Some(place);
        }
        left -= weight;
    }
    weights.iter().rposition(|&weight| weight > 0.0)
}
