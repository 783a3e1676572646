//! What holds for every dialect of the registry.

use std::collections::HashSet;

use sqlgauge_dialects::{
    CheckLevel, DIALECTS, SQLITE, Type, TypedSchema, create_table, dialect, names, translate,
};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

const DDL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, i INT, r REAL, x VARCHAR(20), \"a b\" TEXT);
                   CREATE TABLE \"order\" (t_id INT, n INT)";

#[test]
fn there_are_twelve_of_names_of_their_own() {
    let all: Vec<&str> = names().collect();
    assert_eq!((all.len(), all[0]), (12, SQLITE));
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 12);
    for entry in DIALECTS {
        assert_eq!(dialect(entry.name).map(|dialect| dialect.title), Some(entry.title));
    }
    assert!(dialect(SQLITE).is_none());
}

#[test]
fn those_whose_rows_were_compared_stand_first() {
    let checked: Vec<bool> = DIALECTS.iter().map(|dialect| dialect.checked == CheckLevel::Rows).collect();
    assert!(checked[0] && checked.is_sorted_by(|a, b| a >= b), "{checked:?}");
}

#[test]
fn every_dialect_names_all_types_and_makes_every_table() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let typed = TypedSchema::declared(&schema);
    for dialect in DIALECTS {
        for of in [Type::Integer, Type::Real, Type::Number, Type::Text, Type::Blob] {
            assert!(dialect.types.of(of).is_some() && dialect.column_types.of(of).is_some());
        }
        assert!(dialect.types.of(Type::Mixed).is_none());
        for id in schema.ids() {
            let created = create_table(dialect, &typed, id);
            let is_sayable = dialect.identifier("a b").is_some() || id.index() == 1;
            assert_eq!(created.is_ok(), is_sayable, "{} {created:?}", dialect.name);
        }
    }
}

#[test]
fn what_all_dialects_share_is_printed_by_all_and_keeps_every_part() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let typed = TypedSchema::declared(&schema);
    let sql = "SELECT t.i, COUNT(*) FROM t JOIN \"order\" AS o ON t.id = o.t_id WHERE o.n > 3 AND t.r <= 2.5
               GROUP BY t.i HAVING SUM(o.n) BETWEEN 1 AND 9 ORDER BY COUNT(*) DESC, t.i LIMIT 7";
    let query = resolve(sql, &schema).unwrap();
    for dialect in DIALECTS {
        let text = translate(&query, &typed, dialect).unwrap();
        let id = |name| dialect.identifier(name).unwrap();
        for part in ["COUNT(*)", "JOIN", "WHERE", "GROUP BY", "HAVING", "DESC", "7", "9"] {
            assert!(text.contains(part), "{}: {text}", dialect.name);
        }
        assert!(text.contains(&id("order")) && text.contains(&id("n")), "{}: {text}", dialect.name);
        assert!(!text.contains('{') && !text.contains('}'), "{}: {text}", dialect.name);
    }
}

#[test]
fn names_and_texts_are_quoted_so_that_nothing_gets_out_of_them() {
    for dialect in DIALECTS {
        let (open, close) = dialect.quotes;
        if let Some(quoted) = dialect.identifier(&format!("a{close}b")) {
            assert_eq!(quoted, format!("{open}a{close}{close}b{close}"), "{}", dialect.name);
        }
        assert_eq!(dialect.identifier(""), None);
        assert_eq!(dialect.identifier(&"n".repeat(2_000)), None);
        let text = dialect.text("it's \\");
        let expected = if dialect.backslash_in_texts { r"'it\'s \\'" } else { r"'it''s \'" };
        assert_eq!(text, expected, "{}", dialect.name);
    }
}
