use rusqlite::Connection;
use rusqlite::types::Type;
use sqlgauge_sql::schema::Schema;

use super::*;

const DDL: &str = "CREATE TABLE students (stu_id INTEGER PRIMARY KEY, name TEXT, email TEXT);
    CREATE TABLE \"odd table\" (\"the key\" TEXT PRIMARY KEY, x BLOB) WITHOUT ROWID;
    CREATE TABLE Products (ProductCode TEXT, Price REAL, PRIMARY KEY (ProductCode, Price));
    CREATE TABLE keyless (a, b);";

fn schema() -> Schema {
    Schema::from_ddl(DDL).unwrap()
}

fn additions(table: &str, count: usize, seed: u64) -> Vec<Addition> {
    let schema = schema();
    let table = schema.table_named(table).unwrap();
    let in_use = NamesInUse::new(table.columns.iter().map(|column| column.name.as_str()));
    columns_for(table, Convention::Underscore, &in_use, count, &mut Random::new([seed]))
}

fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(DDL).unwrap();
    let rows = "INSERT INTO students VALUES (-9223372036854775808, '', NULL), (1, 'a', 'b'), (9223372036854775807, 'c', '');
        INSERT INTO \"odd table\" VALUES ('', x'00'), ('é', 5), ('abc', NULL);
        INSERT INTO Products VALUES (NULL, 1.5), ('P', 'cheap'), ('Q', 1e300);
        INSERT INTO keyless VALUES (NULL, NULL), (x'', 'x');";
    connection.execute_batch(rows).unwrap();
    connection
}

#[test]
fn a_table_gets_columns_of_its_domain_that_say_something_new() {
    let names: Vec<String> =
        additions("students", 40, 1).into_iter().map(|addition| addition.column.name).collect();
    assert!(
        names.contains(&"passport_number".to_owned()) && names.contains(&"has_scholarship".to_owned()),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("email") || name.contains("sku")), "{names:?}");
    assert!(names.contains(&"record_version".to_owned()), "any table may have it: {names:?}");
    assert_eq!(additions("students", 3, 1).len(), 3);
    assert_eq!(additions("students", 3, 1), additions("students", 3, 1));
    assert_ne!(additions("students", 3, 1), additions("students", 3, 2));
    assert!(additions("Products", 40, 1).iter().any(|addition| addition.column.name == "WeightInGrams"));
}

#[test]
fn values_are_of_the_declared_type_in_every_row() {
    let connection = database();
    for table in ["students", "odd table", "Products", "keyless"] {
        for seed in 0..20 {
            for Addition { column, value } in additions(table, 40, seed) {
                let sql = format!("SELECT {value} FROM {}", PrintDialect::Sqlite.identifier(table));
                let mut statement = connection.prepare(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                let types =
                    statement.query_map([], |row| row.get_ref(0).map(|value| value.data_type())).unwrap();
                let expected = match column.declared_type.as_deref() {
                    Some("INTEGER") => Type::Integer,
                    Some("REAL") => Type::Real,
                    _ => Type::Text,
                };
                for value_type in types {
                    assert_eq!(value_type.unwrap(), expected, "{}: {sql}", column.name);
                }
            }
        }
    }
}

#[test]
fn an_added_table_refers_to_the_one_that_it_extends() {
    let (schema, connection) = (schema(), database());
    for table in ["students", "odd table"] {
        let mut names = std::collections::BTreeSet::new();
        for seed in 0..30 {
            let parent = schema.table_named(table).unwrap();
            let in_use = NamesInUse::new(["students", "student_note"]);
            let added = table_for(parent, Convention::Underscore, &in_use, &mut Random::new([seed])).unwrap();
            assert!(!in_use.contains(&added.name));
            connection.execute_batch(&added.ddl).unwrap_or_else(|error| panic!("{}: {error}", added.ddl));
            let name = PrintDialect::Sqlite.identifier(&added.name);
            let insert = format!("INSERT INTO {name} {}; PRAGMA foreign_key_check;", added.rows);
            connection.execute_batch(&insert).unwrap_or_else(|error| panic!("{insert}: {error}"));
            connection.execute_batch(&format!("DROP TABLE {name}")).unwrap();
            let new_schema = Schema::from_ddl(&added.ddl).unwrap();
            assert_eq!(new_schema.tables()[0].foreign_keys.len(), 1);
            sqlgauge_sql::resolve(&added.rows, &schema)
                .unwrap_or_else(|error| panic!("{}: {error}", added.rows));
            names.insert(added.name);
        }
        assert!(names.len() > 2, "{names:?}");
    }
    let products = schema.table_named("Products").unwrap();
    assert_eq!(
        table_for(products, Convention::Underscore, &NamesInUse::default(), &mut Random::new([1])),
        None
    );
}

#[test]
fn every_line_of_the_data_is_read_and_of_a_known_domain() {
    let count = |file| lines(file).count();
    assert_eq!(COLUMNS.len(), count(include_str!("../../data/additions/columns.txt")));
    let columns: usize = TABLES.iter().map(|table| table.columns.len() + 1).sum();
    assert_eq!(columns, count(include_str!("../../data/additions/tables.txt")));
    let domains = COLUMNS.iter().map(|(domain, _)| *domain).chain(TABLES.iter().map(|table| table.domain));
    for domain in domains.filter(|domain| *domain != ANY) {
        assert!(sqlgauge_names::all_domains().contains(&Domain::named(domain)), "{domain}");
    }
    assert!(TABLES.iter().all(|table| table.columns.len() > 1));
}
