//! The question and its evidence by themselves.

use super::row::Row;
use super::words::{Word, words};

/// A question or an evidence, taken apart.
pub(super) struct Text {
    pub(super) words: Vec<Word>,
    /// The words in lower case with one space around each.
    line: String,
    /// Lower case, white space made single.
    pub(super) lower: String,
    /// What stands in quotes, lower case.
    pub(super) quoted: Vec<String>,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let words = words(text);
        let mut line = String::with_capacity(text.len() + 2);
        line.push(' ');
        for word in &words {
            line.push_str(&word.text);
            line.push(' ');
        }
        let lower = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Self { words, line, quoted: quoted(&lower), lower }
    }

    /// How many of the phrases occur; each as often as it does.
    pub(super) fn phrases(&self, phrases: &[&str]) -> usize {
        phrases
            .iter()
            .map(|phrase| {
                let bytes = self.line.as_bytes();
                let is_whole = |(at, _): &(usize, &str)| {
                    bytes[at - 1] == b' ' && bytes.get(at + phrase.len()) == Some(&b' ')
                };
                self.line.match_indices(phrase).filter(is_whole).count()
            })
            .sum()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|word| word.is_number()).map(|word| word.text.as_str())
    }
}

/// The parts in single, double or typographic quotes. A single quote opens only after something that is no letter or
/// digit and closes only before such.
fn quoted(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut parts = Vec::new();
    // Closing quotes that do not come any more, so that nobody looks for them again.
    let mut never_closed: Vec<char> = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let close = match characters[at] {
            '"' => '"',
            '\u{201c}' => '\u{201d}',
            '\u{2018}' => '\u{2019}',
            '\'' if at == 0 || !characters[at - 1].is_alphanumeric() => '\'',
            _ => {
                at += 1;
                continue;
            }
        };
        let ends = |end: &usize| {
            characters[*end] == close
                && (close != '\'' || characters.get(end + 1).is_none_or(|next| !next.is_alphanumeric()))
        };
        let end = if never_closed.contains(&close) { None } else { (at + 1..characters.len()).find(ends) };
        if let Some(end) = end {
            parts.push(characters[at + 1..end].iter().collect());
            at = end + 1;
        } else {
            never_closed.push(close);
            at += 1;
        }
    }
    parts.retain(|text: &String| !text.trim().is_empty());
    parts
}

/// What the question's words say that the query should do.
pub(super) struct Cues {
    pub(super) comparison: usize,
    pub(super) superlative: usize,
    pub(super) negation: usize,
    pub(super) count: usize,
    pub(super) sum: usize,
    pub(super) average: usize,
    pub(super) ratio: usize,
    pub(super) grouping: usize,
    pub(super) ordering: usize,
    pub(super) distinct: usize,
    pub(super) alternative: usize,
}

const COMPARISON: &[&str] = &[
    "more than",
    "less than",
    "fewer than",
    "greater than",
    "larger than",
    "smaller than",
    "higher than",
    "lower than",
    "longer than",
    "shorter than",
    "older than",
    "younger than",
    "at least",
    "at most",
    "over",
    "under",
    "above",
    "below",
    "exceeding",
    "exceeds",
    "exceed",
    "or more",
    "or less",
    "or above",
    "or below",
    "no less",
    "no more",
    "between",
    "before",
    "after",
    "later than",
    "earlier than",
    "up to",
    "bigger than",
    "better than",
    "worse than",
];
const SUPERLATIVE: &[&str] =
    &["most", "least", "best", "worst", "top", "maximum", "minimum", "first", "last"];
const NEGATION: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "none",
    "neither",
    "nor",
    "except",
    "excluding",
    "other than",
    "cannot",
    "exclude",
    "excluded",
    "nobody",
];
const COUNT: &[&str] = &["how many", "number of", "count", "counts", "the number", "count of", "amount of"];
const SUM: &[&str] = &["total", "sum", "altogether", "in all", "overall", "combined"];
const AVERAGE: &[&str] = &["average", "averages", "mean", "on average", "averaged"];
const RATIO: &[&str] =
    &["percentage", "percent", "ratio", "rate", "proportion", "share", "fraction", "times as", "per cent"];
const GROUPING: &[&str] = &["each", "every", "per", "for all", "by each", "respectively", "for different"];
const ORDERING: &[&str] = &[
    "order",
    "ordered",
    "order by",
    "sort",
    "sorted",
    "sorted by",
    "ascending",
    "descending",
    "alphabetical",
    "alphabetic",
    "alphabetically",
    "rank",
    "ranked",
    "lexicographical",
];
const DISTINCT: &[&str] = &["distinct", "different", "unique", "distinctive", "duplicates"];
const ALTERNATIVE: &[&str] = &["or", "either"];

impl Cues {
    pub(super) fn of(text: &Text) -> Self {
        let contracted = text.words.iter().filter(|word| word.text.ends_with("n't")).count();
        let longest = text.words.iter().filter(|word| is_superlative(&word.text)).count();
        Self {
            comparison: text.phrases(COMPARISON),
            superlative: longest + text.phrases(SUPERLATIVE),
            negation: contracted + text.phrases(NEGATION),
            count: text.phrases(COUNT),
            sum: text.phrases(SUM),
            average: text.phrases(AVERAGE),
            ratio: text.phrases(RATIO),
            grouping: text.phrases(GROUPING),
            ordering: text.phrases(ORDERING),
            distinct: text.phrases(DISTINCT),
            alternative: text.phrases(ALTERNATIVE),
        }
    }
}

/// Words in `-est` that compare nothing.
const NO_SUPERLATIVES: &[&str] = &[
    "arrest",
    "budapest",
    "bucharest",
    "chest",
    "conquest",
    "contest",
    "crest",
    "digest",
    "forest",
    "guest",
    "harvest",
    "honest",
    "inquest",
    "interest",
    "invest",
    "manifest",
    "midwest",
    "modest",
    "northwest",
    "protest",
    "quest",
    "request",
    "southwest",
    "suggest",
];

fn is_superlative(word: &str) -> bool {
    word.len() > 5 && word.ends_with("est") && !NO_SUPERLATIVES.contains(&word)
}

/// Puts the components of the question and the evidence.
pub(super) fn put(row: &mut Row, question: &str, text: &Text, cues: &Cues, evidence: Option<&Text>) {
    put_size(row, question, text);
    put_form(row, text);
    put_cues(row, text, cues);
    let none = Text::new("");
    let evidence = evidence.unwrap_or(&none);
    row.flag("evidence.present", "the item has evidence", !evidence.words.is_empty());
    row.count("evidence.words", "words of the evidence", evidence.words.len());
    row.count("evidence.numbers", "numbers in the evidence", evidence.numbers().count());
    row.count("evidence.quoted", "parts of the evidence in quotes", evidence.quoted.len());
    let formulas = evidence.lower.matches(['=', '<', '>', '/']).count();
    row.count("evidence.formulas", "signs = < > / in the evidence", formulas);
    let functions =
        evidence.phrases(&["max", "min", "avg", "sum", "count", "divide", "multiply", "subtract"]);
    row.count("evidence.functions", "names of SQL functions and of arithmetic in the evidence", functions);
}

fn put_size(row: &mut Row, question: &str, text: &Text) {
    let capitals =
        question.split_whitespace().skip(1).filter(|word| word.starts_with(char::is_uppercase)).count();
    let year = |number: &&str| number.len() == 4 && (1500..2100).contains(&number.parse().unwrap_or(0));
    row.count("question.characters", "characters of the question", question.chars().count());
    row.count("question.words", "words of the question", text.words.len());
    row.mean(
        "question.word_length",
        "characters per word",
        text.words.iter().map(|word| word.text.chars().count()),
    );
    let ends = question.trim_end().trim_end_matches(['.', '?', '!']).matches(['.', '?', '!', ';']).count();
    row.count("question.sentences", "ends of sentences before the last", ends);
    row.count("question.commas", "commas", question.matches(',').count());
    row.count("question.brackets", "opening brackets", question.matches('(').count());
    row.count("question.numbers", "numbers", text.numbers().count());
    row.count("question.years", "numbers from 1500 to 2099", text.numbers().filter(year).count());
    row.count("question.quoted", "parts in quotes", text.quoted.len());
    row.count("question.capitals", "words with a capital letter, the first word excepted", capitals);
    row.count(
        "question.underscores",
        "underscores: names of columns in the question",
        question.matches('_').count(),
    );
}

fn put_form(row: &mut Row, text: &Text) {
    let first = text.words.first().map_or("", |word| word.text.as_str());
    for (name, description, phrases) in [
        ("question.asks.what", "\"what\"", &["what", "what's"][..]),
        ("question.asks.which", "\"which\"", &["which"]),
        ("question.asks.who", "\"who\", \"whose\", \"whom\"", &["who", "whose", "whom"]),
        ("question.asks.when", "\"when\", \"what year\", \"what date\"", &["when", "what year", "what date"]),
        ("question.asks.where", "\"where\"", &["where"]),
        ("question.asks.how_many", "\"how many\", \"how much\"", &["how many", "how much"]),
        ("question.asks.how", "\"how\"", &["how"]),
    ] {
        row.count(name, description, text.phrases(phrases));
    }
    let orders = [
        "list", "show", "find", "give", "return", "tell", "name", "provide", "state", "display", "select",
        "report",
    ];
    let computes = ["calculate", "compute", "count", "determine", "estimate"];
    let verbs = ["is", "are", "was", "were", "do", "does", "did", "has", "have", "can", "among"];
    row.flag(
        "question.begins.order",
        "begins with a request for a list: list, show, find, …",
        orders.contains(&first),
    );
    row.flag(
        "question.begins.compute",
        "begins with calculate, compute, count, …",
        computes.contains(&first),
    );
    row.flag(
        "question.begins.verb",
        "begins with is, are, do, …: may be answered by yes or no",
        verbs.contains(&first),
    );
}

fn put_cues(row: &mut Row, text: &Text, cues: &Cues) {
    row.count(
        "question.cue.comparison",
        "words of comparison: more than, at least, over, before, …",
        cues.comparison,
    );
    row.count(
        "question.cue.superlative",
        "superlatives: most, top, first, words in -est, …",
        cues.superlative,
    );
    row.count("question.cue.negation", "negations: not, without, except, words in n't, …", cues.negation);
    row.count("question.cue.count", "how many, number of, count, …", cues.count);
    row.count("question.cue.sum", "total, sum, overall, …", cues.sum);
    row.count("question.cue.average", "average, mean", cues.average);
    row.count("question.cue.ratio", "percentage, ratio, rate, share, …", cues.ratio);
    row.count("question.cue.grouping", "each, every, per, …", cues.grouping);
    row.count("question.cue.ordering", "order, sort, ascending, rank, …", cues.ordering);
    row.count("question.cue.distinct", "distinct, different, unique", cues.distinct);
    row.count("question.cue.alternative", "or, either", cues.alternative);
    for (name, description, phrases) in [
        ("question.cue.conjunction", "and, both, as well as", &["and", "both", "as well as"][..]),
        (
            "question.cue.date",
            "year, month, day, date, since, during, …",
            &[
                "year", "years", "month", "months", "day", "days", "date", "dates", "since", "during", "age",
                "birthday",
            ],
        ),
        (
            "question.cue.condition",
            "if, whose, that, with, among, …",
            &["if", "whose", "that", "with", "among", "who"],
        ),
        (
            "question.cue.difference",
            "difference, compare, than the",
            &["difference", "compare", "compared", "gap"],
        ),
        (
            "question.cue.extreme_group",
            "the most, the least: extremes over groups",
            &["the most", "the least", "the fewest"],
        ),
        (
            "question.cue.order_number",
            "second, third, 2nd, …",
            &["second", "third", "fourth", "fifth", "2nd", "3rd", "4th", "5th"],
        ),
        (
            "question.cue.format",
            "full name, format, decimal, abbreviated, …",
            &["full name", "format", "decimal", "decimals", "rounded", "round", "abbreviated"],
        ),
        (
            "question.cue.pronoun",
            "their, its, his, her, them",
            &["their", "its", "his", "her", "them", "theirs"],
        ),
    ] {
        row.count(name, description, text.phrases(phrases));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_told_from_apostrophes() {
        for (text, expected) in [
            ("the singer's 'new york' and \"l'a\"", vec!["new york", "l'a"]),
            ("customers' names 'x'", vec!["x"]),
            ("\u{201c}a b\u{201d} 'open", vec!["a b"]),
            ("''", vec![]),
        ] {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }

    #[test]
    fn cues_are_whole_words() {
        let cues = Cues::of(&Text::new(
            "How many of the youngest interest groups don't have more than 3 or no members in each country?",
        ));
        assert_eq!((cues.count, cues.superlative, cues.negation, cues.comparison), (1, 1, 2, 1));
        assert_eq!((cues.alternative, cues.grouping, cues.average, cues.sum), (1, 1, 0, 0));
    }
}
