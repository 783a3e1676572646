//! The functional dependencies among the columns of one SELECT.

use super::Facts;
use super::conditions::{collect_columns, conjuncts, conjuncts_of, has_subquery, rejects_null};
use crate::tree::{BinaryOperator, ColumnRef, Expr, From, JoinKind, Place, RelationId, Select};
use crate::visit::children;

/// Most relations in one FROM clause whose dependencies are followed.
const MAX_RELATIONS: usize = 128;

/// The functional dependencies among the columns of one SELECT: which columns are fixed once others are.
#[derive(Debug)]
pub struct Dependencies<'a> {
    facts: &'a Facts<'a>,
    relations: Vec<RelationId>,
    /// The first fixes the second.
    fixes: Vec<(ColumnRef, ColumnRef)>,
    linked: Vec<ColumnRef>,
    constant: Vec<ColumnRef>,
    not_null: Vec<ColumnRef>,
    /// For a relation on the right of a LEFT JOIN: its own columns that ON equates, with what with, and
    /// all other columns that ON reads.
    outer: Vec<OuterLink>,
}

#[derive(Debug)]
struct OuterLink {
    relation: RelationId,
    equal: Vec<(Place, ColumnRef)>,
    reads: Vec<ColumnRef>,
}

/// Columns that are fixed.
#[derive(Debug, Default)]
pub struct Closure {
    columns: Vec<ColumnRef>,
    relations: Vec<RelationId>,
    all: Vec<RelationId>,
}

impl Closure {
    /// Whether the column is fixed; a column of an enclosing query always is.
    pub fn contains(&self, column: ColumnRef) -> bool {
        self.relations.contains(&column.relation)
            || self.columns.contains(&column)
            || !self.all.contains(&column.relation)
    }

    /// Whether every row of every relation is fixed.
    pub fn is_complete(&self) -> bool {
        self.all.iter().all(|relation| self.relations.contains(relation))
    }

    /// Whether the value of the expression is fixed: it is a function of fixed columns.
    pub fn determines(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.contains(*column),
            Expr::Scalar(_)
            | Expr::Exists { .. }
            | Expr::InQuery { .. }
            | Expr::Output(_)
            | Expr::Window(_) => false,
            Expr::Function { function, args } if !function.is_deterministic(args) => false,
            other => {
                let mut all = true;
                children(other, &mut |child| all = all && self.determines(child));
                all
            }
        }
    }
}

impl<'a> Dependencies<'a> {
    /// The dependencies that keys, equalities in WHERE and ON, and comparisons with constants make.
    pub fn of(select: &Select, facts: &'a Facts<'a>) -> Self {
        let relations = select.from.as_ref().map(From::relations).unwrap_or_default();
        let mut dependencies = Self {
            facts,
            relations: relations.iter().map(|relation| relation.id).collect(),
            fixes: Vec::new(),
            linked: Vec::new(),
            constant: Vec::new(),
            not_null: Vec::new(),
            outer: Vec::new(),
        };
        for conjunct in conjuncts(select) {
            dependencies.learn(conjunct);
        }
        if let Some(from) = &select.from {
            dependencies.outer_joins(from);
        }
        dependencies
    }

    fn learn(&mut self, conjunct: &Expr) {
        if let Expr::Binary(BinaryOperator::Equal, left, right) = conjunct {
            match (left.as_ref(), right.as_ref()) {
                (Expr::Column(a), Expr::Column(b)) => self.equate(*a, *b),
                // Without an affinity 1 and 1.0 are equal and yet two values.
                (Expr::Column(a), constant @ Expr::Literal(_))
                | (constant @ Expr::Literal(_), Expr::Column(a))
                    if self.facts.equality_fixes(constant, &Expr::Column(*a)) =>
                {
                    self.constant.push(*a);
                }
                _ => {}
            }
        }
        let mut columns = Vec::new();
        collect_columns(conjunct, &mut columns);
        if let Expr::Exists { query, negated: false } = conjunct
            && let Some(select) = query.as_select()
        {
            conjuncts(select).into_iter().for_each(|inner| collect_columns(inner, &mut columns));
        }
        self.not_null.extend(columns.into_iter().filter(|column| rejects_null(conjunct, *column)));
    }

    /// A column that equals a fixed one is fixed if no two of its values equal one value.
    fn equate(&mut self, a: ColumnRef, b: ColumnRef) {
        let (of_a, of_b) = (Expr::Column(a), Expr::Column(b));
        if self.facts.equality_fixes(&of_a, &of_b) {
            self.fixes.push((a, b));
        }
        if self.facts.equality_fixes(&of_b, &of_a) {
            self.fixes.push((b, a));
        }
        self.linked.extend([a, b]);
    }

    fn outer_joins(&mut self, from: &From) {
        let From::Join(join) = from else { return };
        self.outer_joins(&join.left);
        self.outer_joins(&join.right);
        let (JoinKind::Left, From::Relation(right), Some(on)) = (join.kind, &join.right, &join.on) else {
            return;
        };
        let mut link = OuterLink { relation: right.id, equal: Vec::new(), reads: Vec::new() };
        for part in conjuncts_of(Some(on)) {
            if let Expr::Binary(BinaryOperator::Equal, a, b) = part
                && let (Expr::Column(x), Expr::Column(y)) = (a.as_ref(), b.as_ref())
            {
                if x.relation == right.id && self.facts.equality_fixes(b, a) {
                    link.equal.push((x.column, *y));
                } else if y.relation == right.id && self.facts.equality_fixes(a, b) {
                    link.equal.push((y.column, *x));
                }
            }
            collect_columns(part, &mut link.reads);
            if has_subquery(part) {
                return;
            }
        }
        link.reads.retain(|column| column.relation != right.id);
        self.outer.push(link);
    }

    /// Adds that a column is not NULL in the rows in question.
    pub fn assume_not_null(&mut self, column: ColumnRef) {
        self.not_null.push(column);
    }

    /// Whether an equality with another column keeps the column from being NULL.
    pub fn is_linked(&self, column: ColumnRef) -> bool {
        self.linked.contains(&column)
    }

    /// The columns that are fixed once `exprs` are, constants included.
    pub fn closure(&self, exprs: &[Expr]) -> Closure {
        let mut closure =
            Closure { columns: self.constant.clone(), relations: Vec::new(), all: self.relations.clone() };
        for expr in exprs {
            if let Expr::Column(column) = expr
                && self.facts.is_identity(expr)
            {
                closure.columns.push(*column);
            }
        }
        self.close(closure)
    }

    /// The columns that are fixed once the rows of those relations are.
    pub fn closure_of_rows(&self, relations: &[RelationId]) -> Closure {
        self.close(Closure {
            columns: self.constant.clone(),
            relations: relations.to_vec(),
            all: self.relations.clone(),
        })
    }

    fn close(&self, mut closure: Closure) -> Closure {
        // The fixed point takes time with the square of the relations; beyond any real query nothing is claimed.
        if self.relations.len() > MAX_RELATIONS {
            return closure;
        }
        loop {
            let before = (closure.columns.len(), closure.relations.len());
            for &(a, b) in &self.fixes {
                if closure.contains(a) && !closure.contains(b) {
                    closure.columns.push(b);
                }
            }
            for &relation in &self.relations {
                if !closure.relations.contains(&relation) && self.fixes_row(&closure, relation) {
                    closure.relations.push(relation);
                }
            }
            if before == (closure.columns.len(), closure.relations.len()) {
                return closure;
            }
        }
    }

    fn fixes_row(&self, closure: &Closure, relation: RelationId) -> bool {
        let sets = self.facts.unique_sets(relation);
        let direct = sets.iter().any(|set| {
            set.iter().all(|&column| {
                let column = ColumnRef { relation, column };
                closure.contains(column) && self.is_not_null(column)
            })
        });
        direct
            || self.outer.iter().filter(|link| link.relation == relation).any(|link| {
                link.reads.iter().all(|column| closure.contains(*column))
                    && sets.iter().any(|set| {
                        set.iter().all(|column| {
                            link.equal
                                .iter()
                                .any(|(inner, other)| inner == column && closure.contains(*other))
                        })
                    })
            })
    }

    /// Whether the column is never NULL in a row that passes, or NULL only in a row that an outer join filled.
    pub fn is_not_null(&self, column: ColumnRef) -> bool {
        self.not_null.contains(&column)
            || !self.facts.own_column(column).nullable
            || self.linked.contains(&column)
    }
}
