//! What a judge gets of a case.

use std::collections::HashMap;
use std::sync::Arc;

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::judges::JudgeItem;
use crate::judges::JudgeService;

impl<'a> TargetCase<'a> {
    /// The language model that judges.
    ///
    /// # Errors
    /// [`EstimateError::Needs`] when there is none.
    pub(super) fn judge(&self, method: &'static str) -> Result<&'a JudgeService<'a>, EstimateError> {
        self.evidence.judge.as_ref().ok_or(EstimateError::Needs {
            method,
            needs: "a language model that judges".to_owned(),
            remedy: "name its server with --judge-url and the model with --judge-model",
        })
    }

    /// The target's predictions as a judge gets them, in the order of the target's questions. Ids are made unique: two
    /// files may use the same ones.
    pub(super) fn judge_items(&self) -> Vec<JudgeItem> {
        let pool = self.pool();
        let schemas: Vec<Arc<str>> = pool
            .databases
            .iter()
            .map(|database| Arc::from(sqlgauge_sql::schema_text(&database.schema)))
            .collect();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let items = self.evidence.questions.iter().map(|&question| {
            let pool_question = &pool[question];
            let db_id = pool.databases[pool_question.database].db_id.clone();
            let id = format!("{db_id}/{}", pool_question.id);
            let repeated = seen.entry(id.clone()).or_default();
            *repeated += 1;
            let id = if *repeated > 1 { format!("{id}#{repeated}") } else { id };
            JudgeItem {
                id,
                db_id,
                question: pool_question.text.clone(),
                evidence: pool_question.evidence.clone(),
                schema_ddl: Arc::clone(&schemas[pool_question.database]),
                sql: pool.get(self.target, question).map(|answer| answer.sql.clone()).unwrap_or_default(),
            }
        });
        items.collect()
    }
}
