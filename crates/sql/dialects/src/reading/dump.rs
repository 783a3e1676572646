//! The schema that a dump of PostgreSQL, MySQL or DuckDB makes.
//!
//! # Contract
//! - Tables are read with their columns, types, NOT NULL, primary keys, UNIQUE and foreign keys, also where ALTER TABLE or CREATE INDEX
//!   adds them; views with their columns.
//! - Rows, sequences, functions, types, rights and comments change no schema and are passed over.
//! - What changes it and is not read is an error with its line. A view whose query SQLite's grammar does not read is left out, and a note
//!   says so.

use sqlgauge_sql::quote;
use sqlgauge_sql::schema::{Action, Column, ForeignKey, Schema, Table, TableKind};
use sqlgauge_sql::schema_text;

use super::tokens::{Kind, Quotes, Token, next};
use super::{closings, level, read};

/// A statement that is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct UnreadStatement {
    /// The line where it begins.
    pub line: usize,
    /// What it is, and what to do.
    pub what: String,
}

/// The schema of a dump, and notes on what is left out.
///
/// # Errors
/// [`UnreadStatement`].
pub fn schema_of_dump(text: &str) -> Result<(Schema, Vec<String>), UnreadStatement> {
    let quotes = Quotes { is_mysql: text.contains('`') };
    let mut dump = Dump { tables: Vec::new(), notes: Vec::new(), quotes };
    for (line, tokens) in statements(text, quotes) {
        dump.statement(line, &tokens).map_err(|what| UnreadStatement { line, what })?;
    }
    for table in &mut dump.tables {
        let Table { columns, primary_key, .. } = table;
        primary_key.iter().for_each(|&at| columns[at as usize].not_null = true);
    }
    if dump.tables.is_empty() {
        return Err(UnreadStatement { line: 1, what: "no CREATE TABLE begins here or below".to_owned() });
    }
    Ok((Schema::new(dump.tables), dump.notes))
}

/// The statements with the lines where they begin. Commands of psql and the rows behind COPY are none.
fn statements(text: &str, quotes: Quotes) -> Vec<(usize, Vec<Token>)> {
    let (mut all, mut tokens, mut begin) = (Vec::new(), Vec::<Token>::new(), 0);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let line_end = || rest.find('\n').unwrap_or(rest.len());
        if tokens.is_empty() && first == '\\' {
            at += line_end();
            continue;
        }
        // MySQL runs these comments.
        if quotes.is_mysql && (rest.starts_with("/*!") || rest.starts_with("*/")) {
            at += if first == '*' { 2 } else { 3 + rest[3..].bytes().take_while(u8::is_ascii_digit).count() };
            continue;
        }
        let (token, length) = next(rest, first, quotes);
        if tokens.is_empty() {
            begin = at;
        }
        let ends = token.as_ref().is_some_and(|token| token.is_sign(";"));
        tokens.extend(token.filter(|_| !ends));
        at += length.max(first.len_utf8());
        if ends && !tokens.is_empty() {
            let has_rows = tokens[0].is(&["COPY"]) && tokens.iter().any(|token| token.is(&["STDIN"]));
            if has_rows {
                at += text[at..].find("\n\\.").map_or(text.len() - at, |end| end + 3);
            }
            all.push((begin, std::mem::take(&mut tokens)));
        }
    }
    all.extend((!tokens.is_empty()).then_some((begin, tokens)));
    let (mut line, mut from) = (1, 0);
    for (begin, _) in &mut all {
        line += text[from..*begin].matches('\n').count();
        from = std::mem::replace(begin, line);
    }
    all
}

struct Dump {
    tables: Vec<Table>,
    notes: Vec<String>,
    quotes: Quotes,
}

/// What a statement says, or why it is not read.
type Step = Result<(), String>;

impl Dump {
    fn statement(&mut self, line: usize, tokens: &[Token]) -> Step {
        let mut words = Words::of(tokens);
        if words.eat(&["ALTER"]) && words.eat(&["TABLE"]) {
            return self.alter(words);
        }
        let mut words = Words::of(tokens);
        if !words.eat(&["CREATE"]) {
            return Ok(());
        }
        while words.eat(&["OR", "REPLACE", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "FOREIGN"]) {}
        if words.eat(&["TABLE"]) {
            return self.create(line, words);
        }
        // `ALGORITHM = … DEFINER = … SQL SECURITY …` stands before VIEW.
        let mut view = Words { at: 1, ..words };
        while view.at < tokens.len().min(20)
            && !view.eat(&["VIEW"])
            && !view.is(&["AS", "ON", "TRIGGER", "FUNCTION"])
        {
            view.at += 1;
        }
        if tokens[view.at - 1].is(&["VIEW"]) {
            return self.view(line, view);
        }
        if words.eat(&["UNIQUE"]) && words.eat(&["INDEX"]) {
            self.index(words);
        }
        Ok(())
    }

    fn create(&mut self, line: usize, mut words: Words<'_>) -> Step {
        words.skip(&["IF", "NOT", "EXISTS"]);
        let name = words.name().ok_or("CREATE TABLE has no name")?;
        if self.tables.iter().any(|table| table.name.eq_ignore_ascii_case(&name)) {
            self.notes.push(format!("line {line}: a table {name} is there already; this one is left out"));
            return Ok(());
        }
        let parent = words.skip(&["PARTITION", "OF"]) || words.eat(&["LIKE"]);
        if parent {
            let table = words.name().and_then(|parent| self.table(&parent).cloned());
            let table = table.ok_or_else(|| format!("the table that {name} is like is not there"))?;
            self.tables.push(Table { name, ..table });
            return Ok(());
        }
        let items = words
            .items()
            .ok_or_else(|| format!("CREATE TABLE {name} has no columns; write them in the file"))?;
        if words.is(&["INHERITS"]) {
            return Err(format!("INHERITS of {name} is not read; write its columns in the file"));
        }
        self.tables.push(Table::new(name, Vec::new()));
        let at = self.tables.len() - 1;
        items.into_iter().try_for_each(|item| add(&mut self.tables[at], item, self.quotes))
    }

    fn alter(&mut self, mut words: Words<'_>) -> Step {
        words.skip(&["IF", "EXISTS"]);
        words.eat(&["ONLY"]);
        let name = words.name().ok_or("ALTER TABLE has no name")?;
        let quotes = self.quotes;
        for action in split(words.rest()) {
            let mut action = Words::of(action);
            if action.is(&["DROP", "RENAME"]) && !action.is_at(1, &["CONSTRAINT", "DEFAULT"]) {
                return Err(format!(
                    "ALTER TABLE {name} {} is not read; write the table as it is then",
                    action.rest()[0].text
                ));
            }
            if !action.eat(&["ADD"]) {
                continue;
            }
            action.eat(&["COLUMN"]);
            action.skip(&["IF", "NOT", "EXISTS"]);
            let table = self.table(&name).ok_or_else(|| format!("the table {name} is not there"))?;
            add(table, action.rest(), quotes)?;
        }
        Ok(())
    }

    fn view(&mut self, line: usize, mut words: Words<'_>) -> Step {
        words.skip(&["IF", "NOT", "EXISTS"]);
        let name = words.name().ok_or("CREATE VIEW has no name")?;
        let names = words.items();
        while !words.rest().is_empty() && !words.eat(&["AS"]) {
            words.at += 1;
        }
        let query = words.rest();
        let end =
            query.iter().rposition(|token| token.is(&["WITH"])).filter(|&at| query.len() - at < 5 && at > 0);
        let query = read(query[..end.unwrap_or(query.len())].to_vec(), self.quotes);
        let mut tables = self.tables.clone();
        let columns = tables.iter_mut().flat_map(|table| &mut table.columns);
        columns.for_each(|column| {
            column.declared_type = column.declared_type.take().filter(|text| is_of_sqlite(text));
        });
        let schema = schema_text(&Schema::new(tables));
        let columns = names.map_or_else(String::new, |items| {
            let names = items.iter().filter_map(|item| Some(quote::name(&item.first()?.text)));
            format!(" ({})", names.collect::<Vec<_>>().join(", "))
        });
        self.tables.retain(|table| table.kind != TableKind::View || !table.name.eq_ignore_ascii_case(&name));
        match Schema::from_ddl(&format!("{schema};\nCREATE VIEW {}{columns} AS {query}", quote::name(&name)))
        {
            Ok(schema) => self.tables.extend(schema.table_named(&name).cloned()),
            Err(error) => self.notes.push(format!("line {line}: the view {name} is left out: {error}")),
        }
        Ok(())
    }

    /// A unique index over columns.
    fn index(&mut self, mut words: Words<'_>) {
        while !words.rest().is_empty() && !words.eat(&["ON"]) {
            words.at += 1;
        }
        words.eat(&["ONLY"]);
        let table = words.name();
        if words.eat(&["USING"]) {
            words.name();
        }
        let columns = words.columns();
        if let (Some(table), Some(columns), []) = (table, columns, words.rest())
            && let Some(table) = self.table(&table)
            && let Some(columns) = places(table, &columns)
        {
            table.unique.push(columns);
        }
    }

    fn table(&mut self, name: &str) -> Option<&mut Table> {
        self.tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(name))
    }
}

/// Adds a column or a constraint.
fn add(table: &mut Table, item: &[Token], quotes: Quotes) -> Step {
    let mut words = Words::of(item);
    if words.eat(&["CONSTRAINT"]) && !words.is(&["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"]) {
        words.name();
    }
    if words.skip(&["PRIMARY", "KEY"]) {
        words.skip_to_parenthesis();
        table.primary_key = key_columns(table, &mut words)?.unwrap_or_default();
    } else if words.eat(&["UNIQUE"]) {
        words.skip_to_parenthesis();
        let columns = key_columns(table, &mut words)?;
        table.unique.extend(columns);
    } else if words.skip(&["FOREIGN", "KEY"]) {
        words.skip_to_parenthesis();
        let columns = key_columns(table, &mut words)?;
        references(table, columns.unwrap_or_default(), &mut words);
    } else if !(words.is(&["CHECK", "EXCLUDE"])
        || quotes.is_mysql && words.is(&["KEY", "INDEX", "FULLTEXT", "SPATIAL"]))
    {
        column(table, words)?;
    }
    Ok(())
}

/// Words that end the type of a column.
const BEHIND_TYPE: [&str; 18] = [
    "CONSTRAINT",
    "NOT",
    "NULL",
    "PRIMARY",
    "UNIQUE",
    "REFERENCES",
    "DEFAULT",
    "CHECK",
    "COLLATE",
    "GENERATED",
    "COMMENT",
    "AUTO_INCREMENT",
    "ON",
    "AS",
    "IDENTITY",
    "STORAGE",
    "USING",
    "KEY",
];

fn column(table: &mut Table, mut words: Words<'_>) -> Step {
    let name = words.one().ok_or_else(|| format!("a part of {} is not a column", table.name))?;
    let rest = words.rest();
    let closing = closings(rest);
    let ends = |at: &usize| {
        let has_set = rest.get(at + 1).is_some_and(|next| next.is(&["SET"]));
        rest[*at].is(&BEHIND_TYPE) || rest[*at].is(&["CHARACTER"]) && has_set
    };
    let end = level(&closing, 0, rest.len()).find(ends).unwrap_or(rest.len());
    let declared = type_text(&rest[..end]);
    let at = u32::try_from(table.columns.len()).map_err(|_| "too many columns")?;
    table.columns.push(Column::new(name, Some(declared.as_str()).filter(|text| !text.is_empty())));
    for place in level(&closing, end, rest.len()) {
        let mut words = Words { tokens: rest, at: place };
        if words.skip(&["NOT", "NULL"]) {
            table.columns[at as usize].not_null = true;
        } else if words.skip(&["PRIMARY", "KEY"]) {
            table.primary_key = vec![at];
        } else if words.eat(&["UNIQUE"]) {
            table.unique.push(vec![at]);
        } else if words.is(&["REFERENCES"]) {
            references(table, vec![at], &mut words);
        }
    }
    Ok(())
}

fn references(table: &mut Table, columns: Vec<u32>, words: &mut Words<'_>) {
    words.eat(&["REFERENCES"]);
    let Some(referenced_table) = words.name() else { return };
    let referenced_columns = words.columns().unwrap_or_default();
    let (on_delete, on_update) = (Action::default(), Action::default());
    table.foreign_keys.push(ForeignKey {
        columns,
        referenced_table,
        referenced_columns,
        on_delete,
        on_update,
        deferred: false,
    });
}

/// The places of the columns in the parentheses that come next; `None` where one is an expression or a part of a column.
fn key_columns(table: &Table, words: &mut Words<'_>) -> Result<Option<Vec<u32>>, String> {
    let Some(names) = words.columns() else { return Ok(None) };
    let fault = || format!("a key of {} names a column that is not there: {}", table.name, names.join(", "));
    places(table, &names).map(Some).ok_or_else(fault)
}

fn places(table: &Table, names: &[String]) -> Option<Vec<u32>> {
    names.iter().map(|name| table.column_index(name)).collect()
}

/// Whether SQLite's grammar takes a type: words, and numbers in parentheses.
fn is_of_sqlite(declared: &str) -> bool {
    let (words, numbers) = declared.split_once('(').unwrap_or((declared, ""));
    words.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_'))
        && numbers.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | ',' | ')'))
}

/// A type as people write it.
fn type_text(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        let sticks = token.kind == Kind::Sign || text.is_empty() || text.ends_with(['(', '[', '.', ',']);
        text.push_str(if sticks { "" } else { " " });
        text.push_str(&if token.kind == Kind::Text { quote::text(&token.text) } else { token.text.clone() });
    }
    text
}

/// The parts between commas.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let closing = closings(tokens);
    let commas: Vec<usize> = level(&closing, 0, tokens.len()).filter(|&at| tokens[at].is_sign(",")).collect();
    let begins = std::iter::once(0).chain(commas.iter().map(|at| at + 1));
    begins.zip(commas.iter().copied().chain([tokens.len()])).map(|(from, to)| &tokens[from..to]).collect()
}

/// The tokens of a statement, from a place on.
#[derive(Clone, Copy)]
struct Words<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Words<'t> {
    fn of(tokens: &'t [Token]) -> Self {
        Self { tokens, at: 0 }
    }

    fn rest(&self) -> &'t [Token] {
        self.tokens.get(self.at..).unwrap_or_default()
    }

    fn is(&self, words: &[&str]) -> bool {
        self.is_at(0, words)
    }

    fn is_at(&self, ahead: usize, words: &[&str]) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.is(words))
    }

    /// Steps over one of those words.
    fn eat(&mut self, words: &[&str]) -> bool {
        let is = self.is(words);
        self.at += usize::from(is);
        is
    }

    /// Steps over all of those words in their order.
    fn skip(&mut self, words: &[&str]) -> bool {
        let are = words.iter().enumerate().all(|(ahead, word)| self.is_at(ahead, &[word]));
        self.at += if are { words.len() } else { 0 };
        are
    }

    /// A name without what qualifies it.
    fn one(&mut self) -> Option<String> {
        let token = self.rest().first().filter(|token| matches!(token.kind, Kind::Word | Kind::Name))?;
        self.at += 1;
        Some(token.text.clone())
    }

    /// The last part of a name with points.
    fn name(&mut self) -> Option<String> {
        let mut name = self.one()?;
        while self.rest().first().is_some_and(|token| token.is_sign(".")) {
            self.at += 1;
            name = self.one()?;
        }
        Some(name)
    }

    /// Steps to the next parenthesis, such as over the name of a key.
    fn skip_to_parenthesis(&mut self) {
        while self.rest().first().is_some_and(|token| !token.is_sign("(")) {
            self.at += 1;
        }
    }

    /// The parts in the parentheses that come next.
    fn items(&mut self) -> Option<Vec<&'t [Token]>> {
        let close = closings(self.rest()).first().copied().flatten()?;
        let inside = &self.rest()[1..close];
        self.at += close + 1;
        Some(split(inside))
    }

    /// The names in the parentheses that come next; `None` where one is an expression or a part of a column.
    fn columns(&mut self) -> Option<Vec<String>> {
        let is_plain = |item: &&[Token]| item.iter().all(|token| token.kind != Kind::Sign);
        let items = self.items()?;
        items
            .iter()
            .map(|item| Some(item).filter(|item| is_plain(item))?.first().map(|name| name.text.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table as text: its columns with types, its keys.
    fn summary(table: &Table) -> String {
        let of_column = |column: &Column| {
            let not_null = if column.not_null { " NOT NULL" } else { "" };
            format!("{} {}{not_null}", column.name, column.declared_type.as_deref().unwrap_or_default())
        };
        let mut parts: Vec<String> = table.columns.iter().map(of_column).collect();
        if !table.primary_key.is_empty() {
            parts.push(format!("PK {}", table.names(&table.primary_key)));
        }
        parts.extend(table.unique.iter().map(|columns| format!("UNIQUE {}", table.names(columns))));
        parts.extend(table.foreign_keys.iter().map(|key| key.describe(table)));
        format!("{}: {}", table.name, parts.join("; "))
    }

    const POSTGRES: &str = r#"SET client_encoding = 'UTF8';
CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$;
CREATE TABLE public."Club" (
    id integer NOT NULL,
    "Name" character varying(40) DEFAULT 'a;b'::character varying COLLATE "C",
    tags text[], born timestamp without time zone DEFAULT now() NOT NULL, worth numeric(10,2)
);
COPY public."Club" (id, "Name") FROM stdin;
1	CREATE TABLE x (
\.
CREATE TABLE player (id serial PRIMARY KEY, club int REFERENCES "Club" (id) ON DELETE CASCADE, key text, CHECK (id > 0));
CREATE VIEW public.names AS SELECT c."Name"::text AS name, count(*) AS n FROM public."Club" c GROUP BY 1;
ALTER TABLE ONLY public."Club" ADD CONSTRAINT pk PRIMARY KEY (id), ADD CONSTRAINT u UNIQUE ("Name", born);
ALTER TABLE public."Club" OWNER TO me;
CREATE UNIQUE INDEX one ON public.player USING btree (key);
CREATE UNIQUE INDEX two ON public.player USING btree (lower(key));"#;

    const MYSQL: &str = r"DROP TABLE IF EXISTS `club`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `club` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT, `name` varchar(20) CHARACTER SET utf8 NOT NULL COMMENT 'it\'s; a name',
  `kind` enum('a','b') DEFAULT NULL,
  PRIMARY KEY (`id`), UNIQUE KEY `n` (`name`), KEY `k` (`kind`), UNIQUE KEY `part` (`name`(5)),
  CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `town` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8;
INSERT INTO `club` VALUES (1,'CREATE TABLE `x` (');
/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `names` AS select `club`.`name` AS `name` from `club` */;";

    const DUCKDB: &str = "CREATE SEQUENCE s;CREATE TABLE club(id INTEGER PRIMARY KEY, parts STRUCT(a INTEGER, b VARCHAR)[], UNIQUE(id));";

    #[test]
    fn dumps_are_the_schemas_that_they_make() {
        let expected = [
            (
                POSTGRES,
                "Club: id integer NOT NULL; Name character varying(40); tags text[]; born timestamp without time zone NOT NULL; \
                worth numeric(10,2); PK id; UNIQUE Name, born\n\
                player: id serial NOT NULL; club int; key text; PK id; UNIQUE key; player(club) REFERENCES Club(id)\n\
                names: name character varying(40); n ",
            ),
            (
                MYSQL,
                "club: id int(11) unsigned NOT NULL; name varchar(20) NOT NULL; kind enum('a','b'); PK id; UNIQUE name; \
                club(id) REFERENCES town(id)\nnames: name varchar(20)",
            ),
            (DUCKDB, "club: id INTEGER NOT NULL; parts STRUCT(a INTEGER,b VARCHAR)[]; PK id; UNIQUE id"),
        ];
        for (dump, tables) in expected {
            let (schema, notes) = schema_of_dump(dump).unwrap();
            assert_eq!(schema.tables().iter().map(summary).collect::<Vec<_>>().join("\n"), tables);
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn what_is_not_read_is_named_with_its_line() {
        for (dump, message) in [
            ("-- a\nCREATE TABLE t AS SELECT 1;", "line 2: CREATE TABLE t has no columns"),
            (
                "CREATE TABLE t (a int);\n\nALTER TABLE t DROP COLUMN a;",
                "line 3: ALTER TABLE t DROP is not read",
            ),
            ("CREATE TABLE t (a int,);", "line 1: a part of t is not a column"),
            (
                "CREATE TABLE t (a int, PRIMARY KEY (b));",
                "line 1: a key of t names a column that is not there: b",
            ),
            ("SELECT 1;\n", "line 1: no CREATE TABLE"),
        ] {
            let error = schema_of_dump(dump).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let (schema, notes) =
            schema_of_dump("CREATE TABLE t (a int);\nCREATE VIEW v AS SELECT b FROM t;").unwrap();
        assert!(
            schema.table_named("v").is_none() && notes[0].starts_with("line 2: the view v is left out"),
            "{notes:?}"
        );
    }

    #[test]
    fn any_script_is_read_without_a_panic() {
        let parts = [
            "CREATE TABLE",
            "ALTER TABLE",
            "ADD",
            "(",
            ")",
            ",",
            ";",
            "t",
            "'",
            "`",
            "\\.",
            "COPY x FROM STDIN;",
            "VIEW",
            "AS",
            "/*!5",
            "é",
        ];
        for a in parts {
            for b in parts {
                for c in parts {
                    for d in ["CREATE ", ""] {
                        let _ = schema_of_dump(&[d, a, " ", b, " ", c, " ", a].concat());
                    }
                }
            }
        }
    }
}
