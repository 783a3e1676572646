//! From two texts to a sentence.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sqlgauge_base::{budget, on_deep_stack};
use sqlgauge_etm::{Matcher, Profile, Reference};
use sqlgauge_sql::canonical::CanonicalText;
use sqlgauge_sql::reads::tables;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, print};

use crate::cause::{Cause, Slip, Unclear};
use crate::causes::{letter_case, output_order, subquery};
use crate::compare::queries;
use crate::empty::differ;
use crate::pair::{Matched, Scene};
use crate::sentence::sentence;
use crate::unfold::joined_forms;

/// Texts of one schema of which a form is kept.
const MAX_TEXTS: usize = 10_000;

/// Most characters of a sentence, without what shows it.
const MAX_CHARS: usize = 600;

/// Longest word of a sentence in characters: a constant that is longer says nothing to a reader.
const MAX_WORD: usize = 80;

/// What makes an answer wrong.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The slips that are said, in the order of the causes; where there are several, the order of the columns comes last.
    pub slips: Vec<Slip>,
    /// All of them in words, without the last full stop.
    words: String,
}

impl Difference {
    /// The cause that it counts under: that of the first slip.
    pub fn cause(&self) -> Option<&'static Cause> {
        self.slips.first().map(|slip| slip.cause)
    }

    pub fn sentence(&self) -> String {
        format!("{}.", self.words)
    }

    /// The sentence with what shows it: `On empty tables the prediction returns 1 row, the gold none`.
    pub(crate) fn sentence_with(&self, witness: &str) -> String {
        format!("{}. {witness}.", self.words)
    }
}

/// What is said of a wrong answer, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DifferenceRecord {
    /// What makes the answer wrong, in a sentence or two; absent where that is unclear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The causes that the sentence names, that which it counts under first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Why there is no sentence: `too-many`, `other-shape`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
}

impl DifferenceRecord {
    /// What is said, with what shows it where that is known.
    pub fn of(result: &Result<Difference, Unclear>, witness: Option<&str>) -> Self {
        match result {
            Ok(difference) => {
                let mut causes: Vec<String> = Vec::new();
                for slip in &difference.slips {
                    if !causes.iter().any(|id| id == slip.cause.id) {
                        causes.push(slip.cause.id.to_owned());
                    }
                }
                let sentence = witness
                    .map_or_else(|| difference.sentence(), |witness| difference.sentence_with(witness));
                Self { sentence: Some(sentence), causes, unclear: None }
            }
            Err(unclear) => Self { unclear: Some(unclear.id().to_owned()), ..Self::default() },
        }
    }
}

/// Tells whether a slip matters.
pub trait Judge {
    /// Whether two queries return the same; `None` where nobody knows.
    fn same(&self, query: &str, other: &str) -> Option<bool>;

    /// Whether an answer with its texts in the gold's letter case is right, on the rows at hand if there are any; `None` where nobody
    /// knows.
    fn is_right(&self, gold: &str, answer: &str) -> Option<bool> {
        self.same(gold, answer)
    }
}

/// The judge who knows what the rules prove, and nothing else.
pub struct Proofs<'s> {
    schema: &'s Schema,
    matcher: OnceCell<Matcher<'s>>,
    /// The normal forms of queries that others were compared with.
    references: Arc<Memo<Reference>>,
}

impl<'s> Proofs<'s> {
    /// The rules that are proved sound, over a schema.
    pub fn over(schema: &'s Schema) -> Self {
        Self { schema, matcher: OnceCell::new(), references: Arc::default() }
    }
}

impl Judge for Proofs<'_> {
    fn same(&self, query: &str, other: &str) -> Option<bool> {
        let matcher = self.matcher.get_or_init(|| Matcher::new(self.schema, Profile::Sound));
        let reference = self.references.of(query, || matcher.reference(query));
        matcher.is_right_by(&reference, other).then_some(true)
    }
}

/// What was worked out of texts.
#[derive(Debug)]
struct Memo<T>(Mutex<HashMap<String, Arc<T>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Memo<T> {
    fn of(&self, text: &str, work_out: impl FnOnce() -> T) -> Arc<T> {
        let entries = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries().get(text) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(work_out());
        let mut entries = entries();
        if entries.len() < MAX_TEXTS {
            entries.insert(text.to_owned(), Arc::clone(&entry));
        }
        entry
    }
}

/// Says what makes answers wrong, over one schema. A gold is resolved once.
#[derive(Debug)]
pub struct Explainer {
    schema: Arc<Schema>,
    golds: Memo<Result<CanonicalText, Unclear>>,
    references: Arc<Memo<Reference>>,
}

impl Explainer {
    pub fn of(schema: impl Into<Arc<Schema>>) -> Self {
        Self { schema: schema.into(), golds: Memo::default(), references: Arc::default() }
    }

    /// What the rules prove over its schema. The normal form of a query that others are compared with is worked out once.
    pub fn proofs(&self) -> Proofs<'_> {
        Proofs { references: Arc::clone(&self.references), ..Proofs::over(&self.schema) }
    }

    /// What makes a wrong answer wrong.
    ///
    /// # Errors
    /// Why there is no sentence.
    pub fn explain(&self, gold: &str, prediction: &str, judge: &dyn Judge) -> Result<Difference, Unclear> {
        let bytes = gold.len() + prediction.len();
        let explain = || self.explain_unbounded(gold, prediction, judge);
        let deep = || on_deep_stack(explain);
        budget::analyse(bytes, deep).map_err(|_| Unclear::TooComplex)?
    }

    fn text(&self, text: &str) -> Result<CanonicalText, Unclear> {
        CanonicalText::of(text, &self.schema).map_err(|_| Unclear::Unresolved)
    }

    fn gold(&self, gold: &str) -> Arc<Result<CanonicalText, Unclear>> {
        self.golds.of(gold, || self.text(gold))
    }

    fn explain_unbounded(
        &self,
        gold: &str,
        prediction: &str,
        judge: &dyn Judge,
    ) -> Result<Difference, Unclear> {
        let gold_text = self.gold(gold);
        let gold_text = gold_text.as_ref().as_ref().map_err(|unclear| *unclear)?;
        let text = self.text(prediction)?;
        let scene = Scene { schema: &self.schema, gold: gold_text, prediction: &text };
        let (slips, forms) = match self.letter_case(gold, [&gold_text.query, &text.query], judge) {
            Some(slip) => (vec![slip], None),
            None => slips_of(&scene)?,
        };
        let both = match forms {
            None => [(gold.to_owned(), gold_text.query.clone()), (prediction.to_owned(), text.query.clone())],
            Some([gold, prediction]) => {
                [(self.printed(&gold)?, gold), (self.printed(&prediction)?, prediction)]
            }
        };
        let slips = if slips.len() > 1 { self.that_matter(slips, &both, judge)? } else { slips };
        if slips.is_empty() {
            return Err(Unclear::NoDifference);
        }
        let words = sentence(&slips);
        let is_word = |word: &str| word.chars().nth(MAX_WORD).is_none();
        let is_short = words.chars().nth(MAX_CHARS).is_none() && words.split_whitespace().all(is_word);
        if is_short { Ok(Difference { slips, words }) } else { Err(Unclear::TooLong) }
    }

    /// The answer with its texts in the letter case of the gold's; `None` where they are in it already.
    pub fn in_letter_case_of(&self, gold: &str, prediction: &str) -> Option<String> {
        if !letter_case::may_differ(gold, prediction) {
            return None;
        }
        let repair = || {
            let gold = self.gold(gold);
            let slip = letter_case::of_texts(
                &gold.as_ref().as_ref().ok()?.query,
                &self.text(prediction).ok()?.query,
            )?;
            self.printed(&slip.repaired).ok()
        };
        let deep = || on_deep_stack(repair);
        budget::analyse(gold.len() + prediction.len(), deep).ok()?
    }

    /// The letter case of texts, where the answer is right without that slip.
    fn letter_case(&self, gold: &str, [gold_query, other]: [&Query; 2], judge: &dyn Judge) -> Option<Slip> {
        let slip = letter_case::of_texts(gold_query, other)?;
        let repaired = self.printed(&slip.repaired).ok()?;
        (judge.is_right(gold, &repaired) == Some(true)).then_some(slip)
    }

    fn printed(&self, query: &Query) -> Result<String, Unclear> {
        print(query, &self.schema, PrintDialect::Sqlite).map_err(|_| Unclear::OtherShape)
    }

    /// Those that may make the difference: one alone without which the answer is right, else those that change the gold or
    /// the answer.
    fn that_matter(
        &self,
        slips: Vec<Slip>,
        [(gold, gold_query), (prediction, prediction_query)]: &[(String, Query); 2],
        judge: &dyn Judge,
    ) -> Result<Vec<Slip>, Unclear> {
        let mut outcomes: HashMap<String, bool> = HashMap::new();
        let mut is_gold = |query: &Query| -> Result<bool, Unclear> {
            if differ(gold_query, query) {
                return Ok(false);
            }
            let text = self.printed(query)?;
            let same = || judge.same(gold, &text) == Some(true);
            let is_gold = outcomes.get(&text).copied().unwrap_or_else(same);
            outcomes.insert(text, is_gold);
            Ok(is_gold)
        };
        for slip in &slips {
            if is_gold(&slip.repaired)? {
                return Ok(vec![slip.clone()]);
            }
        }
        let mut left = Vec::new();
        for slip in slips {
            let is_idle = !differ(prediction_query, &slip.repaired)
                && is_gold(&slip.planted)?
                && judge.same(prediction, &self.printed(&slip.repaired)?) == Some(true);
            if !is_idle {
                left.push(slip);
            }
        }
        // Reordering alone repairs none of these answers: what changes their rows is said first.
        left.sort_by_key(|slip| slip.cause.id == output_order::CAUSE.id);
        if left.is_empty() { Err(Unclear::OnlyTogether) } else { Ok(left) }
    }
}

/// The slips of a pair, with the forms in which the queries were compared where one reads in subqueries what the other joins.
fn slips_of(scene: &Scene<'_>) -> Result<(Vec<Slip>, Option<[Query; 2]>), Unclear> {
    let [gold, prediction] = [scene.gold, scene.prediction].map(|text| &text.query);
    let slips = queries(scene, gold, prediction, &Matched::default());
    let of_tables = |slip: &Slip| ["missing-table", "extra-table", "other-tables"].contains(&slip.cause.id);
    let are_of_tables =
        |slips: &Result<Vec<Slip>, Unclear>| slips.as_ref().map_or(true, |slips| slips.iter().any(of_tables));
    if are_of_tables(&slips)
        && let Some(forms) = joined_forms(gold, prediction)
    {
        let joined = queries(scene, &forms[0], &forms[1], &Matched::default());
        if !are_of_tables(&joined) {
            return Ok((joined?, Some(forms)));
        }
    }
    // Where the other reads the table as often, only not in a join.
    let counts = |query: &Query| {
        let mut counts = BTreeMap::<_, usize>::new();
        tables(query).into_iter().for_each(|(_, table)| *counts.entry(table).or_default() += 1);
        counts
    };
    let reads_all = |query: &Query, of: &Query| {
        let read = counts(query);
        counts(of).iter().all(|(table, count)| read.get(table).is_some_and(|times| times >= count))
    };
    let is_elsewhere = |slip: &Slip| match slip.cause.id {
        "missing-table" => reads_all(prediction, gold),
        "extra-table" => reads_all(gold, prediction),
        _ => false,
    };
    let mut slips = slips?;
    slips.iter_mut().filter(|slip| is_elsewhere(slip)).for_each(|slip| slip.cause = &subquery::CAUSE);
    Ok((slips, None))
}
