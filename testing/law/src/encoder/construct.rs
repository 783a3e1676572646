//! Queries that exercise one construct each, over a schema with every kind of column.
//!
//! The texts are short, so that a wrong reading of the construct shows in the rows. They are written without much care for
//! what SQLite allows: SQLite judges.

use super::{DATES, TEXTS};
use crate::dice::Dice;

/// What a query is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// NULL in comparisons, NOT, AND and OR.
    NullLogic,
    /// `+ - * / %` on every kind of number.
    Arithmetic,
    /// Comparisons of values of different types.
    Affinity,
    /// NOCASE and RTRIM, of columns and by COLLATE.
    Collation,
    /// Values as conditions.
    Truth,
    /// CASE, IIF, COALESCE, NULLIF.
    Case,
    /// CAST.
    Cast,
    /// LIKE and GLOB.
    Like,
    /// Dates and times.
    Date,
    /// Functions of texts, `||`.
    Text,
    /// Several conditions on one text.
    Texts,
    /// Several conditions on one text that may be a time.
    Times,
    /// BETWEEN.
    Between,
    /// IN with a list.
    InList,
    RowValue,
    /// `group_concat`.
    Concat,
    /// DISTINCT.
    Distinct,
    /// Inner joins.
    Join,
    /// LEFT JOIN.
    LeftJoin,
    /// RIGHT and FULL JOIN.
    FullJoin,
    /// Aggregates without GROUP BY.
    Aggregate,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY with LIMIT and OFFSET.
    Limit,
    /// IN with a subquery.
    InQuery,
    /// EXISTS.
    Exists,
    /// A subquery as a value.
    Scalar,
    /// UNION, INTERSECT, EXCEPT.
    SetOperation,
    /// WITH.
    Cte,
    /// Functions that rank the rows of a window.
    Rank,
    WindowAggregate,
    /// Values of other rows of a window.
    Neighbour,
    /// WITH RECURSIVE.
    Recursion,
    /// The rowid of a table.
    Rowid,
    /// An aggregate in a subquery of the query that it belongs to.
    OuterAggregate,
}

impl Construct {
    pub const ALL: [Self; 35] = [
        Self::NullLogic,
        Self::Arithmetic,
        Self::Affinity,
        Self::Collation,
        Self::Truth,
        Self::Case,
        Self::Cast,
        Self::Like,
        Self::Date,
        Self::Text,
        Self::Texts,
        Self::Times,
        Self::Between,
        Self::InList,
        Self::RowValue,
        Self::Concat,
        Self::Distinct,
        Self::Join,
        Self::LeftJoin,
        Self::FullJoin,
        Self::Aggregate,
        Self::GroupBy,
        Self::Having,
        Self::Limit,
        Self::InQuery,
        Self::Exists,
        Self::Scalar,
        Self::SetOperation,
        Self::Cte,
        Self::Rank,
        Self::WindowAggregate,
        Self::Neighbour,
        Self::Recursion,
        Self::Rowid,
        Self::OuterAggregate,
    ];

    /// A query about it, over [`schema`].
    pub fn query(self, dice: &mut Dice) -> String {
        Writer { dice }.query(self)
    }
}

const TYPES: [&str; 10] = [
    "INT",
    "INT",
    "INTEGER",
    "REAL",
    "TEXT",
    "TEXT COLLATE NOCASE",
    "TEXT COLLATE RTRIM",
    "NUMERIC",
    "DATE",
    "",
];

/// A schema of two tables: `t` and `u`, which refers to it, with columns of types that are drawn.
pub fn schema(dice: &mut Dice) -> Vec<String> {
    let mut column = |name: &str| {
        let declared = dice.word(&TYPES);
        let not_null = if dice.chance(15) { " NOT NULL" } else { "" };
        format!("{name} {declared}{not_null}")
    };
    let (t, u) = (["a", "b", "c"].map(&mut column), ["a", "b", "c"].map(&mut column));
    let key = dice.word(&["id INTEGER PRIMARY KEY", "id INT PRIMARY KEY", "id TEXT PRIMARY KEY", "id INT"]);
    let refers = dice.word(&["INT REFERENCES t(id)", "INT NOT NULL REFERENCES t(id)", "INT", "TEXT"]);
    let refers = if key.ends_with("KEY") { refers } else { "INT" };
    vec![
        format!("CREATE TABLE t ({key}, {}, s TEXT, n INT, x REAL, d DATE)", t.join(", ")),
        format!(
            "CREATE TABLE u (id INTEGER PRIMARY KEY, t_id {refers}, {}, s TEXT, n INT, d DATE)",
            u.join(", ")
        ),
    ]
}

const COMPARISONS: [&str; 8] = ["=", "=", "<>", "<", "<=", ">", "IS", "IS NOT"];
const CONSTANTS: [&str; 14] =
    ["0", "1", "2", "-1", "1.0", "2.5", "'1'", "'a'", "'A'", "'a '", "''", "'1.5'", "NULL", "'2020-01-01'"];
const PATTERNS: [&str; 10] =
    ["'a%'", "'A%'", "'%b'", "'_'", "'a_'", "'%'", "'1%'", "'A'", "'%-01-%'", "'ab'"];
const GLOBS: [&str; 5] = ["'a*'", "'A*'", "'?'", "'[ab]*'", "'*'"];
const DAYS: [&str; 5] =
    ["'2020-01-01'", "'2020-01-02'", "'1999-12-31'", "'2020-02-30'", "'2020-01-01 10:30:00'"];
const FORMATS: [&str; 6] = ["'%Y'", "'%m'", "'%d'", "'%Y-%m'", "'%H:%M'", "'%J'"];
const CASTS: [&str; 4] = ["INTEGER", "REAL", "TEXT", "NUMERIC"];

struct Writer<'d> {
    dice: &'d mut Dice,
}

impl Writer<'_> {
    fn query(&mut self, construct: Construct) -> String {
        use Construct as C;
        match construct {
            C::NullLogic
            | C::Affinity
            | C::Collation
            | C::Truth
            | C::Like
            | C::Between
            | C::InList
            | C::RowValue => {
                let condition = self.condition(construct, "t");
                self.with_condition(&condition)
            }
            C::Arithmetic | C::Case | C::Cast | C::Text | C::Date => {
                let value = self.value(construct, "t");
                self.with_value(&value)
            }
            C::Texts | C::Times => self.together(construct),
            C::Concat => self.concatenated(),
            C::Distinct => self.distinct(),
            C::Join | C::LeftJoin | C::FullJoin => self.join(construct),
            C::Aggregate => self.aggregates(),
            C::GroupBy => self.grouped(false),
            C::Having => self.grouped(true),
            C::Limit => self.limited(),
            C::InQuery | C::Exists => self.in_condition(construct),
            C::Scalar => self.scalar(),
            C::SetOperation => self.set_operation(),
            C::Cte => self.cte(),
            C::Recursion => self.recursion(),
            C::Rowid => self.rowid(),
            C::OuterAggregate => self.outer_aggregate(),
            C::Rank | C::WindowAggregate | C::Neighbour => self.windowed(construct),
        }
    }

    fn column(&mut self, table: &str) -> String {
        let column = self.dice.word(&["a", "b", "c", "n", "s", "id", "d"]);
        format!("{table}.{column}")
    }

    fn operand(&mut self, table: &str) -> String {
        if self.dice.chance(65) { self.column(table) } else { self.dice.word(&CONSTANTS).to_owned() }
    }

    fn plain(&mut self, table: &str) -> String {
        let (left, right) = (self.column(table), self.operand(table));
        format!("{left} {} {right}", self.dice.word(&COMPARISONS))
    }

    fn condition(&mut self, construct: Construct, table: &str) -> String {
        use Construct as C;
        match construct {
            C::NullLogic => self.null_logic(table),
            C::Collation => {
                let (left, right) = (self.column(table), self.operand(table));
                let collate = self.dice.word(&["", "", " COLLATE NOCASE", " COLLATE RTRIM"]);
                format!("{left} {} {right}{collate}", self.dice.word(&COMPARISONS))
            }
            C::Truth => {
                let (value, other) = (self.column(table), self.plain(table));
                match self.dice.below(5) {
                    0 => format!("{value} IS {}TRUE", self.dice.word(&["", "NOT "])),
                    1 => format!("NOT {value}"),
                    2 => format!("{value} AND {other}"),
                    3 => format!("CASE WHEN {value} THEN 1 ELSE 0 END = {}", self.dice.below(2)),
                    _ => value,
                }
            }
            C::Like => {
                let not = self.dice.word(&["", "NOT "]);
                let column = self.column(table);
                if self.dice.chance(30) {
                    return format!("{column} {not}GLOB {}", self.dice.word(&GLOBS));
                }
                format!("{column} {not}LIKE {}", self.dice.word(&PATTERNS))
            }
            C::Between => {
                let (value, low, high) = (self.column(table), self.operand(table), self.operand(table));
                format!("{value} {}BETWEEN {low} AND {high}", self.dice.word(&["", "NOT "]))
            }
            C::InList => {
                let list: Vec<String> = (0..self.dice.below(4)).map(|_| self.operand(table)).collect();
                let value = self.column(table);
                format!("{value} {}IN ({})", self.dice.word(&["", "NOT "]), list.join(", "))
            }
            C::RowValue => {
                let parts: Vec<String> = (0..4).map(|_| self.operand(table)).collect();
                let operator = self.dice.word(&["=", "<>", "IS", "IS NOT", "<", ">="]);
                format!("({}, {}) {operator} ({}, {})", parts[0], parts[1], parts[2], parts[3])
            }
            _ => self.plain(table),
        }
    }

    fn null_logic(&mut self, table: &str) -> String {
        let (left, right) = (self.plain(table), self.plain(table));
        match self.dice.below(5) {
            0 => format!("NOT ({left})"),
            1 => format!("NOT ({left} AND {right})"),
            2 => format!("NOT ({left} OR {right})"),
            3 => format!("({left}) IS {}", self.dice.word(&["NULL", "NOT NULL", "TRUE", "NOT FALSE"])),
            _ => format!("{} IS {}NULL OR {left}", self.column(table), self.dice.word(&["", "NOT "])),
        }
    }

    fn with_condition(&mut self, condition: &str) -> String {
        match self.dice.below(4) {
            0 => format!("SELECT {condition} FROM t"),
            1 => format!("SELECT t.id, CASE WHEN {condition} THEN 'yes' ELSE 'no' END FROM t"),
            2 => format!("SELECT COUNT(*) FROM t WHERE NOT ({condition})"),
            _ => format!("SELECT t.id FROM t WHERE {condition}"),
        }
    }

    fn value(&mut self, construct: Construct, table: &str) -> String {
        use Construct as C;
        match construct {
            C::Arithmetic => {
                let (left, right) = (self.operand(table), self.operand(table));
                let operator = self.dice.word(&["+", "-", "*", "/", "/", "%"]);
                match self.dice.below(5) {
                    0 => format!("({left} {operator} {right}) / {}", self.operand(table)),
                    1 => format!("-{} {operator} {right}", self.column(table)),
                    2 => {
                        let whole = ["abs", "round", "ceil", "floor", "trunc", "sign"];
                        format!("{}({left} {operator} {right})", self.dice.word(&whole))
                    }
                    3 => format!("round({left} {operator} {right}, 0)"),
                    _ => format!("{left} {operator} {right}"),
                }
            }
            C::Case => self.case(table),
            C::Cast => {
                let inner = if self.dice.chance(30) {
                    self.value(C::Arithmetic, table)
                } else {
                    self.dice
                        .word(&["t.x", "t.s", "t.n", "t.a", "t.b", "t.c"])
                        .replace("t.", &format!("{table}."))
                };
                format!("CAST({inner} AS {})", self.dice.word(&CASTS))
            }
            C::Date => self.date(table),
            _ => self.text(table),
        }
    }

    fn case(&mut self, table: &str) -> String {
        let (one, other) = (self.operand(table), self.operand(table));
        let condition = self.plain(table);
        match self.dice.below(5) {
            0 => format!("COALESCE({one}, {other})"),
            1 => format!("NULLIF({one}, {other})"),
            2 => format!("IIF({condition}, {one}, {other})"),
            3 => format!("CASE {} WHEN {one} THEN 1 WHEN {other} THEN 2 ELSE 3 END", self.column(table)),
            _ => format!("CASE WHEN {condition} THEN {one} ELSE {other} END"),
        }
    }

    fn text(&mut self, table: &str) -> String {
        let (one, other) = (self.column(table), self.operand(table));
        match self.dice.below(9) {
            0 => format!("{one} || {other}"),
            1 => format!("substr({one}, {}, {})", self.dice.below(3), self.dice.below(3)),
            2 => format!("length({one})"),
            3 => format!("upper({one})"),
            4 => format!("lower({one})"),
            5 => format!("trim({one})"),
            6 => format!("replace({one}, 'a', {other})"),
            7 => format!("instr({one}, {other})"),
            _ => format!("substr({one}, {})", self.dice.below(3)),
        }
    }

    /// Two or three conditions on one column. Often one names a value that rows hold: what follows from it is then known.
    fn together(&mut self, construct: Construct) -> String {
        let column = self.dice.word(if construct == Construct::Times {
            &["t.d", "t.d", "t.s"]
        } else {
            &["t.s", "t.s", "t.a", "t.b"]
        });
        let mut conditions: Vec<String> = (0..2 + self.dice.below(2))
            .map(|_| if construct == Construct::Times { self.of_time(column) } else { self.of_text(column) })
            .collect();
        if self.dice.chance(40) {
            let values = if construct == Construct::Times { &DATES[..] } else { &TEXTS };
            conditions[0] = format!("{column} = {}", self.dice.word(values));
        }
        match self.dice.below(3) {
            0 => format!("SELECT t.id FROM t WHERE {}", conditions.join(" AND ")),
            1 => format!("SELECT t.id FROM t WHERE {}", conditions.join(" OR ")),
            _ => format!("SELECT {} FROM t", conditions.join(", ")),
        }
    }

    fn of_text(&mut self, column: &str) -> String {
        const PARTS: [&str; 8] = ["'a'", "'A'", "'b'", "'ab'", "'Ab%'", "' '", "'1'", "'é'"];
        const WHOLE: [&str; 10] =
            ["'a'", "'A'", "'AB'", "'ab'", "'aa'", "'1'", "''", "'xA'", "'Ab%x'", "'a b'"];
        let (part, whole) = (self.dice.word(&PARTS), self.dice.word(&WHOLE));
        let (comparison, count) = (self.dice.word(&["=", "<>", "<", ">", "<=", ">="]), self.dice.below(4));
        let from = self.dice.below(4);
        match self.dice.below(27) {
            0 => format!("{column} LIKE {}", self.dice.word(&PATTERNS)),
            1 => format!("{column} GLOB {}", self.dice.word(&GLOBS)),
            2 => format!("length({column}) {comparison} {count}"),
            3 => format!("substr({column}, {from}, {count}) {comparison} {part}"),
            4 => format!("substr({column}, {from}) {comparison} {whole}"),
            5 => format!("{column} || {part} {comparison} {whole}"),
            6 => format!("{part} || {column} {comparison} {whole}"),
            7 => format!("upper({column}) {comparison} {whole}"),
            8 => format!("lower({column}) || {part} LIKE {}", self.dice.word(&PATTERNS)),
            9 => format!("{}({column}) {comparison} {whole}", self.dice.word(&["trim", "ltrim", "rtrim"])),
            10 => format!("trim({column}, {part}) {comparison} {whole}"),
            11 => format!("instr({column}, {part}) {comparison} {count}"),
            12 => format!(
                "CAST({column} AS INTEGER) {comparison} {}",
                self.dice.word(&["0", "1", "-1", "5", "12"])
            ),
            14 => format!("substr({column}, -{}) {comparison} {part}", 1 + count),
            23 => {
                let last = whole.trim_matches('\'').chars().last().unwrap_or('a');
                format!("({column} = {whole} AND substr({column}, -1) {comparison} '{last}')")
            }
            19 => {
                let (one, other) =
                    (self.dice.word(&["upper", "lower"]), self.dice.word(&["t.a", "t.b", "t.s"]));
                format!("{one}({column}) {comparison} {one}({other})")
            }
            20 => format!("{column} || ({part} || t.a) {comparison} {whole}"),
            21 => format!("concat({column}, t.a, {part}) {comparison} {whole}"),
            22 => format!(
                "ltrim(rtrim({column}, {part}), {}) {comparison} {whole}",
                self.dice.word(&[part, "' '"])
            ),
            15 => format!("substr({column}, -{}, {from}) {comparison} {whole}", 1 + count),
            16 => format!("replace({column}, {part}, {}) {comparison} {whole}", self.dice.word(&PARTS)),
            17 => {
                let between = self.dice.word(&["", "' ' || ", "'a' || "]);
                let other = self.dice.word(&["t.s", "t.a", "t.b"]);
                format!("{column} || {between}{other} {comparison} {whole}")
            }
            18 => {
                let number = self.dice.word(&["0", "1", "-1", "5", "12"]);
                let change = self.dice.word(&["* 2", "- 1", "/ 2", "* -3", "+ 7", "/ 3.0"]);
                format!("CAST({column} AS INTEGER) {change} {comparison} {number}")
            }
            13 => {
                format!(
                    "({column} LIKE '%{} AND {column} {comparison} {})",
                    &whole[1..],
                    in_other_case(whole)
                )
            }
            _ => format!("{column} {comparison} {whole}"),
        }
    }

    fn of_time(&mut self, column: &str) -> String {
        const SHOWN: [(&str, &str); 13] = [
            ("%w", "'6'"),
            ("%Y %w", "'2020 0'"),
            ("%Y", "'2020'"),
            ("%m", "'02'"),
            ("%d", "'01'"),
            ("%Y-%m", "'2020-03'"),
            ("%m-%d", "'03-01'"),
            ("%H:%M", "'10:30'"),
            ("%j", "'060'"),
            ("%S", "'59'"),
            ("%F", "'2020-02-29'"),
            ("%d/%m/%Y", "'29/02/2020'"),
            ("%m/%Y", "'03/2020'"),
        ];
        let comparison = self.dice.word(&["=", "=", "<>", "<", ">", "<=", ">="]);
        let (format, text) = SHOWN[self.dice.below(SHOWN.len())];
        let (year, day) = (self.dice.word(&["1999", "2000", "2020"]), self.dice.word(&DAYS));
        match self.dice.below(14) {
            0..=3 => format!("strftime('{format}', {column}) {comparison} {text}"),
            4 => format!("date({column}) {comparison} {day}"),
            5 => format!("datetime({column}) {comparison} {day}"),
            6 => format!("CAST(strftime('%Y', {column}) AS INTEGER) {comparison} {year}"),
            7 => format!("julianday({column}) {comparison} julianday({day})"),
            8 => format!("substr({column}, 1, 4) {comparison} '{year}'"),
            9 => format!("{column} LIKE '{year}%'"),
            10 => format!(
                "{year} - strftime('%Y', {column}) {comparison} {}",
                self.dice.word(&["0", "1", "20"])
            ),
            11 => format!("CAST(strftime('%Y', {column}) AS INTEGER) / 10 {comparison} {year} / 10"),
            12 => {
                let start = self.dice.word(&["month", "year", "day"]);
                let function = self.dice.word(&["date", "date", "datetime"]);
                format!("{function}({column}, 'start of {start}') {comparison} {day}")
            }
            _ => format!("{column} {comparison} {day}"),
        }
    }

    fn date(&mut self, table: &str) -> String {
        let day = if self.dice.chance(75) { format!("{table}.d") } else { self.dice.word(&DAYS).to_owned() };
        match self.dice.below(6) {
            0 => format!("date({day})"),
            1 => format!("strftime({}, {day})", self.dice.word(&FORMATS)),
            2 => format!("julianday({day}) - julianday({})", self.dice.word(&DAYS)),
            3 => format!("date({day}, {})", self.dice.word(&["'+1 day'", "'start of month'", "'-1 year'"])),
            4 => format!("CAST(strftime('%Y', {day}) AS INTEGER) - {}", self.dice.word(&["1", "2000"])),
            _ => format!("datetime({day})"),
        }
    }

    fn with_value(&mut self, value: &str) -> String {
        match self.dice.below(5) {
            0 => format!(
                "SELECT t.id FROM t WHERE {value} {} {}",
                self.dice.word(&COMPARISONS),
                self.operand("t")
            ),
            1 => format!("SELECT SUM({value}) FROM t"),
            2 => format!("SELECT {value}, COUNT(*) FROM t GROUP BY 1"),
            _ => format!("SELECT {value} FROM t"),
        }
    }

    fn concatenated(&mut self) -> String {
        let (value, key) = (self.column("t"), self.column("t"));
        let separator = self.dice.word(&["", "", ", ';'", ", ''"]);
        let direction = self.dice.word(&["", " DESC", " ASC NULLS LAST"]);
        let filter =
            if self.dice.chance(20) { format!(" FILTER (WHERE {})", self.plain("t")) } else { String::new() };
        let call = match self.dice.below(4) {
            0 => format!("group_concat({value}{separator}){filter}"),
            1 => format!("group_concat(DISTINCT {value}){filter}"),
            _ => format!("group_concat({value}{separator} ORDER BY {key}{direction}, t.id){filter}"),
        };
        match self.dice.below(3) {
            0 => format!("SELECT {call} FROM t WHERE {}", self.plain("t")),
            1 => format!("SELECT {key}, {call} FROM t GROUP BY {key}"),
            _ => format!("SELECT {call}, COUNT(*) FROM t GROUP BY t.id"),
        }
    }

    fn distinct(&mut self) -> String {
        let (one, other) = (self.column("t"), self.column("t"));
        match self.dice.below(4) {
            0 => format!("SELECT DISTINCT {one} FROM t"),
            1 => format!("SELECT COUNT(DISTINCT {one}), SUM(DISTINCT t.n) FROM t"),
            2 => format!("SELECT DISTINCT {one} FROM t JOIN u ON u.t_id = t.id"),
            _ => format!("SELECT DISTINCT {one}, {other} FROM t"),
        }
    }

    fn join(&mut self, construct: Construct) -> String {
        let kind = match construct {
            Construct::Join => self.dice.word(&["JOIN", "JOIN", ",", "CROSS JOIN"]),
            Construct::LeftJoin => "LEFT JOIN",
            _ => self.dice.word(&["RIGHT JOIN", "FULL JOIN", "FULL JOIN"]),
        };
        let further = if self.dice.chance(30) { format!(" AND {}", self.plain("u")) } else { String::new() };
        let (left, right) = (self.column("t"), self.column("u"));
        let condition = match self.dice.below(3) {
            0 => format!("{left} = {right}{further}"),
            _ => format!("u.t_id = t.id{further}"),
        };
        let on = if kind == "," { " WHERE " } else { " ON " };
        let filter = if self.dice.chance(30) && kind != "," {
            let side = self.dice.word(&["t", "u"]);
            format!(" WHERE {}", self.plain(side))
        } else {
            String::new()
        };
        let outputs = match self.dice.below(3) {
            0 => "COUNT(*), COUNT(u.id), COUNT(t.id)".to_owned(),
            _ => format!("{left}, {right}"),
        };
        format!("SELECT {outputs} FROM t {kind} u{on}{condition}{filter}")
    }

    fn aggregate(&mut self, table: &str) -> String {
        let argument =
            if self.dice.chance(70) { self.column(table) } else { self.value(Construct::Arithmetic, table) };
        let name = self.dice.word(&["COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL"]);
        let distinct = if self.dice.chance(15) { "DISTINCT " } else { "" };
        let filter = if self.dice.chance(15) {
            format!(" FILTER (WHERE {})", self.plain(table))
        } else {
            String::new()
        };
        match self.dice.below(6) {
            0 => format!("COUNT(*){filter}"),
            _ => format!("{name}({distinct}{argument}){filter}"),
        }
    }

    fn aggregates(&mut self) -> String {
        let (one, other) = (self.aggregate("t"), self.aggregate("t"));
        let filter = if self.dice.chance(50) { format!(" WHERE {}", self.plain("t")) } else { String::new() };
        match self.dice.below(3) {
            0 => format!("SELECT {one} * 100.0 / COUNT(*) FROM t{filter}"),
            1 => format!("SELECT {one} FROM t{filter}"),
            _ => format!("SELECT {one}, {other} FROM t{filter}"),
        }
    }

    fn grouped(&mut self, has_having: bool) -> String {
        let (one, other, aggregate) = (self.column("t"), self.column("t"), self.aggregate("t"));
        let having = if has_having {
            let (left, right) = (self.aggregate("t"), self.dice.word(&CONSTANTS));
            format!(" HAVING {left} {} {right}", self.dice.word(&COMPARISONS))
        } else {
            String::new()
        };
        match self.dice.below(4) {
            0 => format!("SELECT {one}, {other}, {aggregate} FROM t GROUP BY {one}, {other}{having}"),
            1 => format!("SELECT {aggregate} FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.id{having}"),
            2 => format!("SELECT {other}, {aggregate} FROM t GROUP BY t.id{having}"),
            _ => format!("SELECT {one}, {aggregate} FROM t GROUP BY {one}{having}"),
        }
    }

    fn limited(&mut self) -> String {
        let (one, other) = (self.column("t"), self.column("t"));
        let direction = self.dice.word(&["", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST"]);
        let limit = 1 + self.dice.below(2);
        let offset = self.dice.word(&["", "", " OFFSET 1"]);
        let sorted = format!("ORDER BY {one}{direction}, t.id LIMIT {limit}{offset}");
        match self.dice.below(4) {
            0 => format!("SELECT {one} FROM t ORDER BY {one}{direction} LIMIT {limit}{offset}"),
            1 => format!("SELECT COUNT(*), MAX(n) FROM (SELECT t.n FROM t {sorted})"),
            2 => format!("SELECT u.id FROM u WHERE u.t_id IN (SELECT t.id FROM t {sorted})"),
            _ => format!("SELECT t.id, {other} FROM t {sorted}"),
        }
    }

    fn in_condition(&mut self, construct: Construct) -> String {
        let (outer, inner) = (self.column("t"), self.column("u"));
        let filter = match self.dice.below(3) {
            0 => "u.t_id = t.id".to_owned(),
            1 => format!("{} = {outer}", self.column("u")),
            _ => self.plain("u"),
        };
        let not = self.dice.word(&["", "NOT "]);
        let condition = if construct == Construct::Exists {
            format!("{not}EXISTS (SELECT {inner} FROM u WHERE {filter})")
        } else {
            format!("{outer} {not}IN (SELECT {inner} FROM u WHERE {filter})")
        };
        self.with_condition(&condition)
    }

    fn scalar(&mut self) -> String {
        let aggregate = self.aggregate("u");
        let inner = match self.dice.below(3) {
            0 => format!("SELECT {aggregate} FROM u"),
            1 => format!("SELECT u.n FROM u WHERE {} ORDER BY u.id LIMIT 1", self.plain("u")),
            _ => format!("SELECT {aggregate} FROM u WHERE u.t_id = t.id"),
        };
        match self.dice.below(3) {
            0 => format!(
                "SELECT t.id FROM t WHERE {} {} ({inner})",
                self.column("t"),
                self.dice.word(&COMPARISONS)
            ),
            _ => format!("SELECT t.id, ({inner}) FROM t"),
        }
    }

    fn set_operation(&mut self) -> String {
        let operator = self.dice.word(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
        let (left, right) = (self.column("t"), self.column("u"));
        let filter = self.plain("t");
        match self.dice.below(3) {
            0 => format!("SELECT {left} FROM t WHERE {filter} {operator} SELECT {} FROM t", self.column("t")),
            1 => format!("SELECT COUNT(*) FROM (SELECT {left} FROM t {operator} SELECT {right} FROM u)"),
            _ => format!("SELECT {left} FROM t {operator} SELECT {right} FROM u"),
        }
    }

    fn cte(&mut self) -> String {
        let (one, aggregate) = (self.column("t"), self.aggregate("t"));
        let filter = self.plain("t");
        match self.dice.below(3) {
            0 => format!(
                "WITH k(v, w) AS (SELECT {one}, {aggregate} FROM t GROUP BY 1) SELECT t.id, k.w FROM t JOIN k ON k.v = {one}"
            ),
            1 => format!(
                "WITH k AS (SELECT t.id AS v FROM t WHERE {filter} ORDER BY t.id LIMIT 2) SELECT p.v, q.v FROM k AS p JOIN k AS q ON p.v < q.v"
            ),
            _ => format!(
                "WITH k AS (SELECT DISTINCT {one} AS v FROM t) SELECT COUNT(*), (SELECT MAX(v) FROM k) FROM k"
            ),
        }
    }

    fn recursion(&mut self) -> String {
        let union = self.dice.word(&["UNION", "UNION ALL", "UNION ALL"]);
        let (one, two) = (self.column("t"), self.operand("t"));
        let (comparison, constant) = (self.dice.word(&COMPARISONS), self.dice.word(&CONSTANTS));
        let last = self.dice.below(5);
        match self.dice.below(8) {
            0 => format!(
                "WITH k(v) AS (SELECT 1 {union} SELECT v + 1 FROM k WHERE v < {last}) SELECT k.v, {one} FROM k LEFT JOIN t ON {two} {comparison} k.v"
            ),
            1 => format!(
                "WITH k(v, w) AS (SELECT {one}, 0 FROM t {union} SELECT k.v, k.w + 1 FROM k WHERE k.w < {last}) SELECT v, w, v {comparison} {constant} FROM k"
            ),
            2 => format!(
                "WITH k(v) AS (SELECT {one} FROM t UNION SELECT u.t_id FROM u JOIN k ON k.v {comparison} {}) SELECT count(*), max(v) FROM k",
                self.column("u")
            ),
            3 => format!(
                "WITH k(v) AS (SELECT 0 UNION SELECT {one} FROM k, t WHERE {} IS NOT k.v AND {two} {comparison} k.v) SELECT v, v {comparison} {constant} FROM k",
                self.column("t")
            ),
            4 => format!(
                "WITH k(v) AS (SELECT {one} FROM t WHERE {} UNION SELECT {one} FROM t LEFT JOIN k ON {two} {comparison} k.v WHERE k.v IS NULL) SELECT v FROM k",
                self.plain("t")
            ),
            5 => format!(
                "WITH k(v) AS (SELECT {constant} UNION SELECT {one} FROM k LEFT JOIN t ON {two} {comparison} k.v) SELECT v, count(*) FROM k GROUP BY v"
            ),
            6 => format!(
                "SELECT t.id FROM t WHERE {one} IN (WITH k(v) AS (SELECT {constant} UNION ALL SELECT v || 'a' FROM k WHERE length(v) < {last}) SELECT v FROM k)"
            ),
            _ => format!(
                "WITH k(v, w) AS (SELECT {one}, 1 FROM t WHERE {two} {comparison} {constant} UNION ALL SELECT u.id, w + 1 FROM k JOIN u ON u.t_id = k.v WHERE w < 3) SELECT w, count(*) FROM k GROUP BY w"
            ),
        }
    }

    fn rowid(&mut self) -> String {
        let (one, condition) = (self.operand("t"), self.plain("u"));
        let comparison = self.dice.word(&COMPARISONS);
        let rowid = self.dice.word(&["rowid", "oid", "_rowid_"]);
        match self.dice.below(5) {
            0 => format!("SELECT t.{rowid}, {one} FROM t"),
            1 => format!(
                "SELECT t.id, u.{rowid} FROM t LEFT JOIN u ON t.{rowid} {comparison} u.n AND {condition}"
            ),
            2 => format!("SELECT max(t.{rowid}), {one} FROM t"),
            3 => format!("SELECT {one} FROM t ORDER BY t.{rowid} DESC LIMIT {}", self.dice.below(3)),
            _ => format!("SELECT t.id FROM t WHERE t.{rowid} {comparison} {one}"),
        }
    }

    fn outer_aggregate(&mut self) -> String {
        let (one, aggregate) = (self.column("t"), self.aggregate("t"));
        let (condition, key) = (self.plain("u"), self.column("t"));
        match self.dice.below(4) {
            0 => format!("SELECT (SELECT {aggregate}) FROM t"),
            1 => format!(
                "SELECT {key}, (SELECT {aggregate} + u.n FROM u WHERE {condition} ORDER BY u.id LIMIT 1) FROM t GROUP BY {key}"
            ),
            2 => format!(
                "SELECT {key} FROM t GROUP BY {key} HAVING (SELECT {aggregate} > count(u.id) FROM u WHERE {condition})"
            ),
            _ => format!(
                "SELECT (SELECT count(u.n) + max({one}) FROM u WHERE {condition}), {aggregate} FROM t"
            ),
        }
    }

    fn windowed(&mut self, construct: Construct) -> String {
        let (partition, key) = (self.column("t"), self.column("t"));
        let direction = self.dice.word(&["", " DESC", " ASC NULLS LAST"]);
        let by = if self.dice.chance(55) { format!("PARTITION BY {partition} ") } else { String::new() };
        let frame = self.dice.word(&[
            "",
            "",
            " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
            " GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP",
        ]);
        let unique = format!("{by}ORDER BY {key}{direction}, t.id");
        let (call, over) = match construct {
            Construct::Rank => {
                let call =
                    self.dice.word(&["row_number()", "rank()", "dense_rank()", "ntile(2)", "percent_rank()"]);
                let is_unique = call.starts_with("row") || call.starts_with("ntile");
                (call.to_owned(), if is_unique { unique } else { format!("{by}ORDER BY {key}{direction}") })
            }
            Construct::WindowAggregate => {
                let call = self.aggregate("t").replace("DISTINCT ", "");
                let over = match self.dice.below(4) {
                    0 => by,
                    1 => format!("{by}ORDER BY {key}{direction}"),
                    _ => format!("{unique}{frame}"),
                };
                (call, over)
            }
            _ => {
                let (value, other) = (self.column("t"), self.dice.word(&CONSTANTS));
                let call = match self.dice.below(5) {
                    0 => format!("lag({value}, 1, {other})"),
                    1 => format!("lead({value})"),
                    2 => format!("first_value({value})"),
                    3 => format!("last_value({value})"),
                    _ => format!("lag({value})"),
                };
                let takes_frame = call.starts_with("first") || call.starts_with("last");
                (call, format!("{unique}{}", if takes_frame { frame } else { "" }))
            }
        };
        match self.dice.below(3) {
            0 => format!("SELECT v FROM (SELECT t.id, {call} OVER ({over}) AS v FROM t) WHERE v IS NOT NULL"),
            _ => format!("SELECT t.id, {call} OVER ({over}) FROM t"),
        }
    }
}

fn in_other_case(text: &str) -> String {
    let other = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    text.chars().map(other).collect()
}
