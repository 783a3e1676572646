//! Applies the rules of a profile in every scope of a query until none changes anything.

mod operands;
pub(crate) mod rule_set;

use sqlgauge_sql::derive::{Facts, is_aggregate_select};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, Expr, From, Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::{aggregates, reach};

use self::operands::Place;
use crate::beside::{Comparand, keeps_type, result_operands, returns_texts};
use crate::context::{Position, Published, RuleContext};
use crate::matcher::Application;
use crate::planned::plan_shows;
use crate::profile::Profile;
use crate::rule::{Rule, Shape};
use crate::sensitive::{OrderConditions, Sensitivity, sensitivity};
use crate::tools;

pub(crate) use rule_set::RuleSet;

/// How often all rules are tried in all scopes before the query counts as having no normal form.
const MAX_PASSES: usize = 40;

/// The largest query that is tried, in nodes.
pub(crate) const MAX_NODES: usize = 60_000;

/// How many nodes copies of common table expressions may add: copies of copies double with each step.
const MAX_COPIED_NODES: usize = 600;

/// Why no normal form was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    TooLarge,
    NoFixedPoint,
}

/// Rewrites a query to its normal form, and tells the rules that were applied if `explain` is set.
pub(crate) fn normalise(
    query: &mut Query,
    rules: &RuleSet,
    schema: &Schema,
    published: &Published,
    explain: bool,
) -> Result<Vec<Application>, Stopped> {
    normalise_up_to(usize::MAX, query, rules, schema, published, explain).map(|run| run.log)
}

/// What a run of the rules did.
pub(crate) struct Run {
    /// The applications with their texts, if they were asked for.
    pub(crate) log: Vec<Application>,
    /// The rules that were applied, in order.
    #[cfg_attr(not(feature = "law"), expect(dead_code, reason = "the law looks at single applications"))]
    pub(crate) applied: Vec<&'static Rule>,
}

/// [`normalise`] that stops after that many applications of a rule and leaves the rest of the query as it is.
pub(crate) fn normalise_up_to(
    applications: usize,
    query: &mut Query,
    rules: &RuleSet,
    schema: &Schema,
    published: &Published,
    explain: bool,
) -> Result<Run, Stopped> {
    let size = tools::size(query);
    if size > MAX_NODES {
        return Err(Stopped::TooLarge);
    }
    let limit = size * 8 + 2_000;
    let mut log = explain.then(Vec::new);
    let mut copies_left = MAX_COPIED_NODES;
    let mut applied = Vec::new();
    let asks_for_plan = rules.profile == Profile::Sound && !rules.lies.no_plan_shows;
    for _ in 0..MAX_PASSES {
        let facts = Facts::of(query, schema);
        let shows = asks_for_plan && plan_shows(query, Position::Top, &facts);
        let context = RuleContext {
            profile: rules.profile,
            facts,
            position: Position::Top,
            is_condition: false,
            sensitivity: Sensitivity::None,
            copies_left,
            lacking: Vec::new(),
            published,
        };
        let before = applied.len();
        let mut driver = Driver {
            rules,
            context,
            log: log.take(),
            applied,
            applications,
            scope: Vec::new(),
            asks_for_plan,
            plan_shows: shows,
            is_correlated: !rules.lies.owns_aggregates && aggregates::are_correlated(query),
            from_reads_around: reach::reads_around(query),
            relations: Vec::new(),
        };
        driver.query(query, Position::Top, &Comparand::Nothing);
        log = driver.log;
        applied = driver.applied;
        copies_left = driver.context.copies_left;
        if applied.len() == before || applied.len() == applications {
            return Ok(Run { log: log.unwrap_or_default(), applied });
        }
        if tools::size(query) > limit {
            return Err(Stopped::TooLarge);
        }
    }
    Err(Stopped::NoFixedPoint)
}

#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
struct Driver<'r, 'a> {
    rules: &'r RuleSet,
    context: RuleContext<'a>,
    log: Option<Vec<Application>>,
    applied: Vec<&'static Rule>,
    /// How many applications end the run.
    applications: usize,
    scope: Vec<&'static str>,
    /// Aggregates and columns of enclosing queries occur, so that a rewriting may change whose an aggregate is.
    is_correlated: bool,
    /// FROM clauses read enclosing queries, so that a rewriting may bring one beside what it reads.
    from_reads_around: bool,
    /// The relations in the FROM clauses of the query at hand.
    relations: Vec<RelationId>,
    /// Whether it matters at all if a plan shows.
    asks_for_plan: bool,
    /// The plan may decide what the statement returns: no rule is applied any more.
    plan_shows: bool,
}

/// What is put back where a change is not kept.
struct Saved<'a> {
    query: Query,
    facts: Facts<'a>,
    applied: usize,
    copies_left: usize,
    applications: usize,
}

impl<'a> Driver<'_, 'a> {
    fn is_over(&self) -> bool {
        self.plan_shows || self.applied.len() >= self.applications
    }

    /// Brings a query into its normal form; `comparand` is what its results are compared with.
    fn query(&mut self, query: &mut Query, position: Position, comparand: &Comparand) {
        if self.is_over() {
            return;
        }
        let around = std::mem::replace(&mut self.relations, aggregates::relations_of(&query.body));
        let sensitivity = self.sensitivity(query, position);
        let before = self.applied.len();
        let is_kept = self.guarded(query, position, sensitivity, |driver, query| {
            driver.clauses(query, &comparand.of_results(query, position));
        });
        if is_kept && self.applied.len() > before {
            self.look_at_plan(query, position);
        }
        self.relations = around;
        self.query_rules(query, position, comparand);
    }

    /// Rewrites the clauses of a query and the queries in them.
    fn clauses(&mut self, query: &mut Query, results: &Comparand) {
        // Which order shows of a common table expression depends on who reads it; rule 26 puts it there.
        if !self.context.is_sound() {
            for cte in &mut query.ctes {
                self.inner("WITH", &mut cte.query, Position::Cte, &Comparand::Anything);
            }
        }
        let empty = self.may_lack_rows(query);
        self.body(&mut query.body, &empty, results);
        self.without_rows(&empty, |driver| {
            for term in &mut query.order_by {
                driver.operand(&mut term.expr, Place::of("ORDER BY", &Comparand::Itself));
            }
        });
        for expr in query.limit.iter_mut().chain(&mut query.offset) {
            self.expr(expr, false, "LIMIT");
        }
    }

    /// Ends the run where a plan shows after a rewriting: what could follow may hold only where none does.
    fn look_at_plan(&mut self, query: &Query, position: Position) {
        self.plan_shows |= self.asks_for_plan && plan_shows(query, position, &self.context.facts);
    }

    /// Applies `change`, and takes it back if the order on which the result depends is another afterwards. Returns
    /// whether the change was kept.
    fn guarded(
        &mut self,
        query: &mut Query,
        position: Position,
        before: Sensitivity,
        change: impl FnOnce(&mut Self, &mut Query),
    ) -> bool {
        let settled = OrderConditions::of(query, before, &self.context.facts);
        // SQLite passes DISTINCT in EXISTS over, also where an OFFSET counts the rows.
        let passes_distinct = position == Position::Exists && query.offset.is_some();
        if settled.is_none() && !passes_distinct {
            change(self, query);
            return true;
        }
        let saved = self.save(query);
        change(self, query);
        if *query == saved.query {
            return true;
        }
        let after = self.sensitivity(query, position);
        let same_order = settled.is_none()
            || after == Sensitivity::None
            || OrderConditions::of(query, after, &self.context.facts) == settled;
        let is_distinct = |query: &Query| query.as_select().is_some_and(|select| select.distinct);
        let same_rows = !passes_distinct || !(is_distinct(query) || is_distinct(&saved.query));
        let is_kept = same_order && same_rows;
        if !is_kept {
            self.restore(query, saved);
        }
        is_kept
    }

    fn save(&self, query: &Query) -> Saved<'a> {
        Saved {
            query: query.clone(),
            facts: self.context.facts.clone(),
            applied: self.applied.len(),
            copies_left: self.context.copies_left,
            applications: self.log.as_ref().map_or(0, Vec::len),
        }
    }

    fn restore(&mut self, query: &mut Query, saved: Saved<'a>) {
        *query = saved.query;
        self.context.facts = saved.facts;
        self.context.copies_left = saved.copies_left;
        self.applied.truncate(saved.applied);
        if let Some(log) = &mut self.log {
            log.truncate(saved.applications);
        }
    }

    /// The relations of which the results of a query may be asked for without a row: an aggregate without GROUP BY
    /// has a result even then, and every column is NULL.
    fn may_lack_rows(&self, query: &Query) -> Vec<RelationId> {
        let Some(select) = query.as_select() else { return Vec::new() };
        if !self.context.is_sound() || !is_aggregate_select(select) || !select.group_by.is_empty() {
            return Vec::new();
        }
        let relations = select.from.iter().flat_map(From::relations).map(|relation| relation.id);
        relations.filter(|id| !self.context.facts.is_null_extended(*id)).collect()
    }

    fn without_rows(&mut self, relations: &[RelationId], visit: impl FnOnce(&mut Self)) {
        let outside = self.context.enter_rows();
        let all = outside.iter().chain(relations).copied().collect();
        self.context.leave_rows(all);
        visit(self);
        self.context.enter_rows();
        self.context.leave_rows(outside);
    }

    /// The published rules do not ask in which order rows are read.
    fn sensitivity(&self, query: &Query, position: Position) -> Sensitivity {
        if self.asks_for_plan { sensitivity(query, position, &self.context.facts) } else { Sensitivity::None }
    }

    fn inner(&mut self, clause: &'static str, query: &mut Query, position: Position, comparand: &Comparand) {
        self.scope.push(clause);
        self.query(query, position, comparand);
        self.scope.pop();
    }

    fn query_rules(&mut self, query: &mut Query, position: Position, comparand: &Comparand) {
        // Moving parts of such a query would take an aggregate away from the query that it belongs to.
        if !self.rules.lies.owns_aggregates && aggregates::is_entangled(query) {
            return;
        }
        let typed = self.context.is_sound() && !matches!(comparand, Comparand::Nothing);
        let mut old = typed.then(|| (query.clone(), self.context.facts.clone()));
        let mut shape = Shape::of(query);
        let mut sensitive = self.sensitivity(query, position);
        self.plan_shows |= sensitive == Sensitivity::Rows;
        for &(rule, needs, rewrite) in &self.rules.queries {
            if self.is_over() {
                return;
            }
            if !shape.has(needs) {
                continue;
            }
            self.context.position = self.rules.lies.position.unwrap_or(position);
            self.context.is_condition = false;
            self.context.sensitivity = sensitive;
            let mut changed = false;
            let is_kept = self.guarded(query, position, sensitive, |driver, query| {
                let is_watched = driver.is_correlated || driver.from_reads_around;
                let before = (driver.log.is_some() || is_watched).then(|| driver.save(query));
                changed = rewrite(query, &mut driver.context) > 0;
                let typed = match &old {
                    Some((old, facts)) if changed => {
                        let (old_operands, new_operands) =
                            (result_operands(old, facts), result_operands(query, &driver.context.facts));
                        keeps_type(&old_operands, &new_operands, comparand)
                    }
                    _ => true,
                };
                if changed && is_watched && !driver.can_be_said(query) {
                    before.into_iter().for_each(|before| driver.restore(query, before));
                    changed = false;
                } else if !typed {
                    if let Some((old, facts)) = &old {
                        query.clone_from(old);
                        driver.context.facts.clone_from(facts);
                    }
                    changed = false;
                } else if changed {
                    driver.applied.push(rule);
                    driver.record(rule, before.as_ref().map(|before| &before.query), query);
                }
            });
            if changed && is_kept {
                self.from_reads_around = self.from_reads_around || reach::reads_around(query);
                old = typed.then(|| (query.clone(), self.context.facts.clone()));
                shape = Shape::of(query);
                sensitive = self.sensitivity(query, position);
                self.look_at_plan(query, position);
            }
        }
    }

    /// Whether SQL can say what a rule wrote: aggregates have the owners that it gives them, and FROM clauses read what
    /// they may.
    fn can_be_said(&self, query: &Query) -> bool {
        (!self.is_correlated || aggregates::owners_hold(query))
            && (!self.from_reads_around || reach::holds(query))
    }

    /// `empty` are the relations of which results may be asked for without a row; `results` is what the results are
    /// compared with.
    fn body(&mut self, body: &mut Body, empty: &[RelationId], results: &Comparand) {
        match body {
            Body::Select(select) => {
                if let Some(from) = &mut select.from {
                    self.from(from);
                }
                self.without_rows(empty, |driver| {
                    for output in &mut select.outputs {
                        driver.operand(&mut output.expr, Place::of("SELECT", results));
                    }
                });
                if let Some(filter) = &mut select.filter {
                    self.expr(filter, true, "WHERE");
                }
                for key in &mut select.group_by {
                    self.operand(key, Place::of("GROUP BY", &Comparand::Itself));
                }
                if let Some(having) = &mut select.having {
                    let grouped = !select.group_by.is_empty();
                    self.without_rows(empty, |driver| driver.expr(having, grouped, "HAVING"));
                }
            }
            Body::SetOperation { all, left, right, .. } => {
                let position = if *all { Position::Operand } else { Position::DistinctOperand };
                let facts = &self.context.facts;
                let results =
                    results.of_operands(|| returns_texts(left, facts) || returns_texts(right, facts));
                self.set_operand(left, position, &results);
                self.set_operand(right, position, &results);
            }
            Body::Values(rows) => {
                for expr in rows.iter_mut().flatten() {
                    self.expr(expr, false, "VALUES");
                }
            }
        }
    }

    /// An operand of a set operation is tried as a query of its own; a result that is no longer a bare body is
    /// read through a subquery.
    fn set_operand(&mut self, body: &mut Body, position: Position, results: &Comparand) {
        self.scope.push("set operand");
        let Body::Select(_) = body else {
            self.body(body, &[], results);
            self.scope.pop();
            return;
        };
        let mut query = Query::of(std::mem::replace(body, Body::Values(Vec::new())));
        self.query(&mut query, position, results);
        self.scope.pop();
        let is_bare = query.ctes.is_empty() && query.order_by.is_empty() && query.limit.is_none();
        *body = if is_bare { query.body } else { self.through_subquery(query) };
    }

    fn through_subquery(&mut self, query: Query) -> Body {
        let id = self.context.facts.next_relation();
        self.context.facts.add_derived(id, &query);
        let outputs = (0..).take(query.width()).map(|column| sqlgauge_sql::tree::Output {
            expr: Expr::Column(sqlgauge_sql::tree::ColumnRef::at(id, column)),
            alias: None,
        });
        Body::Select(Box::new(sqlgauge_sql::tree::Select {
            from: Some(From::Relation(Relation::new(id, RelationSource::Derived(Box::new(query))))),
            ..sqlgauge_sql::tree::Select::of(outputs.collect())
        }))
    }

    fn from(&mut self, from: &mut From) {
        match from {
            From::Relation(relation) => match &mut relation.source {
                RelationSource::Derived(query) => {
                    self.inner("FROM", query, Position::Derived, &Comparand::Anything);
                }
                RelationSource::Function { args, .. } => {
                    for arg in args {
                        self.expr(arg, false, "FROM");
                    }
                }
                RelationSource::Table(_) | RelationSource::Cte(_) | RelationSource::Catalog => {}
            },
            From::Join(join) => {
                self.from(&mut join.left);
                self.from(&mut join.right);
                if let Some(on) = &mut join.on {
                    self.expr(on, true, "ON");
                }
            }
        }
    }

    fn record(&mut self, rule: &'static Rule, before: Option<&Query>, after: &Query) {
        let (Some(log), Some(before)) = (&mut self.log, before) else { return };
        let schema = self.context.facts.schema();
        let scope = if self.scope.is_empty() { "query".to_owned() } else { self.scope.join(" > ") };
        log.push(Application {
            rule,
            scope,
            before: tools::text(before, schema),
            after: tools::text(after, schema),
        });
    }
}
