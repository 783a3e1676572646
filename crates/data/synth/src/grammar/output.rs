//! Result columns: plain ones, aggregates, groups, windows, and what is computed.

use sqlgauge_names::spoken_words;
use sqlgauge_sql::derive;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Aggregate, Args, BinaryOperator, ColumnRef, Expr, Literal, OrderTerm, Output, Real, Select, Window,
    WindowCall,
};

use super::condition::{comparison, forget, round};
use super::draft::{Draft, Form};
use super::from::referred;
use super::{Facet, FromRelation, Grammar, TypedSelect};
use crate::tier::Tier;
use crate::world::ContentKind;

/// Operators of computed columns.
const COMPUTED: &[&str] = &["case", "arithmetic", "concat", "cast"];
/// Operators of aggregates.
const AGGREGATES: &[&str] = &["count", "sum", "average", "extremum"];

impl Grammar<'_> {
    /// The outputs of a draft, with GROUP BY and HAVING. With `inner`, HAVING compares with a subquery of so many levels.
    pub(super) fn outputs(
        &mut self,
        scope: &[FromRelation],
        draft: &mut Draft,
        inner: Option<usize>,
    ) -> Option<TypedSelect> {
        match draft.form {
            Form::List => self.list(scope, draft),
            Form::Aggregate => self.aggregates(scope, draft),
            Form::Grouped => self.grouped(scope, draft, inner),
            Form::Windowed => self.windowed(scope, draft),
        }
    }

    fn list(&mut self, scope: &[FromRelation], draft: &mut Draft) -> Option<TypedSelect> {
        let shared = draft.shared || draft.distinct;
        // Beside the id of a visitor "the name" would be the visitor's, and not that of the museum.
        let refers = scope.len() == 2 && scope[0].refers && !draft.ordered;
        let relations = if refers || self.demand.is_some() { scope } else { scope.get(..1)? };
        let mut facets = self.columns(relations, draft.outputs, shared);
        let mut outputs: Vec<Output> = facets.iter().map(|facet| Output::of(facet.expr())).collect();
        let wanted = draft.take(COMPUTED);
        if let Some((expr, facet)) = wanted.and_then(|operator| self.computed(scope, operator)) {
            if outputs.len() > 1 || (self.wish.tier == Tier::Simple && self.chance(50)) {
                outputs.pop();
                facets.pop();
            }
            outputs.push(Output::of(expr));
            facets.push(facet);
        }
        (!outputs.is_empty()).then(|| {
            let mut select = Select::of(outputs);
            select.distinct = draft.distinct;
            TypedSelect { select, facets }
        })
    }

    /// Different columns; by what a person calls a row comes first. With `shared`, those of which rows share the values.
    pub(super) fn columns(&mut self, scope: &[FromRelation], count: usize, shared: bool) -> Vec<Facet> {
        let mut facets: Vec<Facet> = Vec::new();
        let count = if shared { 1 } else { count };
        let subject = scope.first().map(|bound| bound.id);
        let demanded = self.demanded(scope);
        let all: Vec<(&FromRelation, &Facet)> =
            scope.iter().flat_map(|bound| bound.facets.iter().map(move |facet| (bound, facet))).collect();
        if let Some((_, column)) = demanded {
            facets.extend(
                all.iter().find(|(_, facet)| facet.column == column).map(|(_, facet)| (*facet).clone()),
            );
            self.demand = None;
        }
        while facets.len() < count {
            let weight = |(bound, facet): &(&FromRelation, &Facet)| {
                let is_there = facets.iter().any(|other| {
                    other.column == facet.column || other.source == facet.source && other.source.is_some()
                });
                let is_own = self.profile(facet).is_some_and(|profile| profile.is_distinct);
                if is_there || shared && is_own {
                    return 0.0;
                }
                // Each of two tables has its part: one is shown where a condition reads the other.
                let is_new = !bound.is_read && facets.iter().all(|other| other.column.relation != bound.id);
                let part = match (facets.is_empty(), subject == Some(bound.id)) {
                    // What is asked for is of the table named first.
                    (true, false) => 0.01,
                    // "Countries with the names of their cities" is asked as "cities with the name of their country".
                    (false, false) if scope.len() == 2 && !scope[0].refers => 0.02,
                    (false, false) if is_new => 1.5,
                    (false, false) => 0.3,
                    _ => 1.0,
                };
                // Nobody asks for what is given.
                let novelty = if self.compared.contains(&facet.column) { 0.0 } else { 1.0 };
                part * novelty * self.worth_showing(facet, shared)
            };
            let weights: Vec<f64> = all.iter().map(weight).collect();
            let Some(place) = super::weighted(&weights, &mut self.random) else { break };
            facets.push(all[place].1.clone());
        }
        facets.sort_by_key(|facet| (Some(facet.column.relation) != subject, !self.is_label(facet)));
        facets
    }

    /// How much a person wants to see a column.
    fn worth_showing(&self, facet: &Facet, shared: bool) -> f64 {
        let has_label = facet.source.is_some_and(|(table, _)| !self.world.tables[table].labels.is_empty());
        match facet.kind {
            _ if self.is_label(facet) && !shared && !self.is_called_as_its_table(facet) => 10.0,
            _ if self.profile(facet).is_some_and(|profile| profile.is_cryptic) => 0.1,
            // The courses of courses.
            _ if self.is_called_as_its_table(facet) => 0.05,
            ContentKind::Category => 2.0,
            ContentKind::Number
                if !shared && self.profile(facet).is_some_and(|profile| profile.is_quantity) =>
            {
                1.5
            }
            ContentKind::Number if !shared => 0.4,
            ContentKind::Date => 1.0,
            ContentKind::Text => 1.5,
            ContentKind::Key if !has_label && !shared => 0.3,
            ContentKind::Key if !shared => 0.05,
            ContentKind::Key => 0.0,
            ContentKind::Number | ContentKind::Other => 0.01,
        }
    }

    /// Whether a column has the name of its table, be it in the singular.
    fn is_called_as_its_table(&self, facet: &Facet) -> bool {
        let Some((table, _)) = facet.source else { return false };
        let one = |name: &str| {
            let mut words = spoken_words(name);
            let last = words.pop().map(|last| sqlgauge_names::singular(&last).into_owned());
            words.extend(last);
            words
        };
        let table = self.world.schema.table(self.world.tables[table].id);
        table.is_some_and(|table| one(&table.name) == one(&facet.name))
    }

    fn aggregates(&mut self, scope: &[FromRelation], draft: &mut Draft) -> Option<TypedSelect> {
        let mut selection = TypedSelect { select: Select::of(Vec::new()), facets: Vec::new() };
        if let Some((expr, facet)) =
            draft.take(&["case", "arithmetic", "cast"]).and_then(|want| self.ratio(scope, want))
        {
            selection.select.outputs.push(Output::of(expr));
            selection.facets.push(facet);
        }
        let count = draft.outputs.min(1 + usize::from(self.chance(25)));
        while selection.select.outputs.len() < count.max(1) {
            let want = draft.take(AGGREGATES);
            let (expr, facet) =
                match selection.select.outputs.last().and_then(|last| self.companion(&last.expr)) {
                    Some(companion) if want.is_none() => companion,
                    _ => self.aggregate(scope, want)?,
                };
            let is_new = selection.select.outputs.iter().all(|other| other.expr != expr);
            if !is_new {
                break;
            }
            selection.select.outputs.push(Output::of(expr));
            selection.facets.push(facet);
        }
        Some(selection)
    }

    /// Whether a column is called by a quantity, or computed.
    pub(super) fn is_quantity(&self, facet: &Facet) -> bool {
        self.profile(facet).is_none_or(|profile| profile.is_quantity)
    }

    /// Another aggregate of the same column: the highest beside the average.
    fn companion(&mut self, aggregate: &Expr) -> Option<(Expr, Facet)> {
        let Expr::Aggregate(call) = aggregate else { return None };
        let [Expr::Column(column)] = call.args.as_slice() else { return None };
        let functions = [Function::Avg, Function::Max, Function::Min];
        let others: Vec<&Function> =
            functions.iter().filter(|function| **function != call.function).collect();
        let function = (*self.random.pick(&others)?).clone();
        let args = Args::List(vec![Expr::Column(*column)]);
        let is_measured = functions.contains(&call.function);
        is_measured.then(|| {
            let expr = Expr::Aggregate(Box::new(Aggregate::plain(function, args)));
            (expr, computed_facet(*column, "figure", false))
        })
    }

    /// An aggregate that means something for the column that it is over.
    pub(super) fn aggregate(&mut self, scope: &[FromRelation], want: Option<&str>) -> Option<(Expr, Facet)> {
        let want =
            want.unwrap_or(["count", "count", "sum", "average", "average", "extremum"][self.random.below(6)]);
        let all: Vec<&Facet> = scope.iter().flat_map(|bound| &bound.facets).collect();
        let numbers: Vec<&Facet> = all
            .iter()
            .filter(|facet| facet.kind == ContentKind::Number && !self.compared.contains(&facet.column))
            .filter(|facet| !is_rank(facet))
            .copied()
            .collect();
        let demanded = self.demanded(scope).map(|(_, column)| column);
        let number = numbers.iter().find(|facet| Some(facet.column) == demanded).copied();
        // A row counts once for each row that refers to it.
        let repeats = |facet: &Facet| {
            scope.len() > 2
                || scope.len() > 1
                    && scope.iter().any(|bound| bound.id == facet.column.relation && !bound.refers)
        };
        // A number of unknown meaning may be a code.
        let weight = |facet: &&Facet| {
            let once = if repeats(facet) { 0.0 } else { 1.0 };
            if self.is_quantity(facet) { once } else { once * 0.15 }
        };
        let weights: Vec<f64> = numbers.iter().map(weight).collect();
        let number = number.or_else(|| Some(numbers[super::weighted(&weights, &mut self.random)?]));
        match (want, number) {
            ("sum", _) => {
                let summed: Vec<&Facet> = numbers
                    .iter()
                    .filter(|facet| self.profile(facet).is_some_and(|profile| profile.adds_up))
                    .filter(|facet| !repeats(facet))
                    .copied()
                    .collect();
                let facet = *self.random.pick(&summed)?;
                Some(aggregate_of(Function::Sum, facet, false, "total"))
            }
            // A number of unknown meaning is seldom averaged.
            ("average" | "extremum", Some(facet)) if !self.is_quantity(facet) && self.chance(80) => {
                self.count(scope, &all)
            }
            ("average", Some(facet)) if repeats(facet) && Some(facet.column) != demanded => {
                self.count(scope, &all)
            }
            ("average", Some(facet)) => Some(aggregate_of(Function::Avg, facet, false, "average")),
            ("extremum", number) => {
                let dates: Vec<&Facet> =
                    all.iter().filter(|facet| facet.kind == ContentKind::Date).copied().collect();
                let has_dates = self.chance(20);
                let facet = number.or_else(|| self.random.pick(&dates).copied().filter(|_| has_dates))?;
                let is_max = self.chance(60);
                let (function, word) = if is_max { (Function::Max, "max") } else { (Function::Min, "min") };
                Some(aggregate_of(function, facet, false, word))
            }
            _ => self.count(scope, &all),
        }
    }

    /// Whether the rows are those of one table: pairs of languages and cities of a country are not counted.
    fn counts_one_table(&self, scope: &[FromRelation]) -> bool {
        let tables: Vec<usize> = scope.iter().filter_map(|bound| bound.table).collect();
        let leads_to_all = |&start: &usize| {
            let parents = referred(self.world, start, |link| tables.contains(&link.parent));
            tables.iter().all(|table| parents.contains(table))
        };
        let is_one = scope.len() < 3 || tables.len() < scope.len() || tables.iter().any(leads_to_all);
        is_one && !self.keeps_all
    }

    /// The number of rows, or of the different values of a column that has some more than once.
    fn count(&mut self, scope: &[FromRelation], all: &[&Facet]) -> Option<(Expr, Facet)> {
        if !self.counts_one_table(scope) {
            return None;
        }
        let shared: Vec<&Facet> = all
            .iter()
            .filter(|facet| !self.compared.contains(&facet.column))
            .filter(|facet| {
                facet.kind == ContentKind::Category
                    || facet.kind == ContentKind::Text
                        && self.profile(facet).is_some_and(|profile| !profile.is_distinct)
            })
            .copied()
            .collect();
        if scope.len() == 1
            && self.chance(12)
            && let Some(facet) = self.random.pick(&shared)
        {
            return Some(aggregate_of(Function::Count, facet, true, "count"));
        }
        let facet = Facet {
            column: all.first()?.column,
            kind: ContentKind::Number,
            is_integer: true,
            source: None,
            name: "row_count".to_owned(),
        };
        Some((Expr::Aggregate(Box::new(Aggregate::plain(Function::Count, Args::Star))), facet))
    }

    fn grouped(
        &mut self,
        scope: &[FromRelation],
        draft: &mut Draft,
        inner: Option<usize>,
    ) -> Option<TypedSelect> {
        let keys = self.group_keys(scope)?;
        let mut group_by: Vec<Expr> = keys.iter().map(Facet::expr).collect();
        // A row is called by its name and told from others by its key.
        let is_named = keys.len() > 1 && self.is_unique(&keys[0]);
        // "The number of series for all channels with series whose share is 5" would be that of all series of these.
        if scope.len() == 2 && !scope[0].refers && !is_named && !self.keeps_all && self.wish.demand.is_none()
        {
            return None;
        }
        let mut facets = if is_named { keys[1..].to_vec() } else { keys };
        let mut outputs: Vec<Output> = facets.iter().map(|facet| Output::of(facet.expr())).collect();
        if is_named {
            group_by.truncate(1);
        }
        // What is the same in a group is not computed of it.
        let mut scope = scope.to_vec();
        group_by.iter().for_each(|key| forget(&mut scope, key));
        if is_named && let Some(Expr::Column(key)) = group_by.first() {
            scope.retain(|bound| bound.id != key.relation);
        }
        let scope = scope.as_slice();
        let count = draft.outputs.saturating_sub(1).clamp(1, 2).min(1 + usize::from(self.chance(25)));
        for _ in 0..count {
            let ratio = draft.take(&["case", "arithmetic", "cast"]).and_then(|want| self.ratio(scope, want));
            let want = draft.take(AGGREGATES);
            let (expr, facet) = match ratio {
                Some(ratio) => ratio,
                None => self.aggregate(scope, want)?,
            };
            if outputs.iter().all(|other| other.expr != expr) {
                outputs.push(Output::of(expr));
                facets.push(facet);
            }
        }
        let having = match inner {
            Some(levels) => Some(self.having_subquery(scope, levels)?),
            None if draft.having && self.counts_one_table(scope) => Some(self.having(scope)?),
            None => None,
        };
        Some(TypedSelect { select: Select { group_by, having, ..Select::of(outputs) }, facets })
    }

    /// Whether the schema says that no two rows have the same value.
    fn is_unique(&self, facet: &Facet) -> bool {
        facet.source.is_some_and(|(table, column)| {
            let table = self.world.schema.table(self.world.tables[table].id);
            table.is_some_and(|table| table.is_unique(&[column]))
        })
    }

    /// A category, or the key of a row with what names it.
    fn group_keys(&mut self, scope: &[FromRelation]) -> Option<Vec<Facet>> {
        let profile = |facet: &Facet| {
            facet.source.map(|(table, column)| &self.world.tables[table].columns[column as usize])
        };
        let all: Vec<(usize, &Facet)> = scope
            .iter()
            .enumerate()
            .flat_map(|(at, bound)| bound.facets.iter().map(move |facet| (at, facet)))
            .collect();
        let demanded = self.demanded(scope).map(|(_, column)| column);
        let weight = |(at, facet): &(usize, &Facet)| {
            let Some(profile) = profile(facet) else { return 0.0 };
            let bound = &scope[*at];
            let is_demanded = demanded == Some(facet.column) && !profile.is_distinct;
            match facet.kind {
                _ if is_demanded => 100.0,
                _ if profile.distinct < 2 => 0.0,
                ContentKind::Category if profile.is_cryptic => 0.0,
                ContentKind::Category => 4.0,
                // Each row of one table with those of another that refer to it.
                ContentKind::Key
                    if scope.len() == 2 && *at == 0 && !bound.refers && self.is_unique(facet) =>
                {
                    8.0
                }
                ContentKind::Key if !profile.is_distinct && profile.is_text => 0.6,
                ContentKind::Key if !profile.is_distinct => 0.03,
                ContentKind::Text if !profile.is_distinct && !self.is_label(facet) => 1.0,
                ContentKind::Date if facet.is_integer && !profile.is_distinct => 0.8,
                _ => 0.0,
            }
        };
        let weights: Vec<f64> = all.iter().map(weight).collect();
        // Groups by a number that names nothing are seldom asked for, be there nothing else.
        if weights.iter().sum::<f64>() < 0.5 && self.chance(85) {
            return None;
        }
        let (at, key) = all[super::weighted(&weights, &mut self.random)?];
        let mut keys = vec![key.clone()];
        let is_row = profile(key).is_some_and(|profile| profile.is_distinct);
        if key.kind == ContentKind::Key && is_row {
            let names: Vec<&Facet> = scope[at].facets.iter().filter(|facet| self.is_label(facet)).collect();
            if let Some(name) = self.random.pick(&names) {
                keys.push((*name).clone());
            }
        }
        if demanded == Some(keys[0].column) {
            self.demand = None;
        }
        Some(keys)
    }

    /// `count(*) > n`, or an aggregate against a value of its column.
    fn having(&mut self, scope: &[FromRelation]) -> Option<Expr> {
        if self.chance(85) {
            return self.more_than(&[1, 1, 2, 2, 3, 5]);
        }
        let numbers = counted_once(scope);
        let Some(facet) = self.random.pick(&numbers) else { return self.more_than(&[1, 2]) };
        let Some((table, column)) = facet.source else { return self.more_than(&[1, 2]) };
        let row = self.random.below(self.world.tables[table].sample.len());
        let value = round(facet, self.world.tables[table].value(row, column)?, true);
        let function = self.random.pick(&[Function::Avg, Function::Avg, Function::Max])?.clone();
        let aggregate = Aggregate::plain(function, Args::List(vec![facet.expr()]));
        let operator = BinaryOperator::GreaterEqual;
        Some(Expr::Binary(
            operator,
            Box::new(Expr::Aggregate(Box::new(aggregate))),
            Box::new(Expr::Literal(value)),
        ))
    }

    /// An aggregate against that of all rows.
    fn having_subquery(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let numbers = counted_once(scope);
        let facet = self.random.pick(&numbers)?.clone();
        let query = self.value_query(facet.source?, Function::Avg, levels, None)?;
        let aggregate = Aggregate::plain(Function::Avg, Args::List(vec![facet.expr()]));
        let operator = *self.random.pick(&[BinaryOperator::Greater, BinaryOperator::Less])?;
        Some(Expr::Binary(
            operator,
            Box::new(Expr::Aggregate(Box::new(aggregate))),
            Box::new(Expr::Scalar(Box::new(query))),
        ))
    }

    /// Columns with a rank within a category, or an aggregate over it.
    fn windowed(&mut self, scope: &[FromRelation], draft: &mut Draft) -> Option<TypedSelect> {
        let mut facets = self.columns(scope, draft.outputs.max(1), false);
        let all: Vec<&Facet> = scope.iter().flat_map(|bound| &bound.facets).collect();
        let of_kind = |kinds: &[ContentKind]| -> Vec<&Facet> {
            all.iter().filter(|facet| kinds.contains(&facet.kind)).copied().collect()
        };
        let (numbers, categories) = (of_kind(&[ContentKind::Number]), of_kind(&[ContentKind::Category]));
        let partition = self.random.pick(&categories).map(|facet| facet.expr());
        let is_partitioned = self.chance(65);
        let partition_by: Vec<Expr> = partition.into_iter().filter(|_| is_partitioned).collect();
        let sorted = of_kind(&[ContentKind::Number, ContentKind::Date]);
        let (function, args, order_by) = if self.chance(70) {
            let key = self.random.pick(&sorted)?.expr();
            let function = self.random.pick(&[Function::Rank, Function::DenseRank])?.clone();
            // The first by share has the largest one.
            (function, Vec::new(), vec![OrderTerm { expr: key, descending: true, nulls_first: None }])
        } else {
            let function = self.random.pick(&[Function::Avg, Function::Sum, Function::Max])?.clone();
            (function, vec![self.random.pick(&numbers)?.expr()], Vec::new())
        };
        let window = Window { partition_by, order_by, frame: None };
        let call = WindowCall { function, args: Args::List(args), filter: None, window };
        let mut outputs: Vec<Output> = facets.iter().map(|facet| Output::of(facet.expr())).collect();
        let first = facets.first()?.column;
        outputs.push(Output::of(Expr::Window(Box::new(call))));
        facets.push(computed_facet(first, "rank", true));
        Some(TypedSelect { select: Select::of(outputs), facets })
    }

    /// A value that is computed from columns of a row.
    fn computed(&mut self, scope: &[FromRelation], operator: &str) -> Option<(Expr, Facet)> {
        let all: Vec<&Facet> = scope.iter().flat_map(|bound| &bound.facets).collect();
        let numbers: Vec<&Facet> =
            all.iter().filter(|facet| facet.kind == ContentKind::Number).copied().collect();
        let texts: Vec<&Facet> = all
            .iter()
            .filter(|facet| matches!(facet.kind, ContentKind::Text | ContentKind::Category))
            .copied()
            .collect();
        match operator {
            "case" => self.labelled(&numbers),
            "arithmetic" => self.calculated(&numbers),
            "concat" => {
                let subject = scope.first().map(|bound| bound.id);
                let of_subject = texts.iter().filter(|facet| Some(facet.column.relation) == subject);
                self.concatenated(&of_subject.copied().collect::<Vec<_>>())
            }
            "cast" => {
                let facet = *self.random.pick(&numbers)?;
                let type_name = if facet.is_integer { "REAL" } else { "INTEGER" };
                let expr = Expr::Cast { expr: Box::new(facet.expr()), type_name: type_name.to_owned() };
                Some((expr, computed_facet(facet.column, &facet.name, !facet.is_integer)))
            }
            _ => None,
        }
    }

    /// One word for numbers above a value, another for the others.
    fn labelled(&mut self, numbers: &[&Facet]) -> Option<(Expr, Facet)> {
        let facet = *self.random.pick(numbers)?;
        let condition = self.threshold(facet)?;
        let pairs = [("high", "low"), ("above", "below"), ("yes", "no")];
        let &(yes, no) = self.random.pick(&pairs)?;
        let text = |text: &str| Expr::Literal(Literal::Text(text.to_owned()));
        let expr = Expr::Case {
            operand: None,
            branches: vec![(condition, text(yes))],
            otherwise: Some(Box::new(text(no))),
        };
        Some((expr, Facet { kind: ContentKind::Text, ..computed_facet(facet.column, "level", false) }))
    }

    /// A number with another one, or times a constant.
    fn calculated(&mut self, numbers: &[&Facet]) -> Option<(Expr, Facet)> {
        let left = *self.random.pick(numbers)?;
        // Numbers of one table and of one noun: the points of the winner and those of the loser.
        let noun = |facet: &Facet| spoken_words(&facet.name).pop();
        let is_alike = |other: &&&Facet| {
            other.column != left.column
                && other.column.relation == left.column.relation
                && noun(other) == noun(left)
        };
        let others: Vec<&Facet> = numbers.iter().filter(is_alike).copied().collect();
        let (operator, right) = match self.random.pick(&others) {
            Some(other) if self.random.chance(70) => {
                let operators = [BinaryOperator::Add, BinaryOperator::Subtract, BinaryOperator::Subtract];
                (*self.random.pick(&operators)?, other.expr())
            }
            _ => {
                let factor = *self.random.pick(&[2.0, 0.5, 1.1, 0.9, 100.0])?;
                (BinaryOperator::Multiply, Expr::Literal(Literal::Real(Real::new(factor))))
            }
        };
        let expr = Expr::Binary(operator, Box::new(left.expr()), Box::new(right));
        Some((expr, computed_facet(left.column, "result", false)))
    }

    /// Two texts with something between them.
    fn concatenated(&mut self, texts: &[&Facet]) -> Option<(Expr, Facet)> {
        let left = *self.random.pick(texts)?;
        let others: Vec<&Facet> = texts.iter().filter(|facet| facet.column != left.column).copied().collect();
        let right = self.random.pick(&others)?.expr();
        let separator = *self.random.pick(&[" ", ", ", " - "])?;
        let separator = Expr::Literal(Literal::Text(separator.to_owned()));
        let head = Expr::Binary(BinaryOperator::Concat, Box::new(left.expr()), Box::new(separator));
        let expr = Expr::Binary(BinaryOperator::Concat, Box::new(head), Box::new(right));
        Some((expr, Facet { kind: ContentKind::Text, ..computed_facet(left.column, "label", false) }))
    }

    /// A value that is computed from aggregates: a count by condition, a difference, a share.
    fn ratio(&mut self, scope: &[FromRelation], operator: &str) -> Option<(Expr, Facet)> {
        let numbers: Vec<&Facet> = scope
            .iter()
            .flat_map(|bound| &bound.facets)
            .filter(|facet| facet.kind == ContentKind::Number)
            .collect();
        let facet = *self.random.pick(&numbers)?;
        let of = |function: Function, expr: Expr| Box::new(Expr::aggregate(function, Args::List(vec![expr])));
        let expr = match operator {
            "case" => *of(Function::Sum, Expr::one_if(self.threshold(facet)?)),
            "cast" => {
                let sum = of(Function::Sum, facet.expr());
                let cast = Expr::Cast { expr: sum, type_name: "REAL".to_owned() };
                let count = Expr::aggregate(Function::Count, Args::Star);
                Expr::Binary(BinaryOperator::Divide, Box::new(cast), Box::new(count))
            }
            _ => Expr::Binary(
                BinaryOperator::Subtract,
                of(Function::Max, facet.expr()),
                of(Function::Min, facet.expr()),
            ),
        };
        Some((expr, computed_facet(facet.column, "figure", false)))
    }

    /// A number compared with a value of its column.
    fn threshold(&mut self, facet: &Facet) -> Option<Expr> {
        let (table, column) = facet.source?;
        let row = self.random.below(self.world.tables[table].sample.len());
        let value = round(facet, self.world.tables[table].value(row, column)?, true);
        let operator = *self.random.pick(&[BinaryOperator::Greater, BinaryOperator::GreaterEqual])?;
        Some(comparison(operator, facet, value))
    }
}

/// A function over a column, and what its result is.
fn aggregate_of(function: Function, facet: &Facet, distinct: bool, word: &str) -> (Expr, Facet) {
    let is_integer = function == Function::Count || (facet.is_integer && function != Function::Avg);
    let kind = if function == Function::Count { ContentKind::Number } else { facet.kind };
    let has_source = matches!(function, Function::Min | Function::Max | Function::Avg);
    let result = Facet {
        column: facet.column,
        kind,
        is_integer,
        source: if has_source { facet.source } else { None },
        name: format!("{word}_{}", facet.name),
    };
    let aggregate = Aggregate { distinct, ..Aggregate::plain(function, Args::List(vec![facet.expr()])) };
    (Expr::Aggregate(Box::new(aggregate)), result)
}

fn computed_facet(column: ColumnRef, name: &str, is_integer: bool) -> Facet {
    Facet { column, kind: ContentKind::Number, is_integer, source: None, name: name.to_owned() }
}

/// The numbers of the table that has a row for each row of the query: those of others count once for each row that refers to them.
fn counted_once(scope: &[FromRelation]) -> Vec<Facet> {
    let is_once = |bound: &&FromRelation| {
        bound.table.is_some() && (scope.len() == 1 || scope.len() == 2 && bound.refers)
    };
    let facets = scope.iter().filter(is_once).flat_map(|bound| &bound.facets);
    facets.filter(|facet| facet.kind == ContentKind::Number).cloned().collect()
}

/// Whether a column says a place in an order.
pub(super) fn is_rank(facet: &Facet) -> bool {
    sqlgauge_names::is_rank(&spoken_words(&facet.name))
}

pub(super) fn has_aggregate(select: &Select) -> bool {
    select.outputs.iter().any(|output| derive::has_aggregate(&output.expr))
}
