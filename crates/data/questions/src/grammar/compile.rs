//! The table of productions, made ready: wordings as pieces, and which word may begin what.

use std::collections::HashMap;

use super::{Category, Row, Rule};
use crate::style::Styles;

/// A word or mark of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WordId(pub u32);

/// How often a child stands in a wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Child {
    /// Once.
    One,
    /// Once or not at all.
    Maybe,
    /// In a list of at least so many items, with these words between them and before the last.
    List { least: usize, between: Vec<WordId>, before_last: Vec<WordId> },
}

/// A part of a wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Word(WordId),
    /// The article "the", which is written and not read.
    Article,
    /// The child at that place.
    Child(usize, Child),
}

/// A row with one of its wordings.
#[derive(Debug)]
pub(crate) struct Production {
    /// What it makes.
    pub rule: Rule,
    pub children: &'static [Category],
    /// The wording.
    pub pieces: Vec<Piece>,
    /// Who writes it.
    pub styles: Styles,
}

/// What may come first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct First {
    words: Vec<bool>,
    /// A name, a value, what stands in double quotes, or a verb.
    pub leaf: [bool; Category::LEAVES.len()],
}

impl First {
    pub(crate) fn has_word(&self, word: WordId) -> bool {
        self.words.get(word.0 as usize).copied().unwrap_or_default()
    }

    /// Adds what may come first elsewhere; whether that was news.
    fn add(&mut self, other: &Self) -> bool {
        let mut news = false;
        let words = self.words.iter_mut().zip(&other.words);
        for (bit, &other) in words.chain(self.leaf.iter_mut().zip(&other.leaf)) {
            news |= other && !*bit;
            *bit |= other;
        }
        news
    }
}

#[derive(Debug)]
pub(crate) struct Grammar {
    words: Vec<&'static str>,
    ids: HashMap<&'static str, WordId>,
    by_category: Vec<Vec<Production>>,
    /// What each production may begin with.
    firsts: Vec<Vec<First>>,
    included: Vec<Vec<Category>>,
    /// Where each rule's wordings stand: category and place.
    of_rule: Vec<Vec<(usize, usize)>>,
}

impl Grammar {
    pub(crate) fn of(rows: impl Iterator<Item = &'static Row>, included: &[(Category, Category)]) -> Self {
        let mut grammar = Self {
            words: Vec::new(),
            ids: HashMap::new(),
            by_category: (0..Category::COUNT).map(|_| Vec::new()).collect(),
            firsts: Vec::new(),
            included: vec![Vec::new(); Category::COUNT],
            of_rule: vec![Vec::new(); Rule::COUNT],
        };
        for row in rows {
            for wording in row.wordings {
                let pieces = wording.text.split(' ').collect::<Vec<_>>();
                let pieces = grammar.pieces(&pieces);
                let production =
                    Production { rule: row.rule, children: row.children, pieces, styles: wording.styles };
                let productions = &mut grammar.by_category[row.category as usize];
                grammar.of_rule[row.rule as usize].push((row.category as usize, productions.len()));
                productions.push(production);
            }
        }
        for &(outer, inner) in included {
            grammar.included[outer as usize].push(inner);
        }
        grammar.find_firsts();
        grammar
    }

    /// The id of a word in lower case, if the grammar has it.
    pub(crate) fn word(&self, text: &str) -> Option<WordId> {
        self.ids.get(text).copied()
    }

    pub(crate) fn text(&self, word: WordId) -> &'static str {
        self.words[word.0 as usize]
    }

    /// The productions of a category with what they may begin with.
    pub(crate) fn productions(&self, category: Category) -> impl Iterator<Item = (&Production, &First)> {
        self.by_category[category as usize].iter().zip(&self.firsts[category as usize])
    }

    pub(crate) fn wordings(&self, rule: Rule) -> impl Iterator<Item = &Production> {
        self.of_rule[rule as usize].iter().map(|&(category, place)| &self.by_category[category][place])
    }

    pub(crate) fn included(&self, category: Category) -> &[Category] {
        &self.included[category as usize]
    }

    fn intern(&mut self, word: &'static str) -> WordId {
        let next = WordId(u32::try_from(self.words.len()).unwrap_or(u32::MAX));
        let id = *self.ids.entry(word).or_insert(next);
        if id == next {
            self.words.push(word);
        }
        id
    }

    fn pieces(&mut self, parts: &[&'static str]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(&part) = parts.get(at) {
            at += 1;
            let Some(child) = part.strip_prefix('$') else {
                pieces.push(if part == "the" { Piece::Article } else { Piece::Word(self.intern(part)) });
                continue;
            };
            let (place, rest) =
                child.split_at(child.find(|c: char| !c.is_ascii_digit()).unwrap_or(child.len()));
            let child = match rest {
                "" => Child::One,
                "?" => Child::Maybe,
                // A list has its two separators in brackets, with a blank between them.
                first => {
                    let last = parts.get(at).copied().unwrap_or_default();
                    at += 1;
                    let (between, before_last) = (first.trim_start_matches('['), last.trim_end_matches(']'));
                    let brackets = first.len() - between.len();
                    let between = between
                        .split('_')
                        .filter(|word| !word.is_empty())
                        .map(|word| self.intern(word))
                        .collect();
                    let before_last = before_last
                        .split('_')
                        .filter(|word| !word.is_empty())
                        .map(|word| self.intern(word))
                        .collect();
                    Child::List { least: brackets, between, before_last }
                }
            };
            pieces.push(Piece::Child(place.parse().unwrap_or_default(), child));
        }
        pieces
    }

    /// What each production may begin with, to a fixed point.
    fn find_firsts(&mut self) {
        let empty = First { words: vec![false; self.words.len()], ..First::default() };
        let mut of_category = vec![empty.clone(); Category::COUNT];
        for (place, leaf) in Category::LEAVES.into_iter().enumerate() {
            of_category[leaf as usize].leaf[place] = true;
        }
        self.firsts =
            self.by_category.iter().map(|productions| vec![empty.clone(); productions.len()]).collect();
        let mut news = true;
        while news {
            news = false;
            for category in 0..Category::COUNT {
                for (place, production) in self.by_category[category].iter().enumerate() {
                    let first = first_of(production, &of_category, &empty);
                    news |= of_category[category].add(&first);
                    self.firsts[category][place] = first;
                }
                for inner in self.included[category].clone() {
                    let inner = of_category[inner as usize].clone();
                    news |= of_category[category].add(&inner);
                }
            }
        }
    }
}

fn first_of(production: &Production, of_category: &[First], empty: &First) -> First {
    let mut first = empty.clone();
    for piece in &production.pieces {
        match piece {
            Piece::Article => {}
            Piece::Word(word) => {
                first.words[word.0 as usize] = true;
                return first;
            }
            Piece::Child(place, child) => {
                first.add(&of_category[production.children[*place] as usize]);
                if *child != Child::Maybe {
                    return first;
                }
            }
        }
    }
    first
}
