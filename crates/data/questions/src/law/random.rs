//! Random queries over the plain schema of the law, with most constructs in each other.

use sqlgauge_base::Random;

const TABLES: &[(&str, &[&str])] = &[
    ("singer", &["id", "name", "country", "age", "born", "boss"]),
    ("concert", &["concert_id", "title", "singer_id", "guest_id", "stadium_id", "price"]),
    ("stadium", &["id", "name", "capacity"]),
];

/// Columns by which tables may be joined, those of foreign keys and others.
const JOINS: &[(&str, &str, &str, &str)] = &[
    ("concert", "singer_id", "singer", "id"),
    ("concert", "guest_id", "singer", "id"),
    ("concert", "stadium_id", "stadium", "id"),
    ("singer", "boss", "singer", "id"),
    ("singer", "name", "stadium", "name"),
    ("concert", "title", "stadium", "name"),
];

const COMPARISONS: &[&str] = &["=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"];
const CONSTANTS: &[&str] = &["1", "2", "20", "-3", "1.5", "'a'", "'France'", "'New York'", "'it''s'", "NULL"];
const PATTERNS: &[&str] = &["'%a%'", "'a%'", "'%a'", "'a_b'", "'%'", "''"];
const AGGREGATES: &[&str] = &["count", "sum", "avg", "min", "max", "count", "total", "group_concat"];

pub(super) struct Writer<'r> {
    random: &'r mut Random,
    /// The relations of the queries around, innermost last: alias and table.
    scopes: Vec<Vec<(String, usize)>>,
    aliases: usize,
    /// How many values may still be written.
    budget: usize,
}

pub(super) fn query(random: &mut Random) -> String {
    let mut writer = Writer { random, scopes: Vec::new(), aliases: 0, budget: 40 };
    let width = 1 + writer.random.below(3);
    writer.query(3, width)
}

impl Writer<'_> {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.below(words.len())]
    }

    fn query(&mut self, depth: usize, width: usize) -> String {
        if depth > 0 && self.random.chance(10) {
            let operator = self.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
            let (left, right) = (self.select(depth - 1, width, false), self.select(depth - 1, width, false));
            let order = if self.random.chance(30) { " ORDER BY 1 DESC LIMIT 3" } else { "" };
            return format!("{left} {operator} {right}{order}");
        }
        self.select(depth, width, true)
    }

    fn select(&mut self, depth: usize, width: usize, may_order: bool) -> String {
        self.scopes.push(Vec::new());
        let from = self.from(depth);
        let filter =
            if self.random.chance(60) { format!(" WHERE {}", self.condition(depth)) } else { String::new() };
        let grouped = self.random.chance(30);
        let mut outputs: Vec<String> = Vec::new();
        for _ in 0..width {
            outputs.push(if grouped && self.random.chance(50) {
                self.aggregate()
            } else {
                self.value(depth)
            });
        }
        let distinct = if self.random.chance(15) { "DISTINCT " } else { "" };
        let mut text = format!("SELECT {distinct}{} FROM {from}{filter}", outputs.join(", "));
        if grouped {
            let keys: Vec<String> = (0..=self.random.below(2)).map(|_| self.column()).collect();
            text = format!("{text} GROUP BY {}", keys.join(", "));
            if self.random.chance(40) {
                let (left, operator) = (self.aggregate(), self.pick(COMPARISONS));
                text = format!("{text} HAVING {left} {operator} {}", self.pick(CONSTANTS));
            }
        }
        if may_order && self.random.chance(30) {
            let key = if grouped && self.random.chance(50) { self.aggregate() } else { self.column() };
            let direction = self.pick(&["", " DESC", " DESC NULLS FIRST", " ASC NULLS LAST"]);
            let limit = self.pick(&["", " LIMIT 1", " LIMIT 3", " LIMIT 2 OFFSET 4"]);
            text = format!("{text} ORDER BY {key}{direction}{limit}");
        }
        self.scopes.pop();
        text
    }

    fn add(&mut self, table: usize) -> String {
        self.aliases += 1;
        let alias = format!("r{}", self.aliases);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((alias.clone(), table));
        }
        alias
    }

    fn from(&mut self, depth: usize) -> String {
        if depth > 1 && self.random.chance(8) {
            // A subquery in FROM reads no column of what stands beside it.
            let around = std::mem::take(&mut self.scopes);
            let inner = self.query(depth - 2, 2);
            self.scopes = around;
            self.aliases += 1;
            let alias = format!("d{}", self.aliases);
            let table = self.random.below(TABLES.len());
            let table_alias = self.add(table);
            // The columns of a subquery are read by an equality only.
            let on = format!("{table_alias}.{} = {alias}.c", TABLES[table].1[0]);
            return format!(
                "{} AS {table_alias} JOIN (SELECT 1 AS c, q.* FROM ({inner}) AS q) AS {alias} ON {on}",
                TABLES[table].0
            );
        }
        let first = self.random.below(TABLES.len());
        let mut text = format!("{} AS {}", TABLES[first].0, self.add(first));
        for _ in 0..[0, 0, 0, 1, 1, 2][self.random.below(6)] {
            text = self.join(&text);
        }
        text
    }

    fn join(&mut self, before: &str) -> String {
        let scope: Vec<(String, usize)> = self.scopes.last().cloned().unwrap_or_default();
        let (alias, table) = scope[self.random.below(scope.len())].clone();
        let name = TABLES[table].0;
        let fitting: Vec<_> = JOINS.iter().filter(|join| join.0 == name || join.2 == name).collect();
        let join = fitting[self.random.below(fitting.len())];
        let (here, other, there) =
            if join.0 == name { (join.1, join.2, join.3) } else { (join.3, join.0, join.1) };
        let other = TABLES.iter().position(|(table, _)| *table == other).unwrap_or_default();
        let new = self.add(other);
        let kind = self.pick(&["JOIN", "JOIN", "JOIN", "LEFT JOIN"]);
        let more = if self.random.chance(15) { format!(" AND {}", self.simple(0)) } else { String::new() };
        format!("{before} {kind} {} AS {new} ON {alias}.{here} = {new}.{there}{more}", TABLES[other].0)
    }

    /// A column of this query, or now and then of one around.
    fn column(&mut self) -> String {
        let outer = self.scopes.len() > 1 && self.random.chance(15);
        let depth = if outer { self.random.below(self.scopes.len()) } else { self.scopes.len() - 1 };
        let scope = &self.scopes[depth];
        let (alias, table) = scope[self.random.below(scope.len())].clone();
        let columns = TABLES[table].1;
        format!("{alias}.{}", self.pick(columns))
    }

    fn aggregate(&mut self) -> String {
        if self.random.chance(30) {
            return "count(*)".to_owned();
        }
        let scope = self.scopes.last().cloned().unwrap_or_default();
        let (alias, table) = scope[self.random.below(scope.len())].clone();
        let distinct = if self.random.chance(25) { "DISTINCT " } else { "" };
        format!("{}({distinct}{alias}.{})", self.pick(AGGREGATES), self.pick(TABLES[table].1))
    }

    fn value(&mut self, depth: usize) -> String {
        if self.budget == 0 {
            return self.column();
        }
        self.budget -= 1;
        match self.random.below(20) {
            0 => {
                let operator = self.pick(&["+", "-", "*", "/", "%", "||"]);
                format!("({} {operator} {})", self.value(depth), self.value(depth))
            }
            1 => format!(
                "{}({})",
                self.pick(&["length", "upper", "lower", "abs", "round", "trim"]),
                self.value(depth)
            ),
            2 => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.simple(0),
                self.value(0),
                self.pick(CONSTANTS)
            ),
            3 => format!("CAST({} AS REAL)", self.column()),
            4 if depth > 0 => format!("({})", self.query(depth - 1, 1)),
            5 => format!("strftime('%Y', {})", self.column()),
            6 => self.pick(CONSTANTS).to_owned(),
            7 => format!("coalesce({}, {})", self.column(), self.pick(CONSTANTS)),
            _ => self.column(),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0 | 1 => format!("({} AND {})", self.condition(depth), self.simple(depth)),
            2 | 3 => format!("({} OR {})", self.condition(depth), self.simple(depth)),
            4 => format!("NOT ({})", self.condition(depth)),
            _ => self.simple(depth),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let left = if self.random.chance(80) { self.column() } else { self.value(depth) };
        let not = self.pick(&["", "", "NOT "]);
        match self.random.below(16) {
            0 => format!("{left} {not}BETWEEN {} AND {}", self.pick(CONSTANTS), self.value(0)),
            1 => format!("{left} {not}LIKE {}", self.pick(PATTERNS)),
            2 => format!("{left} {not}IN ({}, {})", self.pick(CONSTANTS), self.pick(CONSTANTS)),
            3 => format!("{left} IS {not}NULL"),
            4 if depth > 0 => format!("{left} {not}IN ({})", self.query(depth - 1, 1)),
            5 if depth > 0 => format!("{not}EXISTS ({})", self.query(depth - 1, 1)),
            6 => format!("{left} {} {}", self.pick(COMPARISONS), self.value(depth)),
            _ => format!("{left} {} {}", self.pick(COMPARISONS), self.pick(CONSTANTS)),
        }
    }
}
