//! The grammar of the official `process_sql.py`.
//!
//! Three habits of it decide most outcomes: aliases are collected over the whole text wherever `as` stands
//! between two words; the FROM clause of a query is the next `from` after its start; and a value that is no
//! number is read as a column while everything up to the next comma, parenthesis, `and` or clause word is
//! skipped.

use std::collections::HashMap;

use super::number::python_float;
use super::query::{
    ColumnUnit, Condition, ConditionItem, ConditionOp, ConditionUnit, OrderBy, SelectItem, SpiderAggregate,
    SpiderDirection, SpiderFrom, SpiderQuery, SpiderSelect, SpiderValue, TableUnit, UnitOp, ValueUnit,
};
use super::tokenize::{Tokens, Word, tokenize};
use super::{Catalog, ColumnId, ParseFailure};

/// Python's limit of nested calls.
const MAX_CALLS: usize = 1000;
/// Calls that are open when the first query is read: module, evaluation, parser entry, query.
const CALLS_AT_START: usize = 4;
/// Calls from a query down to the name of a column in an ON condition.
const CALLS_TO_LEAF: usize = 6;

/// Reads a query as the official parser does.
///
/// # Errors
/// A [`ParseFailure`] wherever the official parser raises an exception, and for nothing else.
pub fn parse(catalog: &Catalog, sql: &str) -> Result<SpiderQuery, ParseFailure> {
    let tokens = tokenize(sql)?;
    let parser = Parser {
        aliases: scan_aliases(catalog, &tokens)?,
        next_from: next_from(&tokens),
        tokens: &tokens,
        catalog,
    };
    parser.query(&mut 0, CALLS_AT_START)
}

/// The word before each `as`, by the word after it; a later alias replaces an earlier one.
fn scan_aliases<'t>(
    catalog: &Catalog,
    tokens: &'t Tokens,
) -> Result<HashMap<&'t str, &'t str>, ParseFailure> {
    let mut aliases = HashMap::new();
    for (at, _) in tokens.words().enumerate().filter(|&(_, word)| word == Word::As) {
        let before = at.checked_sub(1).unwrap_or(tokens.len() - 1);
        let alias = tokens.text(at + 1).ok_or(ParseFailure::UnexpectedEnd)?;
        aliases.insert(alias, tokens.text(before).unwrap_or_default());
    }
    match aliases.keys().find(|alias| catalog.is_table(alias)) {
        Some(&alias) => Err(ParseFailure::AliasIsTable(alias.to_owned())),
        None => Ok(aliases),
    }
}

/// For each position the first `from` at or after it.
fn next_from(tokens: &Tokens) -> Vec<u32> {
    let mut positions = vec![u32::MAX; tokens.len()];
    let mut next = u32::MAX;
    for (at, place) in positions.iter_mut().enumerate().rev() {
        if tokens.word(at) == Some(Word::From) {
            next = u32::try_from(at).unwrap_or(u32::MAX);
        }
        *place = next;
    }
    positions
}

struct Parser<'t, 'c> {
    tokens: &'t Tokens,
    catalog: &'c Catalog,
    aliases: HashMap<&'t str, &'t str>,
    next_from: Vec<u32>,
}

/// Where columns are looked for, and where reading must stop.
#[derive(Clone, Copy)]
struct Scope<'a, 't> {
    /// Tables of the FROM clause, without repetitions.
    tables: &'a [&'t str],
    /// End of the tokens that may be read.
    end: usize,
}

type Result<T, E = ParseFailure> = std::result::Result<T, E>;

impl<'t> Parser<'t, '_> {
    fn word(&self, at: usize, end: usize) -> Result<Word> {
        if at < end { self.tokens.word(at) } else { None }.ok_or(ParseFailure::UnexpectedEnd)
    }

    fn is(&self, at: usize, end: usize, word: Word) -> bool {
        at < end && self.tokens.word(at) == Some(word)
    }

    fn expect(&self, at: &mut usize, end: usize, word: Word, expected: &'static str) -> Result<()> {
        if self.word(*at, end)? == word {
            *at += 1;
            return Ok(());
        }
        Err(ParseFailure::Unexpected { expected, word: self.text_at(*at) })
    }

    fn skip(&self, at: &mut usize, end: usize, word: Word) -> bool {
        let skipped = self.is(*at, end, word);
        *at += usize::from(skipped);
        skipped
    }

    fn text_at(&self, at: usize) -> String {
        self.tokens.text(at).unwrap_or_default().to_owned()
    }

    /// The table that a name stands for: through its alias, else itself. One step only; what an alias
    /// stands for need not be a table.
    fn resolve(&self, name: &'t str) -> Result<&'t str> {
        match self.aliases.get(name) {
            Some(table) => Ok(table),
            None if self.catalog.is_table(name) => Ok(name),
            None => Err(ParseFailure::UnknownTable(name.to_owned())),
        }
    }

    fn column(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<ColumnId> {
        let word = self.word(*at, scope.end)?;
        let name = self.tokens.text(*at).ok_or(ParseFailure::UnexpectedEnd)?;
        *at += 1;
        let unknown = || ParseFailure::UnknownColumn(name.to_owned());
        if word == Word::Star {
            return self.catalog.by_key("*").ok_or_else(unknown);
        }
        if let Some((table, column)) = name.split_once('.') {
            if column.contains('.') {
                return Err(ParseFailure::MalformedName(name.to_owned()));
            }
            let table = self.resolve(table)?;
            let column_id = self.catalog.column(table, column);
            return column_id
                .or_else(|| self.catalog.by_key(&format!("{table}.{column}")))
                .ok_or_else(unknown);
        }
        for table in scope.tables {
            let table = self.resolve(table)?;
            if !self.catalog.is_table(table) {
                return Err(ParseFailure::UnknownTable(table.to_owned()));
            }
            if let Some(id) = self.catalog.column(table, name) {
                return Ok(id);
            }
        }
        Err(unknown())
    }

    fn column_unit(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<ColumnUnit> {
        let end = scope.end;
        let block = self.skip(at, end, Word::Open);
        if let Some(aggregate) = aggregate(self.word(*at, end)?) {
            // The parenthesis before an aggregate is never closed here: the caller's is.
            *at += 1;
            self.expect(at, end, Word::Open, "( after an aggregate")?;
            self.word(*at, end)?;
            let distinct = self.skip(at, end, Word::Distinct);
            let column = self.column(at, scope)?;
            self.expect(at, end, Word::Close, ") after the column of an aggregate")?;
            return Ok(ColumnUnit { aggregate, column, distinct });
        }
        let distinct = self.skip(at, end, Word::Distinct);
        let column = self.column(at, scope)?;
        if block {
            self.expect(at, end, Word::Close, ") after a column")?;
        }
        Ok(ColumnUnit { aggregate: SpiderAggregate::None, column, distinct })
    }

    fn value_unit(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<ValueUnit> {
        let end = scope.end;
        self.word(*at, end)?;
        let block = self.skip(at, end, Word::Open);
        let left = self.column_unit(at, scope)?;
        let mut unit = ValueUnit { op: UnitOp::None, left, right: None };
        let op = if *at < end { self.tokens.word(*at).and_then(unit_op) } else { None };
        if let Some(op) = op {
            *at += 1;
            unit = ValueUnit { op, left, right: Some(self.column_unit(at, scope)?) };
        }
        if block {
            self.expect(at, end, Word::Close, ") after an expression")?;
        }
        Ok(unit)
    }

    fn value(&self, at: &mut usize, scope: Scope<'_, 't>, calls: usize) -> Result<SpiderValue> {
        let (start, end) = (*at, scope.end);
        self.word(*at, end)?;
        let block = self.skip(at, end, Word::Open);
        let word = self.word(*at, end)?;
        let text = self.tokens.text(*at).unwrap_or_default();
        let value = if word == Word::Select {
            SpiderValue::Query(Box::new(self.query(at, calls + 1)?))
        } else if text.contains('"') {
            *at += 1;
            SpiderValue::Text(text.to_owned())
        } else if let Some(number) = python_float(text) {
            *at += 1;
            SpiderValue::Number(number)
        } else {
            let stops =
                |w: Word| matches!(w, Word::Comma | Word::Close | Word::And) || w.is_clause() || w.is_join();
            while *at < end && !self.tokens.word(*at).is_some_and(stops) {
                *at += 1;
            }
            SpiderValue::Column(self.column_unit(&mut { start }, Scope { end: *at, ..scope })?)
        };
        if block {
            self.expect(at, end, Word::Close, ") after a value")?;
        }
        Ok(value)
    }

    fn condition(&self, at: &mut usize, scope: Scope<'_, 't>, calls: usize) -> Result<Condition> {
        let end = scope.end;
        let mut items = Vec::new();
        while *at < end {
            items.push(ConditionItem::Unit(self.condition_unit(at, scope, calls)?));
            let Ok(word) = self.word(*at, end) else { break };
            if word.is_clause() || word.is_join() || matches!(word, Word::Close | Word::Semicolon) {
                break;
            }
            match word {
                Word::And => items.push(ConditionItem::And),
                Word::Or => items.push(ConditionItem::Or),
                // Without an operator the next condition follows at once.
                _ => continue,
            }
            *at += 1;
        }
        Ok(Condition(items))
    }

    fn condition_unit(&self, at: &mut usize, scope: Scope<'_, 't>, calls: usize) -> Result<ConditionUnit> {
        let end = scope.end;
        let unit = self.value_unit(at, scope)?;
        self.word(*at, end)?;
        let negated = self.skip(at, end, Word::Not);
        let op = condition_op(self.word(*at, end)?).ok_or_else(|| ParseFailure::Unexpected {
            expected: "a comparison operator",
            word: self.text_at(*at),
        })?;
        *at += 1;
        let first = Some(self.value(at, scope, calls + 1)?);
        let mut second = None;
        if op == ConditionOp::Between {
            self.expect(at, end, Word::And, "AND after the first value of BETWEEN")?;
            second = Some(self.value(at, scope, calls + 1)?);
        }
        Ok(ConditionUnit { negated, op, unit, first, second })
    }

    fn select(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<SpiderSelect> {
        let end = scope.end;
        self.expect(at, end, Word::Select, "SELECT")?;
        let mut select = SpiderSelect { distinct: self.skip(at, end, Word::Distinct), items: Vec::new() };
        while let Ok(word) = self.word(*at, end) {
            if word.is_clause() {
                break;
            }
            let aggregate = aggregate(word);
            *at += usize::from(aggregate.is_some());
            let unit = self.value_unit(at, scope)?;
            select.items.push(SelectItem { aggregate: aggregate.unwrap_or(SpiderAggregate::None), unit });
            self.skip(at, end, Word::Comma);
        }
        Ok(select)
    }

    /// The FROM clause that comes next after a position, with the names of its tables.
    fn from(&self, at: &mut usize, calls: usize) -> Result<(SpiderFrom, Vec<&'t str>)> {
        let end = self.tokens.len();
        let position = self.next_from.get(*at).filter(|&&at| at != u32::MAX).ok_or(ParseFailure::NoFrom)?;
        *at = *position as usize + 1;
        let mut from = SpiderFrom::default();
        let mut tables: Vec<&'t str> = Vec::new();
        while *at < end {
            let block = self.skip(at, end, Word::Open);
            if self.word(*at, end)? == Word::Select {
                from.tables.push(TableUnit::Query(Box::new(self.query(at, calls + 1)?)));
            } else {
                self.skip(at, end, Word::Join);
                let (id, name) = self.table(at)?;
                from.tables.push(TableUnit::Table(id));
                // A table that is named again finds no column that it did not find before.
                if !tables.contains(&name) {
                    tables.push(name);
                }
            }
            if self.skip(at, end, Word::On) {
                let condition = self.condition(at, Scope { tables: &tables, end }, calls + 1)?;
                if !from.conditions.is_empty() {
                    from.conditions.0.push(ConditionItem::And);
                }
                from.conditions.0.extend(condition.0);
            }
            if block {
                self.expect(at, end, Word::Close, ") after a table")?;
            }
            if let Ok(word) = self.word(*at, end)
                && (word.is_clause() || matches!(word, Word::Close | Word::Semicolon))
            {
                break;
            }
        }
        Ok((from, tables))
    }

    fn table(&self, at: &mut usize) -> Result<(ColumnId, &'t str)> {
        let name = self.tokens.text(*at).ok_or(ParseFailure::UnexpectedEnd)?;
        let table = self.resolve(name)?;
        *at += if self.tokens.word(*at + 1) == Some(Word::As) { 3 } else { 1 };
        let id = self.catalog.by_key(table).ok_or_else(|| ParseFailure::UnknownTable(table.to_owned()))?;
        Ok((id, table))
    }

    fn ends_list(&self, at: usize, end: usize) -> bool {
        self.word(at, end).map_or(true, |w| w.is_clause() || matches!(w, Word::Close | Word::Semicolon))
    }

    fn group_by(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<Vec<ColumnUnit>> {
        let mut units = Vec::new();
        if !self.skip(at, scope.end, Word::Group) {
            return Ok(units);
        }
        self.expect(at, scope.end, Word::By, "BY after GROUP")?;
        while !self.ends_list(*at, scope.end) {
            units.push(self.column_unit(at, scope)?);
            if !self.skip(at, scope.end, Word::Comma) {
                break;
            }
        }
        Ok(units)
    }

    fn order_by(&self, at: &mut usize, scope: Scope<'_, 't>) -> Result<Option<OrderBy>> {
        if !self.skip(at, scope.end, Word::Order) {
            return Ok(None);
        }
        self.expect(at, scope.end, Word::By, "BY after ORDER")?;
        let mut order = OrderBy { direction: SpiderDirection::Ascending, units: Vec::new() };
        while !self.ends_list(*at, scope.end) {
            order.units.push(self.value_unit(at, scope)?);
            if self.skip(at, scope.end, Word::Desc) {
                order.direction = SpiderDirection::Descending;
            } else if self.skip(at, scope.end, Word::Asc) {
                order.direction = SpiderDirection::Ascending;
            }
            if !self.skip(at, scope.end, Word::Comma) {
                break;
            }
        }
        Ok(Some(order))
    }

    /// WHERE or HAVING.
    fn clause(&self, at: &mut usize, scope: Scope<'_, 't>, word: Word, calls: usize) -> Result<Condition> {
        if self.skip(at, scope.end, word) {
            self.condition(at, scope, calls + 2)
        } else {
            Ok(Condition::default())
        }
    }

    /// The word after LIMIT is passed over, whatever it is.
    fn limit(&self, at: &mut usize, end: usize) -> Result<bool> {
        if !self.skip(at, end, Word::Limit) {
            return Ok(false);
        }
        self.word(*at, end)?;
        *at += 1;
        Ok(true)
    }

    fn skip_semicolons(&self, at: &mut usize) {
        while self.skip(at, self.tokens.len(), Word::Semicolon) {}
    }

    fn query(&self, at: &mut usize, calls: usize) -> Result<SpiderQuery> {
        if calls + CALLS_TO_LEAF > MAX_CALLS {
            return Err(ParseFailure::TooDeep);
        }
        let end = self.tokens.len();
        let start = *at;
        self.word(start, end)?;
        let block = self.is(start, end, Word::Open);
        let (from, tables) = self.from(at, calls + 1)?;
        let scope = Scope { tables: &tables, end };
        let select = self.select(&mut (start + usize::from(block)), scope)?;
        let mut query = SpiderQuery {
            select,
            from,
            filter: self.clause(at, scope, Word::Where, calls)?,
            group_by: self.group_by(at, scope)?,
            having: self.clause(at, scope, Word::Having, calls)?,
            order_by: self.order_by(at, scope)?,
            limit: self.limit(at, end)?,
            ..SpiderQuery::default()
        };
        self.skip_semicolons(at);
        if block {
            self.expect(at, end, Word::Close, ") after a query")?;
        }
        self.skip_semicolons(at);
        let place = match self.word(*at, end) {
            Ok(Word::Intersect) => &mut query.intersect,
            Ok(Word::Union) => &mut query.union,
            Ok(Word::Except) => &mut query.except,
            _ => return Ok(query),
        };
        *at += 1;
        *place = Some(Box::new(self.query(at, calls + 1)?));
        Ok(query)
    }
}

fn aggregate(word: Word) -> Option<SpiderAggregate> {
    Some(match word {
        Word::None => SpiderAggregate::None,
        Word::Max => SpiderAggregate::Max,
        Word::Min => SpiderAggregate::Min,
        Word::Count => SpiderAggregate::Count,
        Word::Sum => SpiderAggregate::Sum,
        Word::Avg => SpiderAggregate::Avg,
        _ => return None,
    })
}

fn unit_op(word: Word) -> Option<UnitOp> {
    Some(match word {
        Word::None => UnitOp::None,
        Word::Minus => UnitOp::Minus,
        Word::Plus => UnitOp::Plus,
        Word::Star => UnitOp::Times,
        Word::Slash => UnitOp::Divide,
        _ => return None,
    })
}

fn condition_op(word: Word) -> Option<ConditionOp> {
    Some(match word {
        Word::Not => ConditionOp::Not,
        Word::Between => ConditionOp::Between,
        Word::Equal => ConditionOp::Equal,
        Word::Greater => ConditionOp::Greater,
        Word::Less => ConditionOp::Less,
        Word::GreaterOrEqual => ConditionOp::GreaterOrEqual,
        Word::LessOrEqual => ConditionOp::LessOrEqual,
        Word::NotEqual => ConditionOp::NotEqual,
        Word::In => ConditionOp::In,
        Word::Like => ConditionOp::Like,
        Word::Is => ConditionOp::Is,
        Word::Exists => ConditionOp::Exists,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        Catalog::new([("singer", vec!["id", "name", "age"]), ("song", vec!["id", "singer_id", "title"])])
    }

    fn query(sql: &str) -> SpiderQuery {
        parse(&catalog(), sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"))
    }

    #[test]
    fn what_the_official_parser_cannot_read_fails_with_its_reason() {
        use ParseFailure as F;
        let unexpected = |expected, word: &str| F::Unexpected { expected, word: word.to_owned() };
        for (sql, failure) in [
            ("", F::UnexpectedEnd),
            ("SELECT 1", F::NoFrom),
            ("SELECT name FROM singers", F::UnknownTable("singers".into())),
            ("SELECT nam FROM singer", F::UnknownColumn("nam".into())),
            ("SELECT T9.name FROM singer AS T1", F::UnknownTable("t9".into())),
            ("SELECT a.b.c FROM singer", F::MalformedName("a.b.c".into())),
            ("SELECT name FROM singer AS song", F::AliasIsTable("song".into())),
            ("SELECT name FROM singer WHERE name = 'it's'", F::UnbalancedQuotes),
            ("SELECT name FROM singer LEFT JOIN song", F::UnknownTable("left".into())),
            ("SELECT name FROM singer WHERE age > 5 LIMIT", F::UnexpectedEnd),
            ("SELECT name FROM singer WHERE age >=5", F::UnknownColumn("=5".into())),
            ("SELECT name FROM singer WHERE age 5", unexpected("a comparison operator", "5")),
            ("SELECT name FROM singer GROUP name", unexpected("BY after GROUP", "name")),
            ("WITH x FROM singer", unexpected("SELECT", "with")),
            ("SELECT name FROM singer WHERE age = max(age)", F::UnexpectedEnd),
        ] {
            assert_eq!(parse(&catalog(), sql), Err(failure), "{sql}");
        }
    }

    #[test]
    fn aliases_and_default_tables_lead_to_one_column() {
        let plain = query("SELECT name FROM singer");
        assert_eq!(query("SELECT T1.name FROM singer AS T1"), plain);
        assert_eq!(query("SELECT singer.name FROM singer;"), plain);
        assert_eq!(query("( SELECT name FROM singer )"), plain);
        assert_eq!(query("SELECT name FROM singer ; DROP TABLE singer"), plain, "the rest is not read");
    }

    #[test]
    fn a_value_that_is_a_column_swallows_what_follows_up_to_a_stop_word() {
        let short = query("SELECT name FROM singer WHERE id = age");
        assert_eq!(query("SELECT name FROM singer WHERE id = age or name = 3"), short);
        assert_eq!(short.filter.0.len(), 1);
    }

    #[test]
    fn the_last_direction_is_the_direction_of_all_keys() {
        let order = query("SELECT name FROM singer ORDER BY age DESC, name ASC").order_by.unwrap();
        assert_eq!((order.direction, order.units.len()), (SpiderDirection::Ascending, 2));
        assert_eq!(query("SELECT name FROM singer ORDER BY").order_by.map(|o| o.units.len()), Some(0));
    }

    #[test]
    fn nested_queries_keep_their_place() {
        let outer = query(
            "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM song) UNION SELECT title FROM song",
        );
        assert_eq!(outer.filter.units().flat_map(ConditionUnit::queries).count(), 1);
        assert!(outer.union.is_some());
        let derived = query("SELECT count(*) FROM (SELECT name FROM singer)");
        assert!(matches!(derived.from.tables.as_slice(), [TableUnit::Query(_)]));
    }

    #[test]
    fn depth_is_limited_and_length_is_not() {
        let chain = |n: usize| vec!["SELECT name FROM singer"; n].join(" UNION ");
        assert!(parse(&catalog(), &chain(900)).is_ok());
        assert_eq!(parse(&catalog(), &chain(1100)), Err(ParseFailure::TooDeep));
        let parentheses = format!("SELECT name FROM singer WHERE id = {}1", "(".repeat(10_000));
        assert!(parse(&catalog(), &parentheses).is_err());
        let nested = "SELECT name FROM singer WHERE id IN (".repeat(10_000);
        assert_eq!(parse(&catalog(), &nested), Err(ParseFailure::TooDeep));
        let long = format!("SELECT name FROM singer WHERE {}", "age = 1 AND ".repeat(200_000));
        assert_eq!(query(&long).filter.0.len(), 400_000);
    }
}
