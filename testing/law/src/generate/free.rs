//! Random queries over a schema, with every construct that the resolved tree has.
//!
//! The texts are written without much care for what SQLite allows (an aggregate may stand anywhere): SQLite judges.

use sqlgauge_sql::schema::Schema;

use crate::data::any_value;
use crate::dice::Dice;
use crate::shape::quoted;

/// Writes one query over that schema.
pub(super) fn query(schema: &Schema, dice: &mut Dice) -> String {
    let depth = 1 + dice.below(3);
    let mut writer = Writer { schema, dice, scopes: Vec::new(), ctes: Vec::new(), names: 0, budget: 60 };
    let width = 1 + writer.dice.below(3);
    writer.query(depth, width)
}

struct Relation {
    alias: String,
    columns: Vec<String>,
}

struct Writer<'s, 'd> {
    schema: &'s Schema,
    dice: &'d mut Dice,
    scopes: Vec<Vec<Relation>>,
    ctes: Vec<Relation>,
    names: usize,
    /// How many expressions may still be written.
    budget: usize,
}

const COMPARISONS: [&str; 10] = ["=", "=", "=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"];
const ARITHMETIC: [&str; 9] = ["+", "-", "*", "/", "%", "||", "&", "|", "<<"];
const TYPES: [&str; 6] = ["INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "VARCHAR(3)"];
const COLLATIONS: [&str; 3] = ["NOCASE", "RTRIM", "BINARY"];
const AGGREGATES: [&str; 8] = ["COUNT", "MIN", "MAX", "SUM", "AVG", "TOTAL", "COUNT", "GROUP_CONCAT"];
const SCALARS: [&str; 9] = ["lower", "upper", "abs", "length", "typeof", "trim", "round", "hex", "date"];
const PATTERNS: [&str; 8] = ["'a%'", "'A%'", "'%b'", "'_'", "'a*'", "'%'", "'ab%'", "'X'"];

impl Writer<'_, '_> {
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn query(&mut self, depth: usize, width: usize) -> String {
        let cte_count = self.ctes.len();
        let prefix = if depth > 0 && self.dice.chance(12) { self.with(depth - 1) } else { String::new() };
        let mut text = match self.dice.below(20) {
            0 | 1 if depth > 0 => self.compound(depth - 1, width),
            2 => self.values(width),
            _ => self.select(depth, width, true),
        };
        if self.dice.chance(12) {
            let terms = self.ordinals(width);
            if !text.contains(" ORDER BY ") {
                text = format!("{text} ORDER BY {terms}");
            }
        }
        if self.dice.chance(14) {
            let count = self.dice.below(4);
            text = format!("{text} LIMIT {count}");
            if self.dice.chance(25) {
                text = format!("{text} OFFSET {}", self.dice.below(3));
            }
        }
        self.ctes.truncate(cte_count);
        format!("{prefix}{text}")
    }

    fn with(&mut self, depth: usize) -> String {
        let name = self.name("c");
        let width = 1 + self.dice.below(3);
        let columns: Vec<String> = (0..width).map(|n| format!("k{n}")).collect();
        let list = columns.join(", ");
        if self.dice.chance(20) {
            self.ctes.push(Relation { alias: name.clone(), columns: vec!["k0".to_owned()] });
            let start = any_value(self.dice);
            return format!(
                "WITH RECURSIVE {name}(k0) AS (SELECT {start} UNION SELECT k0 + 1 FROM {name} WHERE k0 < 3) "
            );
        }
        let query = self.query(depth, width);
        let hint = *self.dice.pick(&["AS", "AS", "AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"]);
        self.ctes.push(Relation { alias: name.clone(), columns });
        format!("WITH {name}({list}) {hint} ({query}) ")
    }

    fn compound(&mut self, depth: usize, width: usize) -> String {
        let mut text = self.select(depth, width, false);
        for _ in 0..=self.dice.below(2) {
            let operator = *self.dice.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
            let right =
                if self.dice.chance(10) { self.values(width) } else { self.select(depth, width, false) };
            text = format!("{text} {operator} {right}");
        }
        text
    }

    fn values(&mut self, width: usize) -> String {
        let rows = (0..=self.dice.below(3)).map(|_| {
            let row: Vec<&str> = (0..width).map(|_| any_value(self.dice)).collect();
            format!("({})", row.join(", "))
        });
        format!("VALUES {}", rows.collect::<Vec<_>>().join(", "))
    }

    fn ordinals(&mut self, width: usize) -> String {
        let terms: Vec<String> = (0..=self.dice.below(width))
            .map(|_| format!("{}{}", 1 + self.dice.below(width), self.direction()))
            .collect();
        terms.join(", ")
    }

    fn direction(&mut self) -> &'static str {
        self.dice.word(&["", "", "", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST"])
    }

    fn select(&mut self, depth: usize, width: usize, may_order: bool) -> String {
        self.scopes.push(Vec::new());
        let from = if self.dice.chance(4) { String::new() } else { self.from(depth) };
        let filter =
            if self.dice.chance(60) { format!(" WHERE {}", self.condition(depth)) } else { String::new() };
        let grouped = self.dice.chance(28);
        let (outputs, aliases) = self.outputs(depth, width, grouped);
        let distinct = if self.dice.chance(18) { "DISTINCT " } else { "" };
        let mut text = format!("SELECT {distinct}{outputs}{from}{filter}");
        if grouped && self.dice.chance(75) {
            text = format!("{text} GROUP BY {}", self.group_keys(depth, width, &aliases));
            if self.dice.chance(30) {
                let having = self.group_condition(depth, &aliases);
                text = format!("{text} HAVING {having}");
            }
        }
        if may_order && self.dice.chance(25) {
            text = format!("{text} ORDER BY {}", self.order(depth, width, grouped, &aliases));
        }
        self.scopes.pop();
        text
    }

    fn outputs(&mut self, depth: usize, width: usize, grouped: bool) -> (String, Vec<String>) {
        let mut outputs = Vec::new();
        let mut aliases = Vec::new();
        for _ in 0..width {
            let expr = match self.dice.below(20) {
                0..=8 if grouped => self.aggregate(depth),
                0 => self.window(depth),
                1..=12 => self.column(),
                _ => self.value(depth),
            };
            if self.dice.chance(30) {
                let alias = self.name("o");
                outputs.push(format!("{expr} AS {alias}"));
                aliases.push(alias);
            } else {
                outputs.push(expr);
            }
        }
        (outputs.join(", "), aliases)
    }

    fn group_keys(&mut self, depth: usize, width: usize, aliases: &[String]) -> String {
        let keys = (0..=self.dice.below(2)).map(|_| match self.dice.below(10) {
            0 => (1 + self.dice.below(width)).to_string(),
            1 => self.dice.pick_any(aliases).cloned().unwrap_or_else(|| "1".to_owned()),
            2 => self.value(depth.min(1)),
            _ => self.column(),
        });
        keys.collect::<Vec<_>>().join(", ")
    }

    fn group_condition(&mut self, depth: usize, aliases: &[String]) -> String {
        let left = match self.dice.below(6) {
            0 => self.column(),
            1 => self.dice.pick_any(aliases).cloned().unwrap_or_else(|| "COUNT(*)".to_owned()),
            2 => "COUNT(*)".to_owned(),
            _ => self.aggregate(depth),
        };
        let operator = *self.dice.pick(&COMPARISONS);
        let right = any_value(self.dice);
        let condition = format!("{left} {operator} {right}");
        if self.dice.chance(25) {
            format!("{condition} AND {}", self.condition(depth.min(1)))
        } else {
            condition
        }
    }

    fn order(&mut self, depth: usize, width: usize, grouped: bool, aliases: &[String]) -> String {
        let mut terms = Vec::new();
        for _ in 0..=self.dice.below(2) {
            let key = match self.dice.below(8) {
                0 | 1 => (1 + self.dice.below(width)).to_string(),
                2 => self.dice.pick_any(aliases).cloned().unwrap_or_else(|| "1".to_owned()),
                3 if grouped => self.aggregate(depth),
                4 => format!("{} COLLATE {}", self.column(), self.dice.pick(&COLLATIONS)),
                5 => self.value(depth.min(1)),
                _ => self.column(),
            };
            terms.push(format!("{key}{}", self.direction()));
        }
        terms.join(", ")
    }

    fn from(&mut self, depth: usize) -> String {
        let mut text = format!(" FROM {}", self.relation(depth));
        let joins = *self.dice.pick(&[0, 0, 0, 1, 1, 1, 2, 2, 3]);
        for _ in 0..joins {
            let kind = *self.dice.pick(&[
                "JOIN",
                "JOIN",
                "JOIN",
                "LEFT JOIN",
                "LEFT JOIN",
                "RIGHT JOIN",
                "FULL JOIN",
                "CROSS JOIN",
                ",",
                "NATURAL JOIN",
                "NATURAL LEFT JOIN",
            ]);
            let right = self.relation(depth);
            text = format!("{text} {kind} {right}");
            let takes_condition = !kind.starts_with("NATURAL") && kind != "," && kind != "CROSS JOIN";
            if takes_condition && self.dice.chance(90) {
                text = format!("{text} {}", self.join_condition(depth));
            }
        }
        text
    }

    fn join_condition(&mut self, depth: usize) -> String {
        let Some(scope) = self.scopes.last() else { return String::new() };
        let [others @ .., last] = scope.as_slice() else { return String::new() };
        let common: Vec<String> = last
            .columns
            .iter()
            .filter(|name| others.iter().any(|other| other.columns.contains(name)))
            .cloned()
            .collect();
        if !common.is_empty() && self.dice.chance(15) {
            return format!("USING ({})", self.dice.pick(&common));
        }
        let (Some(other), true) = (self.dice.pick_any(others), self.dice.chance(88)) else {
            return format!("ON {}", self.condition(depth.min(1)));
        };
        let (Some(left), Some(right)) =
            (self.dice.pick_any(&other.columns), self.dice.pick_any(&last.columns))
        else {
            return "ON 1".to_owned();
        };
        let condition = format!("{}.{left} = {}.{right}", other.alias, last.alias);
        if self.dice.chance(15) {
            return format!("ON {condition} AND {}", self.condition(depth.min(1)));
        }
        format!("ON {condition}")
    }

    fn relation(&mut self, depth: usize) -> String {
        let alias = self.name("q");
        let (text, columns) = match self.dice.below(20) {
            0..=2 if depth > 0 => {
                let width = 1 + self.dice.below(3);
                self.derived(depth - 1, width)
            }
            3 | 4 if !self.ctes.is_empty() => {
                let place = self.dice.below(self.ctes.len());
                (self.ctes[place].alias.clone(), self.ctes[place].columns.clone())
            }
            _ => {
                let Some(table) = self.dice.pick_any(self.schema.tables()) else { return String::new() };
                let mut columns: Vec<String> = table.columns.iter().map(|c| quoted(&c.name)).collect();
                if self.dice.chance(3) {
                    columns.push("rowid".to_owned());
                }
                (quoted(&table.name), columns)
            }
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Relation { alias: alias.clone(), columns });
        }
        format!("{text} AS {alias}")
    }

    fn derived(&mut self, depth: usize, width: usize) -> (String, Vec<String>) {
        // What stands beside it cannot be read; the queries around can.
        let scope = self.scopes.pop();
        let around = self.dice.chance(75).then(|| std::mem::take(&mut self.scopes));
        let query = self.query(depth, width);
        self.scopes = around.unwrap_or_else(|| std::mem::take(&mut self.scopes));
        self.scopes.extend(scope);
        let columns: Vec<String> = (0..width).map(|n| format!("d{n}")).collect();
        let name = self.name("z");
        let list = columns.join(", ");
        (format!("(WITH {name}({list}) AS ({query}) SELECT {list} FROM {name})"), columns)
    }

    fn column(&mut self) -> String {
        let last = self.scopes.len().saturating_sub(1);
        let level = if last > 0 && self.dice.chance(22) { self.dice.below(last) } else { last };
        let scope = self.scopes.get(level).map_or(&[][..], Vec::as_slice);
        let Some(relation) = self.dice.pick_any(scope) else { return any_value(self.dice).to_owned() };
        match self.dice.pick_any(&relation.columns) {
            Some(column) => format!("{}.{column}", relation.alias),
            None => "1".to_owned(),
        }
    }

    fn spend(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    fn value(&mut self, depth: usize) -> String {
        if !self.spend() {
            return self.column();
        }
        let less = depth.saturating_sub(1);
        match self.dice.below(24) {
            8..=10 => any_value(self.dice).to_owned(),
            11..=13 => {
                let operator = *self.dice.pick(&ARITHMETIC);
                format!("({} {operator} {})", self.value(less), self.value(less))
            }
            14 => format!("{}({})", self.dice.pick(&SCALARS), self.value(less)),
            15 => format!("CAST({} AS {})", self.value(less), self.dice.pick(&TYPES)),
            16 => format!("{} COLLATE {}", self.column(), self.dice.pick(&COLLATIONS)),
            17 => self.case(less),
            18 => format!("IIF({}, {}, {})", self.condition(less), self.value(less), self.value(less)),
            19 => {
                let name = *self.dice.pick(&["COALESCE", "IFNULL", "NULLIF", "MAX", "MIN", "substr"]);
                format!("{name}({}, {})", self.value(less), self.value(less))
            }
            20 | 21 if depth > 0 => format!("({})", self.query(less, 1)),
            22 => format!("{}{}", self.dice.pick(&["-", "+", "~"]), self.column()),
            23 => format!("({})", self.condition(less)),
            _ => self.column(),
        }
    }

    fn case(&mut self, depth: usize) -> String {
        let otherwise =
            if self.dice.chance(60) { format!(" ELSE {}", self.value(depth)) } else { String::new() };
        if self.dice.chance(40) {
            let operand = self.column();
            return format!(
                "CASE {operand} WHEN {} THEN {}{otherwise} END",
                any_value(self.dice),
                self.value(depth)
            );
        }
        format!("CASE WHEN {} THEN {}{otherwise} END", self.condition(depth), self.value(depth))
    }

    fn aggregate(&mut self, depth: usize) -> String {
        let name = *self.dice.pick(&AGGREGATES);
        if name == "COUNT" && self.dice.chance(40) {
            return "COUNT(*)".to_owned();
        }
        let distinct = if self.dice.chance(20) { "DISTINCT " } else { "" };
        let argument = if self.dice.chance(80) { self.column() } else { self.value(depth.min(1)) };
        let order = if self.dice.chance(6) { format!(" ORDER BY {}", self.column()) } else { String::new() };
        let filter = if self.dice.chance(10) {
            format!(" FILTER (WHERE {})", self.condition(0))
        } else {
            String::new()
        };
        format!("{name}({distinct}{argument}{order}){filter}")
    }

    fn window(&mut self, depth: usize) -> String {
        let function = match self.dice.below(5) {
            0 => "row_number()".to_owned(),
            1 => "rank()".to_owned(),
            2 => format!("lag({})", self.column()),
            _ => self.aggregate(depth.min(1)),
        };
        let mut window = Vec::new();
        if self.dice.chance(50) {
            window.push(format!("PARTITION BY {}", self.column()));
        }
        if self.dice.chance(60) {
            window.push(format!("ORDER BY {}{}", self.column(), self.direction()));
            if self.dice.chance(40) {
                window.push(
                    (*self.dice.pick(&[
                        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                        "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                        "GROUPS CURRENT ROW",
                        "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES",
                    ]))
                    .to_owned(),
                );
            }
        }
        format!("{function} OVER ({})", window.join(" "))
    }

    fn condition(&mut self, depth: usize) -> String {
        if !self.spend() {
            return format!("{} = {}", self.column(), any_value(self.dice));
        }
        let less = depth.saturating_sub(1);
        match self.dice.below(26) {
            0..=3 => {
                let operator = *self.dice.pick(&["AND", "AND", "OR"]);
                format!("({} {operator} {})", self.condition(less), self.condition(less))
            }
            4 => format!("NOT ({})", self.condition(less)),
            5 => format!("{} IS {}NULL", self.column(), self.dice.pick(&["", "NOT "])),
            6 => format!(
                "{} IS {}{}",
                self.value(less),
                self.dice.pick(&["", "NOT "]),
                self.dice.pick(&["TRUE", "FALSE", "1", "0"])
            ),
            7 => {
                let not = *self.dice.pick(&["", "NOT "]);
                format!(
                    "{} {not}BETWEEN {} AND {}",
                    self.column(),
                    any_value(self.dice),
                    any_value(self.dice)
                )
            }
            8 => {
                let operator = *self.dice.pick(&["LIKE", "LIKE", "NOT LIKE", "GLOB"]);
                format!("{} {operator} {}", self.column(), self.dice.pick(&PATTERNS))
            }
            9 | 10 => {
                let not = *self.dice.pick(&["", "", "NOT "]);
                let list: Vec<&str> = (0..=self.dice.below(3)).map(|_| any_value(self.dice)).collect();
                format!("{} {not}IN ({})", self.column(), list.join(", "))
            }
            11 | 12 if depth > 0 => {
                let not = *self.dice.pick(&["", "", "NOT "]);
                format!("{} {not}IN ({})", self.column(), self.query(less, 1))
            }
            13 | 14 if depth > 0 => {
                let not = *self.dice.pick(&["", "", "NOT "]);
                let width = 1 + self.dice.below(2);
                format!("{not}EXISTS ({})", self.query(less, width))
            }
            15 => format!(
                "({}, {}) = ({}, {})",
                self.column(),
                self.column(),
                any_value(self.dice),
                self.column()
            ),
            16 if depth > 0 => {
                format!("({}, {}) IN ({})", self.column(), self.column(), self.query(less, 2))
            }
            17 => self.column(),
            18 | 19 => format!("{} {} {}", self.column(), self.dice.pick(&COMPARISONS), self.column()),
            20 => format!("{} {} {}", self.value(less), self.dice.pick(&COMPARISONS), self.value(less)),
            21 if depth > 0 => {
                format!("{} {} ({})", self.column(), self.dice.pick(&COMPARISONS), self.query(less, 1))
            }
            22 => format!("{} {} {}", any_value(self.dice), self.dice.pick(&COMPARISONS), self.column()),
            _ => format!("{} {} {}", self.column(), self.dice.pick(&COMPARISONS), any_value(self.dice)),
        }
    }
}
