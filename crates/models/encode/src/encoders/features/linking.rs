//! Links the question's words to the schema's names.

use std::collections::HashSet;

use super::question::Text;
use super::row::Row;
use super::schema::{Name, Prepared};
use super::words::{Word, is_stop_word};

/// Which names the question, and the question with its evidence, mention.
pub(super) struct Links {
    /// Stems of the question and the evidence.
    stems: HashSet<String>,
    /// For each column, whether question and evidence have all words of its name.
    pub(super) columns: Vec<bool>,
    /// For each table likewise.
    pub(super) tables: Vec<bool>,
}

impl Links {
    /// Links an item and puts its components.
    pub(super) fn new(row: &mut Row, prepared: &Prepared, question: &Text, evidence: Option<&Text>) -> Self {
        let mut stems = stems(&question.words);
        put_words(row, prepared, question);
        put_mentions(row, prepared, &stems);
        put_ambiguity(row, prepared, question, &stems);
        stems.extend(evidence.iter().flat_map(|text| &text.words).map(|word| word.stem.clone()));
        let links = Self {
            columns: prepared.columns.iter().map(|name| is_mentioned(name, &stems)).collect(),
            tables: prepared.tables.iter().map(|name| is_mentioned(name, &stems)).collect(),
            stems,
        };
        let mentioned = links.columns.iter().filter(|&&mentioned| mentioned).count();
        row.count(
            "link.evidence.columns_mentioned",
            "columns all of whose name's words the question or the evidence has",
            mentioned,
        );
        put_verbatim(row, prepared, question, evidence);
        links
    }

    /// The share of a name's words that question and evidence have.
    pub(super) fn share(&self, name: &Name) -> f64 {
        let count = name.words.iter().filter(|word| self.stems.contains(&word.stem)).count();
        count as f64 / name.words.len().max(1) as f64
    }
}

fn stems(words: &[Word]) -> HashSet<String> {
    words.iter().map(|word| word.stem.clone()).collect()
}

fn is_mentioned(name: &Name, stems: &HashSet<String>) -> bool {
    !name.words.is_empty() && name.words.iter().all(|word| stems.contains(&word.stem))
}

/// The words that ask for something, each once.
fn content(text: &Text) -> Vec<&Word> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    for word in &text.words {
        if !is_stop_word(&word.text) && !word.is_number() && seen.insert(&word.stem) {
            words.push(word);
        }
    }
    words
}

fn put_words(row: &mut Row, prepared: &Prepared, question: &Text) {
    let words = content(question);
    let count = |test: &dyn Fn(&Word) -> bool| words.iter().filter(|word| test(word)).count();
    let in_table = |word: &Word| prepared.tables_by_stem.contains_key(&word.stem);
    let in_column = |word: &Word| prepared.columns_by_stem.contains_key(&word.stem);
    row.count(
        "link.words",
        "distinct words of the question that are no stop words and no numbers",
        words.len(),
    );
    let exact = count(&|word| prepared.table_words.contains(&word.text));
    row.share("link.table_words_exact", "share of them that are a word of a table name", exact, words.len());
    row.share(
        "link.table_words",
        "share of them with the stem of a word of a table name",
        count(&in_table),
        words.len(),
    );
    let exact = count(&|word| prepared.column_words.contains(&word.text));
    row.share(
        "link.column_words_exact",
        "share of them that are a word of a column name",
        exact,
        words.len(),
    );
    row.share(
        "link.column_words",
        "share of them with the stem of a word of a column name",
        count(&in_column),
        words.len(),
    );
    let unmatched = count(&|word| !in_table(word) && !in_column(word));
    row.share(
        "link.unmatched_words",
        "share of them that no name has, not even by stem",
        unmatched,
        words.len(),
    );
    row.count("link.unmatched_count", "number of them that no name has", unmatched);
}

fn put_mentions(row: &mut Row, prepared: &Prepared, stems: &HashSet<String>) {
    let count = |names: &[Name]| names.iter().filter(|name| is_mentioned(name, stems)).count();
    let (tables, columns) = (count(&prepared.tables), count(&prepared.columns));
    row.count("link.tables_mentioned", "tables all of whose name's words the question has", tables);
    row.share(
        "link.tables_mentioned_share",
        "share of the tables that are mentioned so",
        tables,
        prepared.tables.len(),
    );
    row.count("link.columns_mentioned", "columns all of whose name's words the question has", columns);
    row.share(
        "link.columns_mentioned_share",
        "share of the columns that are mentioned so",
        columns,
        prepared.columns.len(),
    );
}

fn put_ambiguity(row: &mut Row, prepared: &Prepared, question: &Text, stems: &HashSet<String>) {
    let matches: Vec<&Vec<usize>> =
        content(question).iter().filter_map(|word| prepared.columns_by_stem.get(&word.stem)).collect();
    row.mean(
        "link.columns_per_word",
        "columns that a matched word may mean, on average",
        matches.iter().map(|columns| columns.len()),
    );
    let most = matches.iter().map(|columns| columns.len()).max().unwrap_or(0);
    row.count("link.columns_per_word_max", "columns that the most ambiguous word may mean", most);
    let tables = matches
        .iter()
        .map(|columns| columns.iter().map(|&column| prepared.table_of[column]).collect::<HashSet<_>>().len());
    row.mean("link.tables_per_word", "tables whose columns a matched word may mean, on average", tables);
    let twins = prepared.columns.iter().filter(|column| is_mentioned(column, stems));
    let twins = twins.map(|column| prepared.same_name[&column.lower]).max().unwrap_or(0);
    row.count("link.same_name_max", "columns that have the same name as a mentioned column", twins);
}

fn put_verbatim(row: &mut Row, prepared: &Prepared, question: &Text, evidence: Option<&Text>) {
    let in_question = prepared.columns.iter().filter(|name| has_word(&question.lower, &name.phrase)).count();
    row.count(
        "link.columns_verbatim",
        "columns whose whole name stands in the question, underscores read as spaces",
        in_question,
    );
    let evidence = evidence.map_or("", |text| text.lower.as_str());
    let in_evidence = prepared.columns.iter().filter(|name| has_word(evidence, &name.lower)).count();
    row.count(
        "link.evidence.columns_verbatim",
        "columns whose whole name stands in the evidence",
        in_evidence,
    );
}

/// Whether the part stands in the text with no letter or digit right before or after it; parts of fewer than three
/// bytes say too little.
pub(super) fn has_word(text: &str, part: &str) -> bool {
    let is_edge = |character: Option<char>| character.is_none_or(|c| !c.is_alphanumeric());
    part.len() > 2
        && text.match_indices(part).any(|(at, _)| {
            is_edge(text[..at].chars().next_back()) && is_edge(text[at + part.len()..].chars().next())
        })
}
