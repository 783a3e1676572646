//! Small pieces that many rules need.

use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Aggregate, Args, BinaryOperator, Body, ColumnRef, CteId, Expr, From, Join, JoinKind, Literal, Output,
    Owner, Place, Query, Relation, RelationId, Select, Source,
};
use sqlgauge_sql::visit::{
    Rewriter, Visitor, children, children_mut, rewrite_expr, rewrite_query, walk_expr, walk_query,
};
use sqlgauge_sql::{Dialect, PrintError};

use crate::context::Context;

/// The SELECT of a query that is nothing else: no compound, CTEs, ORDER BY, LIMIT or OFFSET.
pub(crate) fn plain_select(query: &Query) -> Option<&Select> {
    let bare =
        query.ctes.is_empty() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
    query.as_select().filter(|_| bare)
}

/// The SELECT of a query, to change it.
pub(crate) fn select_mut(query: &mut Query) -> Option<&mut Select> {
    match &mut query.body {
        Body::Select(select) => Some(select),
        Body::SetOperation { .. } | Body::Values(_) => None,
    }
}

/// Takes the SELECT out of a query that is known to be one.
pub(crate) fn take_select(query: &mut Query) -> Option<Select> {
    match std::mem::replace(&mut query.body, Body::Values(Vec::new())) {
        Body::Select(select) => Some(*select),
        other => {
            query.body = other;
            None
        }
    }
}

/// An equality.
pub(crate) fn equal(left: Expr, right: Expr) -> Expr {
    Expr::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right))
}

/// The constant 1.
pub(crate) fn one() -> Expr {
    Expr::Literal(Literal::Integer(1))
}

/// The constant TRUE, as an integer.
pub(crate) fn truth(value: bool) -> Expr {
    Expr::Literal(Literal::Integer(i64::from(value)))
}

/// Whether the expression is that constant.
pub(crate) fn is_truth(expr: &Expr, value: bool) -> bool {
    match expr {
        Expr::Literal(Literal::Integer(n)) => (*n != 0) == value,
        Expr::Literal(Literal::Real(real)) => (real.get() != 0.0) == value,
        Expr::Literal(Literal::Boolean(b)) => *b == value,
        _ => false,
    }
}

/// Whether `x operator right` asks for the truth of `x`: IS TRUE, IS FALSE and their negations. SQLite looks through
/// COLLATE and the hints of likelihood.
pub(crate) fn is_truth_test(operator: BinaryOperator, right: &Expr) -> bool {
    let mut right = right;
    loop {
        right = match right {
            Expr::Collate { expr, .. } => expr,
            Expr::Function {
                function: Function::Likely | Function::Unlikely | Function::Likelihood,
                args,
            } => match args.as_slice().first() {
                Some(hinted) => hinted,
                None => return false,
            },
            other => {
                return matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                    && matches!(other, Expr::Literal(Literal::Boolean(_)));
            }
        };
    }
}

/// Whether every condition of a join that reads one relation may read another in its place: SQLite lets ON read only
/// what is joined there.
pub(crate) fn may_stand_in(from: &From, old: RelationId, new: RelationId) -> bool {
    let From::Join(join) = from else { return true };
    let reads = join.on.iter().flat_map(columns_of).any(|column| column.relation == old);
    let sees = || from.relations().iter().any(|relation| relation.id == new);
    (!reads || sees()) && may_stand_in(&join.left, old, new) && may_stand_in(&join.right, old, new)
}

/// A plain aggregate of the query that it stands in.
pub(crate) fn aggregate(function: Function, args: Vec<Expr>) -> Expr {
    Expr::Aggregate(Box::new(Aggregate::plain(function, Args::List(args))))
}

/// The column that an expression is.
pub(crate) fn as_column(expr: &Expr) -> Option<ColumnRef> {
    match expr {
        Expr::Column(column) => Some(*column),
        _ => None,
    }
}

/// The integer that an expression is.
pub(crate) fn as_integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Integer(n)) => Some(*n),
        #[expect(clippy::cast_possible_truncation, reason = "only whole numbers of small size pass the test")]
        Expr::Literal(Literal::Real(real)) if real.get().fract() == 0.0 && real.get().abs() < 1e15 => {
            Some(real.get() as i64)
        }
        _ => None,
    }
}

/// A plain aggregate of the query that it stands in, with one argument: the function and the argument.
pub(crate) fn plain_aggregate(expr: &Expr) -> Option<(&Function, &Expr)> {
    match own_aggregate(expr) {
        Some(aggregate) if aggregate.is_plain() => match aggregate.args.as_slice() {
            [only] => Some((&aggregate.function, only)),
            _ => None,
        },
        _ => None,
    }
}

/// The aggregate that an expression is, if it is one of the query that it stands in.
pub(crate) fn own_aggregate(expr: &Expr) -> Option<&Aggregate> {
    match expr {
        Expr::Aggregate(aggregate) if aggregate.owner == Owner::HERE => Some(aggregate),
        _ => None,
    }
}

/// Whether the expression is `COUNT(*)` of the query that it stands in, and nothing more.
pub(crate) fn is_count_star(expr: &Expr) -> bool {
    own_aggregate(expr).is_some_and(|aggregate| {
        aggregate.function == Function::Count && aggregate.args == Args::Star && aggregate.filter.is_none()
    })
}

/// Takes the conjuncts out of a condition.
pub(crate) fn take_conjuncts(condition: &mut Option<Expr>) -> Vec<Expr> {
    let mut found = Vec::new();
    if let Some(condition) = condition.take() {
        flatten_and(condition, &mut found);
    }
    found
}

fn flatten_and(expr: Expr, found: &mut Vec<Expr>) {
    match expr {
        Expr::And(list) => list.into_iter().for_each(|operand| flatten_and(operand, found)),
        other => found.push(other),
    }
}

/// The conjuncts of a condition.
pub(crate) fn conjuncts_of(condition: Option<&Expr>) -> Vec<&Expr> {
    match condition {
        Some(Expr::And(list)) => list.iter().flat_map(|operand| conjuncts_of(Some(operand))).collect(),
        Some(other) => vec![other],
        None => Vec::new(),
    }
}

/// The condition of these conjuncts.
pub(crate) fn conjunction(mut conjuncts: Vec<Expr>) -> Option<Expr> {
    if conjuncts.len() < 2 { conjuncts.pop() } else { Some(Expr::And(conjuncts)) }
}

/// Adds a conjunct to a condition.
pub(crate) fn add_conjunct(condition: &mut Option<Expr>, conjunct: Expr) {
    let mut all = take_conjuncts(condition);
    flatten_and(conjunct, &mut all);
    *condition = conjunction(all);
}

/// The relation of a FROM clause that is a single one.
pub(crate) fn single_relation(select: &Select) -> Option<&Relation> {
    match &select.from {
        Some(From::Relation(relation)) => Some(relation),
        _ => None,
    }
}

/// Whether all joins of a FROM clause are inner ones.
pub(crate) fn is_inner(from: &From) -> bool {
    match from {
        From::Relation(_) => true,
        From::Join(join) => {
            matches!(join.kind, JoinKind::Inner | JoinKind::Cross)
                && is_inner(&join.left)
                && is_inner(&join.right)
        }
    }
}

/// Joins `right` to a FROM clause by an inner join.
pub(crate) fn join_inner(left: Option<From>, right: From) -> From {
    match left {
        Some(left) => From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on: None })),
        None => right,
    }
}

/// Whether a SELECT only filters and joins: no grouping, aggregates or windows. DISTINCT is not looked at.
pub(crate) fn is_flat(select: &Select) -> bool {
    !sqlgauge_sql::derive::is_aggregate_select(select)
        && !select.outputs.iter().any(|output| sqlgauge_sql::derive::has_window(&output.expr))
}

/// Replaces a column everywhere in a query, subqueries included.
pub(crate) fn replace_column(query: &mut Query, from: ColumnRef, to: &Expr) {
    rewrite_query(&mut Replacement { from, to }, query);
}

/// Replaces a column everywhere in an expression, subqueries included.
pub(crate) fn replace_column_in(expr: &mut Expr, from: ColumnRef, to: &Expr) {
    rewrite_expr(&mut Replacement { from, to }, expr);
}

struct Replacement<'e> {
    from: ColumnRef,
    to: &'e Expr,
}

impl Rewriter for Replacement<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Column(column) if *column == self.from) {
            *expr = self.to.clone();
        }
    }
}

/// All columns of a relation that a query reads, subqueries included, with repetition.
pub(crate) fn columns_read(query: &Query, relation: RelationId) -> Vec<Place> {
    let mut reads = Reads { relation, columns: Vec::new() };
    walk_query(&mut reads, query);
    reads.columns
}

struct Reads {
    relation: RelationId,
    columns: Vec<Place>,
}

impl Visitor for Reads {
    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr
            && column.relation == self.relation
        {
            self.columns.push(column.column);
        }
    }
}

/// All columns in an expression, subqueries included.
pub(crate) fn columns_of(expr: &Expr) -> Vec<ColumnRef> {
    let mut all = AllColumns(Vec::new());
    walk_expr(&mut all, expr);
    all.0
}

struct AllColumns(Vec<ColumnRef>);

impl Visitor for AllColumns {
    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            self.0.push(*column);
        }
    }
}

/// Whether a query reads that common table expression.
pub(crate) fn reads_cte(query: &Query, id: CteId) -> bool {
    let mut found = ReadsCte { id, found: false };
    walk_query(&mut found, query);
    found.found
}

struct ReadsCte {
    id: CteId,
    found: bool,
}

impl Visitor for ReadsCte {
    fn relation(&mut self, relation: &Relation) {
        self.found |= relation.source == Source::Cte(self.id);
    }
}

/// The relations that a query declares, subqueries included.
pub(crate) fn declared(query: &Query) -> Vec<RelationId> {
    let mut found = Declared(Vec::new());
    walk_query(&mut found, query);
    found.0
}

/// The relations that the subqueries of an expression declare.
pub(crate) fn declared_in(expr: &Expr) -> Vec<RelationId> {
    let mut found = Declared(Vec::new());
    walk_expr(&mut found, expr);
    found.0
}

struct Declared(Vec<RelationId>);

impl Visitor for Declared {
    fn relation(&mut self, relation: &Relation) {
        self.0.push(relation.id);
    }
}

/// Whether the query reads columns of a query around it.
pub(crate) fn is_correlated(query: &Query) -> bool {
    let own = declared(query);
    let mut all = AllColumns(Vec::new());
    walk_query(&mut all, query);
    all.0.iter().any(|column| !own.contains(&column.relation))
}

/// Whether an aggregate is called in the expression or in a subquery of it. Without it a SELECT may be none that
/// aggregates, or show another row of a group.
pub(crate) fn calls_aggregate(expr: &Expr) -> bool {
    let mut found = Aggregates(false);
    walk_expr(&mut found, expr);
    found.0
}

/// Whether computing the expression may be an error instead of a value, so that it matters what is computed before:
/// JSON functions refuse what is no JSON, ABS the smallest integer, ESCAPE more than one character, `unistr` what is no
/// escape.
///
/// SUM of integers beyond 64 bits is an error too, and is not among them. An aggregate of the query itself is computed
/// before any of its conditions, whatever their order, and a copy of it fails where it does; only whether a SUM in a
/// subquery is computed at all can depend on what stands beside it. The contract of `etm@1` passes that error over, as it
/// does the engine's own bounds: it says nothing of rows, and to keep the order of such conditions would tell apart queries
/// that return the same rows wherever both return any.
pub(crate) fn may_fail(expr: &Expr) -> bool {
    let mut found = Fails(false);
    walk_expr(&mut found, expr);
    found.0
}

struct Fails(bool);

impl Visitor for Fails {
    fn expr(&mut self, expr: &Expr) {
        let of_function = expr.called().is_some_and(|(function, _)| {
            let name = function.name();
            name == "abs" || name == "unistr" || name.starts_with("json")
        });
        let arrow = matches!(expr, Expr::Binary(BinaryOperator::Arrow | BinaryOperator::LongArrow, ..));
        let is_character =
            |escape: &Expr| matches!(escape, Expr::Literal(Literal::Text(text)) if text.chars().count() == 1);
        let escape = matches!(expr, Expr::Like { escape: Some(escape), .. } if !is_character(escape));
        self.0 |= of_function || arrow || escape;
    }
}

struct Aggregates(bool);

impl Visitor for Aggregates {
    fn expr(&mut self, expr: &Expr) {
        self.0 |= matches!(expr, Expr::Aggregate(_));
    }
}

/// Whether every function in the query gives the same value each time.
pub(crate) fn is_deterministic(query: &Query) -> bool {
    let mut found = Deterministic(true);
    walk_query(&mut found, query);
    found.0
}

/// Whether every function in the expression gives the same value each time.
pub(crate) fn is_deterministic_expr(expr: &Expr) -> bool {
    let mut found = Deterministic(true);
    walk_expr(&mut found, expr);
    found.0
}

struct Deterministic(bool);

impl Visitor for Deterministic {
    fn expr(&mut self, expr: &Expr) {
        if let Some((function, args)) = expr.called() {
            self.0 &= function.is_deterministic(args);
        }
    }
}

/// The query as SQL, or why it cannot be written as such.
pub(crate) fn text(query: &Query, schema: &Schema) -> String {
    or_reason(sqlgauge_sql::print(query, schema, Dialect::Sqlite))
}

/// The expression, which stands in the query, as SQL, or why it cannot be written as such.
pub(crate) fn expr_text(expr: &Expr, query: &Query, schema: &Schema) -> String {
    or_reason(sqlgauge_sql::print_expr(expr, query, schema, Dialect::Sqlite))
}

fn or_reason(printed: Result<String, PrintError>) -> String {
    printed.unwrap_or_else(|error| format!("(no SQL: {error})"))
}

/// The number of nodes of a query.
pub(crate) fn size(query: &Query) -> usize {
    let mut size = Size(0);
    walk_query(&mut size, query);
    size.0
}

struct Size(usize);

impl Visitor for Size {
    fn expr(&mut self, _: &Expr) {
        self.0 += 1;
    }
    fn relation(&mut self, _: &Relation) {
        self.0 += 1;
    }
    fn query(&mut self, _: &Query) {
        self.0 += 1;
    }
}

/// Gives every relation inside a query a new identity that the context knows.
pub(crate) fn refresh(query: &mut Query, context: &mut Context<'_>) {
    let old = declared(query);
    let first = context.facts.next_relation().0;
    let new: Vec<RelationId> = (first..).map(RelationId).take(old.len()).collect();
    let mut renaming = Renaming { old: &old, new: &new };
    rewrite_query(&mut renaming, query);
    // Makes the relations inside known; the number itself stays free.
    let spare = RelationId(first + u32::try_from(old.len()).unwrap_or(u32::MAX));
    context.facts.add_derived(spare, query);
}

struct Renaming<'r> {
    old: &'r [RelationId],
    new: &'r [RelationId],
}

impl Renaming<'_> {
    fn of(&self, id: RelationId) -> RelationId {
        self.old.iter().position(|old| *old == id).map_or(id, |place| self.new[place])
    }
}

impl Rewriter for Renaming<'_> {
    fn relation(&mut self, relation: &mut Relation) {
        relation.id = self.of(relation.id);
    }
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            column.relation = self.of(column.relation);
        }
    }
}

/// Finds a renaming of the relations of one FROM clause to those of another that reads the same sources in the
/// same order by the same joins; `None` if there is none.
pub(crate) fn same_from(left: Option<&From>, right: Option<&From>) -> Option<Vec<(RelationId, RelationId)>> {
    let mut pairs = Vec::new();
    match (left, right) {
        (None, None) => return Some(pairs),
        (Some(left), Some(right)) => {
            if !pair_up(left, right, &mut pairs) {
                return None;
            }
        }
        _ => return None,
    }
    let conditions_agree = same_conditions(left?, right?, &pairs);
    conditions_agree.then_some(pairs)
}

fn pair_up(left: &From, right: &From, pairs: &mut Vec<(RelationId, RelationId)>) -> bool {
    match (left, right) {
        (From::Relation(a), From::Relation(b)) => {
            pairs.push((a.id, b.id));
            match (&a.source, &b.source) {
                _ if a.hint != b.hint => false,
                (Source::Table(x), Source::Table(y)) => x == y,
                (Source::Cte(x), Source::Cte(y)) => x == y,
                _ => false,
            }
        }
        (From::Join(a), From::Join(b)) => {
            a.kind == b.kind && pair_up(&a.left, &b.left, pairs) && pair_up(&a.right, &b.right, pairs)
        }
        _ => false,
    }
}

fn same_conditions(left: &From, right: &From, pairs: &[(RelationId, RelationId)]) -> bool {
    let (From::Join(a), From::Join(b)) = (left, right) else { return true };
    let on = match (&a.on, &b.on) {
        (None, None) => true,
        (Some(x), Some(y)) => !sqlgauge_sql::derive::has_subquery(x) && *x == renamed(y, pairs),
        _ => false,
    };
    on && same_conditions(&a.left, &b.left, pairs) && same_conditions(&a.right, &b.right, pairs)
}

/// An expression of the right query as one of the left, by a renaming that [`same_from`] found.
pub(crate) fn renamed(expr: &Expr, pairs: &[(RelationId, RelationId)]) -> Expr {
    let (new, old): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let mut expr = expr.clone();
    rewrite_expr(&mut Renaming { old: &old, new: &new }, &mut expr);
    expr
}

/// Whether two expressions are equal up to the numbers of the relations that subqueries in them declare.
pub(crate) fn same_expr(left: &Expr, right: &Expr) -> bool {
    if left == right {
        return true;
    }
    if !sqlgauge_sql::derive::has_subquery(left) {
        return false;
    }
    same_query(&wrapped(left), &wrapped(right))
}

fn wrapped(expr: &Expr) -> Query {
    let output = Output { expr: expr.clone(), alias: None };
    let select = Select {
        distinct: false,
        from: None,
        filter: None,
        group_by: Vec::new(),
        having: None,
        outputs: vec![output],
    };
    Query::of(Body::Select(Box::new(select)))
}

/// Whether two queries are equal up to the numbers of the relations that they declare.
pub(crate) fn same_query(left: &Query, right: &Query) -> bool {
    let (old_left, old_right) = (declared(left), declared(right));
    if old_left.len() != old_right.len() {
        return false;
    }
    let mut right = right.clone();
    rewrite_query(&mut Renaming { old: &old_right, new: &old_left }, &mut right);
    *left == right
}

/// The expressions of a query's own clauses, subqueries excepted, in the order of the text.
pub(crate) fn own_exprs(query: &Query) -> Vec<&Expr> {
    let mut found = Vec::new();
    if let Some(select) = query.as_select() {
        if let Some(from) = &select.from {
            on_conditions(from, &mut found);
        }
        found.extend(select.outputs.iter().map(|output| &output.expr));
        found.extend(select.filter.iter().chain(&select.group_by).chain(&select.having));
    }
    found.extend(query.order_by.iter().map(|term| &term.expr));
    found
}

/// The conditions of all joins of a FROM clause.
pub(crate) fn on_exprs(from: &From) -> Vec<&Expr> {
    let mut found = Vec::new();
    on_conditions(from, &mut found);
    found
}

fn on_conditions<'f>(from: &'f From, found: &mut Vec<&'f Expr>) {
    if let From::Join(join) = from {
        on_conditions(&join.left, found);
        on_conditions(&join.right, found);
        found.extend(&join.on);
    }
}

/// Whether the expression or a part of it satisfies the test; subqueries are not entered.
pub(crate) fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    if test(expr) {
        return true;
    }
    let mut found = false;
    children(expr, &mut |child| found = found || any(child, test));
    found
}

/// The expression that a sort term stands for.
pub(crate) fn order_expr<'q>(query: &'q Query, expr: &'q Expr) -> &'q Expr {
    match expr {
        Expr::Output(n) => {
            query.as_select().and_then(|s| s.outputs.get(*n as usize)).map_or(expr, |o| &o.expr)
        }
        other => other,
    }
}

/// Why the query has no normal form, in words: a run on the same database may give another result (`random()` and the
/// like; the present date is the same for both runs), or it follows from the plan whether the run fails.
pub(crate) fn obstacle(query: &Query) -> Option<&'static str> {
    let mut found = Obstacle { depth: 0, reason: None };
    walk_query(&mut found, query);
    found.reason
}

struct Obstacle {
    depth: usize,
    reason: Option<&'static str>,
}

impl Visitor for Obstacle {
    fn query(&mut self, query: &Query) {
        self.depth += 1;
        // The statement itself fails on every plan.
        let mut limits = query.limit.iter().chain(&query.offset);
        if self.depth > 1 && !limits.all(is_integer) {
            self.reason = Some("the LIMIT of a subquery may be no integer, and a plan need not run it");
        }
    }

    fn leave_query(&mut self, _: &Query) {
        self.depth -= 1;
    }

    fn expr(&mut self, expr: &Expr) {
        if let Some((function, _)) = expr.called() {
            let properties = function.properties();
            if properties.is_volatile && !properties.may_read_clock {
                self.reason = Some("a function gives another value each time");
            }
        }
    }
}

/// Whether the value is an integer on every database, by its form.
fn is_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(literal) => matches!(literal, Literal::Integer(_) | Literal::Boolean(_)),
        Expr::Unary(_, operand) => is_integer(operand),
        Expr::Binary(BinaryOperator::Divide, left, right) => {
            is_integer(left) && matches!(right.as_ref(), Expr::Literal(Literal::Integer(n)) if *n != 0)
        }
        Expr::Binary(
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply,
            left,
            right,
        ) => is_integer(left) && is_integer(right),
        Expr::Aggregate(aggregate) => aggregate.function == Function::Count,
        Expr::Scalar(query) => plain_select(query).is_some_and(|select| {
            let is_one_row = select.group_by.is_empty() && select.having.is_none();
            let output = &select.outputs[0].expr;
            is_one_row && sqlgauge_sql::derive::has_aggregate(output) && is_integer(output)
        }),
        _ => false,
    }
}

/// Drops the aliases of result columns and the names of CTEs, which never matter for the rows.
pub(crate) fn forget_names(query: &mut Query) {
    rewrite_query(&mut Forget, query);
}

struct Forget;

impl Rewriter for Forget {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            for (place, name) in cte.columns.iter_mut().enumerate() {
                *name = format!("c{place}");
            }
        }
    }
    fn body(&mut self, body: &mut Body) {
        if let Body::Select(select) = body {
            for output in &mut select.outputs {
                output.alias = None;
            }
        }
    }
}

/// The conditions of the inner joins of a FROM clause that no outer join weakens.
pub(crate) fn on_conjuncts(from: &From) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut pending = vec![from];
    while let Some(from) = pending.pop() {
        let From::Join(join) = from else { continue };
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                pending.extend([&join.left, &join.right]);
                found.extend(conjuncts_of(join.on.as_ref()));
            }
            JoinKind::Left => pending.push(&join.left),
            JoinKind::Right => pending.push(&join.right),
            JoinKind::Full => {}
        }
    }
    found
}

/// Keeps only the conditions of inner joins that pass the test.
pub(crate) fn retain_on(from: &mut From, test: &dyn Fn(&Expr) -> bool) {
    let From::Join(join) = from else { return };
    if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) {
        let mut conjuncts = take_conjuncts(&mut join.on);
        conjuncts.retain(|conjunct| test(conjunct));
        join.on = conjunction(conjuncts);
    }
    retain_on(&mut join.left, test);
    retain_on(&mut join.right, test);
}

/// Whether a relation may leave a FROM clause: it is a direct operand of an inner join. The preserved side of an outer
/// join must stay, or there is nothing left to preserve.
pub(crate) fn may_go(from: &From, relation: RelationId) -> bool {
    let From::Join(join) = from else { return false };
    let is_it = |side: &From| matches!(side, From::Relation(own) if own.id == relation);
    if is_it(&join.left) || is_it(&join.right) {
        return matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
    }
    may_go(&join.left, relation) || may_go(&join.right, relation)
}

/// A FROM clause without one of its inner relations. The conditions of the join that goes are kept: on the join
/// around it if there is one, else as conditions of WHERE.
pub(crate) fn without(from: From, relation: RelationId, filter: &mut Option<Expr>) -> Option<From> {
    let mut orphans = Vec::new();
    let mut left = remove(from, relation, &mut orphans)?;
    match &mut left {
        From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
            for conjunct in orphans {
                add_conjunct(&mut join.on, conjunct);
            }
        }
        _ => {
            for conjunct in orphans {
                add_conjunct(filter, conjunct);
            }
        }
    }
    Some(left)
}

fn remove(from: From, relation: RelationId, orphans: &mut Vec<Expr>) -> Option<From> {
    match from {
        From::Relation(own) => (own.id != relation).then_some(From::Relation(own)),
        From::Join(join) => {
            let Join { kind, left, right, on } = *join;
            match (remove(left, relation, orphans), remove(right, relation, orphans)) {
                (Some(left), Some(right)) => Some(From::Join(Box::new(Join { kind, left, right, on }))),
                (Some(only), None) | (None, Some(only)) => {
                    orphans.extend(on);
                    Some(only)
                }
                (None, None) => None,
            }
        }
    }
}

/// Calls `change` for every expression of the query's own clauses, parts before wholes, subqueries not entered.
pub(crate) fn for_own_exprs(query: &mut Query, change: &mut dyn FnMut(&mut Expr)) {
    if let Some(select) = select_mut(query) {
        if let Some(from) = &mut select.from {
            for_on(from, change);
        }
        let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
        let rest = select.filter.iter_mut().chain(&mut select.group_by).chain(&mut select.having);
        outputs.chain(rest).for_each(|expr| parts_first(expr, change));
    }
    query.order_by.iter_mut().for_each(|term| parts_first(&mut term.expr, change));
}

fn for_on(from: &mut From, change: &mut dyn FnMut(&mut Expr)) {
    if let From::Join(join) = from {
        for_on(&mut join.left, change);
        for_on(&mut join.right, change);
        if let Some(on) = &mut join.on {
            parts_first(on, change);
        }
    }
}

fn parts_first(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    children_mut(expr, &mut |child| parts_first(child, change));
    change(expr);
}

/// Calls `change` for every column of an expression, those in subqueries only if `inside` is set.
pub(crate) fn swap_columns(expr: &mut Expr, inside: bool, change: &mut dyn FnMut(&mut ColumnRef)) {
    if inside {
        rewrite_expr(&mut Swap(change), expr);
    } else {
        parts_first(expr, &mut |part| {
            if let Expr::Column(column) = part {
                change(column);
            }
        });
    }
}

struct Swap<'c>(&'c mut dyn FnMut(&mut ColumnRef));

impl Rewriter for Swap<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            (self.0)(column);
        }
    }
}

/// Makes every column of one relation the same column of another.
pub(crate) fn move_columns(query: &mut Query, from: RelationId, to: RelationId) {
    let mut change = |column: &mut ColumnRef| {
        if column.relation == from {
            column.relation = to;
        }
    };
    rewrite_query(&mut Swap(&mut change), query);
}

/// Whether a subquery compared with a value may be asked by EXISTS: it only filters and joins, and returns one
/// column; the value can be computed inside it, and compared there as outside.
pub(crate) fn may_become_exists(value: &Expr, query: &Query, facts: &Facts<'_>) -> bool {
    let Some(select) = query.as_select() else { return false };
    let own = facts.operand(value);
    let changes = |result: &Expr| {
        crate::planned::is_mixed(value, result, facts)
            || (!is_small_integer(result) && own.rounds_in(&facts.operand(result)))
    };
    if select.outputs.iter().any(|output| changes(&output.expr)) {
        return false;
    }
    let bare = query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none();
    bare && select.outputs.len() == 1
        && is_flat(select)
        && select.from.is_some()
        && !sqlgauge_sql::derive::has_aggregate(value)
        && !sqlgauge_sql::derive::has_window(value)
        && !sqlgauge_sql::derive::has_subquery(value)
        && !matches!(value, Expr::Row(_))
        && is_deterministic_expr(value)
}

/// Whether the expression is an integer that is the same as a real number.
fn is_small_integer(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Integer(n)) if n.unsigned_abs() <= 1 << 53)
}

/// Makes the subquery ask for a row whose result equals the value.
pub(crate) fn link(query: &mut Query, value: &Expr) {
    query.order_by.clear();
    let Some(select) = select_mut(query) else { return };
    select.distinct = false;
    let outputs = std::mem::replace(&mut select.outputs, vec![Output { expr: one(), alias: None }]);
    for output in outputs {
        add_conjunct(&mut select.filter, equal(value.clone(), output.expr));
    }
}

/// Takes a FROM clause apart into the operands of its inner joins and their conditions.
pub(crate) fn take_inner(from: From, operands: &mut Vec<From>, conditions: &mut Vec<Expr>) {
    match from {
        From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
            let join = *join;
            take_inner(join.left, operands, conditions);
            take_inner(join.right, operands, conditions);
            let mut on = join.on;
            conditions.extend(take_conjuncts(&mut on));
        }
        other => operands.push(other),
    }
}
