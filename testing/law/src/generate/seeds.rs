//! Queries to start from: both sides of every rule's cases, and of templates for the shapes that the cases lack.

use sqlgauge_etm::rules;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;

use super::templates::TEMPLATES;

/// A query and the schema that it was written for.
pub struct Seed {
    /// The rule whose shape it has.
    pub rule: &'static str,
    pub sql: &'static str,
    /// The schema that it was written for.
    pub schema: Schema,
    /// The query over that schema.
    pub query: Query,
}

/// All seeds, those of one rule side by side.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for rule in rules() {
        let id = rule.id;
        let cases = rule.cases.iter().flat_map(|case| [(case.schema, case.left), (case.schema, case.right)]);
        let templates = TEMPLATES.iter().filter(|(rule, ..)| *rule == id).map(|(_, ddl, sql)| (*ddl, *sql));
        for (ddl, sql) in cases.chain(templates) {
            let Ok(schema) = Schema::from_ddl(ddl) else { continue };
            let Ok(query) = resolve(sql, &schema) else { continue };
            seeds.push(Seed { rule: id, sql, schema, query });
        }
    }
    seeds
}
