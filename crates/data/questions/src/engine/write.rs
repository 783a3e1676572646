//! From phrases to text.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use sqlgauge_base::{Random, capital};

use super::token::{in_quotes, literal, plainly};
use super::tree::{Slot, Tree};
use crate::grammar::{Child, Grammar, Piece, Production, Rule, WordId};
use crate::names::{NameId, Vocabulary};
use crate::question::MarkKind;
use crate::style::{QuestionStyle, Styles};

/// Of 100 choices, how many fall on a wording that the style has for itself, where there is one.
const OWN_WORDING: u8 = 70;

/// Of 100 questions, in how many values that are understood without quotes or digits are written so.
const PLAIN_VALUE: u8 = 50;

/// The styles in which columns are now and then called by another name than the schema's, and in how many of 100 cases.
const OTHERWISE: Styles = Styles::COLLOQUIAL
    .and(Styles::CONVERSATIONAL)
    .and(Styles::DESCRIPTIVE)
    .and(Styles::METAPHORICAL)
    .and(Styles::VAGUE);
const OTHER_NAME: u8 = 3;

/// After these words an article would be wrong.
const WITHOUT_ARTICLE: &[&str] = &[
    "the",
    "whose",
    "each",
    "every",
    "per",
    "their",
    "average",
    "mean",
    "total",
    "maximum",
    "largest",
    "biggest",
    "minimum",
    "smallest",
    "highest",
    "lowest",
    "latest",
    "earliest",
    "recent",
    "first",
    "last",
    "its",
    "these",
    "rounded",
    "trimmed",
    "different",
    "distinct",
    "unique",
    "outer",
    "known",
];

/// Lists of which the first item's article stands for all: "the name and age".
const ENUMERATIONS: &[Rule] = &[
    Rule::Outputs,
    Rule::ForEach,
    Rule::ForTop,
    Rule::EachOfIts,
    Rule::EachFor,
    Rule::KeysAmount,
    Rule::KeysDegree,
    Rule::KeysDegreeFew,
    Rule::KeysTop,
    Rule::KeysTopFor,
    Rule::KeysAmountFor,
    Rule::EachOfTheir,
    Rule::EachPercent,
];

/// Whose article a phrase has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Article {
    #[default]
    Own,
    /// That of the list in which it stands, which is said once.
    Shared,
}

/// What is written: the turns, and where in them stands what says nothing of the query.
#[derive(Debug, Default)]
pub(crate) struct WrittenQuestion {
    /// One text, or one for each turn of a dialogue.
    pub turns: Vec<String>,
    /// Of each marked stretch what it is, the turn and the bytes.
    pub marks: Vec<(MarkKind, usize, Range<usize>)>,
}

/// A text being written.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of its own: two of the style, two of the sentence"
)]
pub(crate) struct Writer<'a> {
    grammar: &'a Grammar,
    vocabulary: &'a Vocabulary,
    style: QuestionStyle,
    random: &'a mut Random,
    /// Whether values may stand without quotes, and columns have other names.
    plain_values: bool,
    written: WrittenQuestion,
    /// The turn at hand.
    text: String,
    last: String,
    /// Whether a sentence begins here, and whether it is a question.
    begins: bool,
    asks: bool,
    /// Whose article what is written next has.
    article: Article,
    /// The wording of each rule that was said, by its number of parts: a thing is said in the same words throughout.
    chosen: HashMap<(Rule, usize), &'a Production>,
    /// The same of other names.
    called: HashMap<NameId, Option<usize>>,
    /// Whether bounds of a range are written: "between three and 15" mixes words and digits.
    in_range: bool,
    /// Whether values of this question are written without quotes or digits, where they are understood.
    writes_plainly: bool,
    /// Whether the name before is a plural.
    is_many: bool,
    /// Whether the table that was named last holds people.
    is_person: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        grammar: &'a Grammar,
        vocabulary: &'a Vocabulary,
        style: QuestionStyle,
        plain_values: bool,
        random: &'a mut Random,
    ) -> Self {
        let (written, text, last) = (WrittenQuestion::default(), String::new(), String::new());
        let writes_plainly = plain_values && random.chance(PLAIN_VALUE);
        Self {
            grammar,
            vocabulary,
            style,
            random,
            plain_values,
            written,
            text,
            last,
            begins: true,
            asks: false,
            article: Article::Own,
            chosen: HashMap::new(),
            called: HashMap::new(),
            in_range: false,
            writes_plainly,
            is_many: false,
            is_person: false,
        }
    }

    /// The text of a phrase; `None` where a constant in it has no words.
    pub(crate) fn write(mut self, tree: &Tree) -> Option<WrittenQuestion> {
        self.tree(tree)?;
        self.end_turn();
        Some(self.written)
    }

    fn tree(&mut self, tree: &Tree) -> Option<()> {
        match tree {
            Tree::Node(rule, slots) => {
                let around = self.in_range;
                self.in_range |= matches!(rule, Rule::Between | Rule::NotBetween | Rule::HaveBetween);
                let production = if tree.shows_number() {
                    self.grammar.wordings(*rule).find(|wording| !wording.styles.is_special())?
                } else {
                    self.choose(*rule, slots.len())?
                };
                let start = self.text.len();
                self.production(production, slots)?;
                self.in_range = around;
                match rule {
                    Rule::Aside => self.mark(MarkKind::Distractor, start),
                    Rule::Modifier => self.mark(MarkKind::Modifier, start),
                    _ => {}
                }
                Some(())
            }
            Tree::Name(name, many) => {
                let start = self.text.len();
                let other = self.other_name(*name, *many);
                let text = other.unwrap_or_else(|| self.vocabulary.text(*name, *many));
                self.push(text);
                self.is_many = !many && is_plural(text);
                if other.is_some() {
                    self.mark(MarkKind::OtherName, start);
                }
                Some(())
            }
            Tree::Noun(noun, many) => {
                let text = self.vocabulary.noun_text(*noun, *many);
                self.push(text);
                self.is_person = is_person(text);
                Some(())
            }
            Tree::Value(value) => {
                let start = self.text.len();
                let is_bound = self.in_range && matches!(value, sqlgauge_sql::tree::Literal::Integer(_));
                let plain = plainly(value).filter(|_| self.writes_plainly && !is_bound);
                let is_plain = plain.is_some();
                let text = plain.or_else(|| literal(value))?;
                self.push(&text);
                if is_plain {
                    self.mark(MarkKind::ImplicitValue, start);
                }
                Some(())
            }
            Tree::Verb(verb) => {
                self.push(verb.words);
                Some(())
            }
            Tree::Quoted(text) => {
                let text = in_quotes(text, '"');
                self.push(&text);
                Some(())
            }
        }
    }

    /// Marks what is written from a place on, blanks before it left out.
    fn mark(&mut self, kind: MarkKind, start: usize) {
        let blank = usize::from(self.text[start..].starts_with(' '));
        self.written.marks.push((kind, self.written.turns.len(), start + blank..self.text.len()));
    }

    /// What a column is called in this question, if not by its own name.
    fn other_name(&mut self, name: NameId, many: bool) -> Option<&'a str> {
        let vocabulary = self.vocabulary;
        let others = vocabulary.other_texts(name, many);
        let place = if let Some(&place) = self.called.get(&name) {
            place
        } else {
            let calls_otherwise =
                self.plain_values && OTHERWISE.has(self.style) && self.random.chance(OTHER_NAME);
            let place = (calls_otherwise && !others.is_empty()).then(|| self.random.below(others.len()));
            self.called.insert(name, place);
            place
        };
        others.get(place?).copied()
    }

    fn choose(&mut self, rule: Rule, parts: usize) -> Option<&'a Production> {
        if let Some(chosen) = self.chosen.get(&(rule, parts)) {
            return Some(chosen);
        }
        let chosen = self.drawn(rule, parts)?;
        self.chosen.insert((rule, parts), chosen);
        Some(chosen)
    }

    fn drawn(&mut self, rule: Rule, parts: usize) -> Option<&'a Production> {
        let fits = |wording: &&Production| wording.styles.has(self.style) && wording.children.len() == parts;
        let fitting = || self.grammar.wordings(rule).filter(fits);
        let special: Vec<_> = fitting().filter(|wording| wording.styles.is_special()).collect();
        let common: Vec<_> = fitting().filter(|wording| !wording.styles.is_special()).collect();
        let takes_special = common.is_empty() || !special.is_empty() && self.random.chance(OWN_WORDING);
        self.random.pick(if takes_special { &special } else { &common }).copied()
    }

    fn production(&mut self, production: &Production, slots: &[Slot]) -> Option<()> {
        // "Do that, sorted by": what stands before needs no comma.
        let follows = matches!(self.last.as_str(), "that" | "it") && is_order(production.rule);
        for (place, piece) in production.pieces.iter().enumerate() {
            if follows && place == 0 {
                continue;
            }
            let article = std::mem::take(&mut self.article);
            match piece {
                Piece::Article if article == Article::Shared => {}
                Piece::Article if WITHOUT_ARTICLE.contains(&self.last.as_str()) => {}
                Piece::Article => self.word("the"),
                Piece::Word(word) => self.word(self.grammar.text(*word)),
                Piece::Child(place, Child::List { between, before_last, .. }) => {
                    let shares_article = ENUMERATIONS.contains(&production.rule);
                    // "The five states": the article stands before the number.
                    if production.rule == Rule::KeysDegreeFew {
                        self.article = Article::Shared;
                    }
                    self.list(slots.get(*place)?.all(), between, before_last, shares_article)?;
                }
                Piece::Child(place, _) => {
                    if let Some(tree) = slots.get(*place)?.one() {
                        // What begins with a part begins with the part's article.
                        self.article = article;
                        self.tree(tree)?;
                    }
                }
            }
        }
        Some(())
    }

    fn list(
        &mut self,
        items: &[Rc<Tree>],
        between: &[WordId],
        before_last: &[WordId],
        shares_article: bool,
    ) -> Option<()> {
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                // A comma closes a group of alternatives.
                if matches!(**items.get(place - 1)?, Tree::Node(Rule::Either | Rule::Both, _)) {
                    self.word(",");
                }
                let words = if place + 1 == items.len() { before_last } else { between };
                words.iter().for_each(|word| self.word(self.grammar.text(*word)));
                if shares_article && is_column(item) {
                    self.article = Article::Shared;
                }
            }
            self.tree(item)?;
            self.article = Article::Own;
        }
        Some(())
    }

    /// Writes a word or mark of the grammar.
    fn word(&mut self, word: &str) {
        let word = Some(word).filter(|_| self.is_many).and_then(of_several).unwrap_or(word);
        match word {
            "|" => return self.end_turn(),
            "," | "." | ";" | ":" | ")" => self.text.push_str(word),
            // The visits of a visitor are theirs.
            "its" if self.is_person => self.push("their"),
            "i" => self.push(&capital(word)),
            _ if self.begins => {
                self.asks |= ["what", "which", "can", "could", "how", "do"].contains(&word);
                self.push(&capital(word));
            }
            _ => {
                // Groups may be said before the question, or "for".
                let after_groups = self.last == "," && ["what", "which", "can", "how"].contains(&word);
                self.asks |= after_groups
                    || self.last == "for" && word == "what"
                    || word == "could"
                    || word == "do" && self.last == ":";
                self.push(word);
            }
        }
        self.begins = word == ".";
        word.clone_into(&mut self.last);
    }

    fn push(&mut self, text: &str) {
        // Before a vowel it is "an", whichever of the two the wording has, and before a plural nothing.
        if matches!(self.last.as_str(), "a" | "an") {
            self.text.truncate(self.text.len() - self.last.len());
            match (is_plural(text), takes_an(text)) {
                (true, _) => self.text.truncate(self.text.trim_end().len()),
                (false, true) => self.text.push_str("an"),
                (false, false) => self.text.push('a'),
            }
        }
        self.is_many = false;
        if !self.text.is_empty() && !self.text.ends_with('(') {
            self.text.push(' ');
        }
        self.text.push_str(text);
        text.clone_into(&mut self.last);
        self.begins = false;
    }

    fn end_turn(&mut self) {
        self.text.push(if self.asks { '?' } else { '.' });
        self.written.turns.push(std::mem::take(&mut self.text));
        self.last.clear();
        (self.begins, self.asks) = (true, false);
    }
}

/// Whether a rule says an order, which begins with a comma.
fn is_order(rule: Rule) -> bool {
    matches!(rule, Rule::Sorted | Rule::InOrder | Rule::SortedFirst | Rule::SortedFrom)
}

/// Whether a phrase is a column, which has an article and nothing before it.
fn is_column(tree: &Tree) -> bool {
    matches!(tree.node(), Some((Rule::Column | Rule::ColumnOf, _)))
}

/// Whether a table of that name holds people.
fn is_person(noun: &str) -> bool {
    let words: Vec<String> = noun.split(' ').map(str::to_lowercase).collect();
    sqlgauge_names::is_person(&words)
}

/// What a verb is after a plural: "whose sales are over 5", "whose sales exceed 5".
pub(super) fn of_several(verb: &str) -> Option<&'static str> {
    let forms = [
        ("is", "are"),
        ("does", "do"),
        ("has", "have"),
        ("equals", "equal"),
        ("exceeds", "exceed"),
        ("differs", "differ"),
        ("lies", "lie"),
        ("contains", "contain"),
        ("includes", "include"),
        ("starts", "start"),
        ("begins", "begin"),
        ("ends", "end"),
        ("matches", "match"),
        ("looks", "look"),
        ("appears", "appear"),
        ("belongs", "belong"),
    ];
    forms.into_iter().find_map(|(one, several)| (one == verb).then_some(several))
}

/// Plurals that have no singular.
const PLURALS: &[&str] = &["earnings", "sales", "proceeds", "savings", "minutes"];

/// Whether the noun of a name is a plural: "sales", and not "number of tickets" or "number products".
fn is_plural(name: &str) -> bool {
    let head = [" of ", " in "].iter().fold(name, |head, word| head.split(word).next().unwrap_or_default());
    let last = head.rsplit(' ').next().unwrap_or_default();
    let is_number = ["number", "count", "amount"].iter().any(|first| head.starts_with(first));
    !is_number
        && last.len() > 3
        && last.ends_with('s')
        && (sqlgauge_names::singular(last) != last || PLURALS.contains(&last))
}

/// Whether "an" stands before a word.
fn takes_an(word: &str) -> bool {
    let word = word.trim_start_matches('"').to_lowercase();
    let is_vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    is_vowel && !["uni", "use", "usa", "us ", "eu", "one"].iter().any(|start| word.starts_with(start))
}
