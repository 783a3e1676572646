//! From tokens to all phrases that they may be.
//!
//! A top-down parser with a memory: each category is tried at each place once, so that the work is bounded by the
//! length of the text and the number of readings; steps are counted besides.

use std::rc::Rc;

use super::token::{Kind, Token, value_at};
use super::tree::{Slot, Tree};
use super::write::of_several;
use crate::grammar::{Category, Child, Grammar, Piece, Production, WordId};
use crate::names::Vocabulary;
use sqlgauge_names::{LinkVerb, begins_verb, verbs_at};

/// How many tokens a text may have.
pub(crate) const MAX_TOKENS: usize = 2_000;
/// How many steps the parser may take. The longest gold of Spider takes less than a hundredth.
const STEPS: u32 = 3_000_000;
/// How many ways there may be to read one category at one place.
const MAX_ALTERNATIVES: usize = 256;

/// The text is too long, or may be read in too many ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

type Found = Vec<(usize, Rc<Tree>)>;

/// One text being read.
pub(crate) struct Parser<'a> {
    grammar: &'a Grammar,
    vocabulary: &'a Vocabulary,
    tokens: &'a [Token],
    /// What each category may be at each place, as far as it has been asked.
    memory: Vec<Option<Rc<Found>>>,
    /// Which leaves each token may begin, in the order of [`Category::LEAVES`].
    leaves: Vec<[bool; Category::LEAVES.len()]>,
    steps: u32,
    /// How far the tokens could be read at all.
    pub(crate) furthest: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(grammar: &'a Grammar, vocabulary: &'a Vocabulary, tokens: &'a [Token]) -> Self {
        let memory = vec![None; Category::COUNT * (tokens.len() + 1)];
        let leaves = tokens.iter().map(|token| leaves(vocabulary, token)).collect();
        Self { grammar, vocabulary, tokens, memory, leaves, steps: 0, furthest: 0 }
    }

    /// All phrases of a category that the whole text is.
    pub(crate) fn whole(&mut self, category: Category) -> Result<Vec<Rc<Tree>>, OutOfBudget> {
        let alternatives = self.parse(category, 0)?;
        let end = self.tokens.len();
        Ok(alternatives.iter().filter(|(at, _)| *at == end).map(|(_, tree)| Rc::clone(tree)).collect())
    }

    fn parse(&mut self, category: Category, at: usize) -> Result<Rc<Found>, OutOfBudget> {
        let key = category as usize * (self.tokens.len() + 1) + at;
        if let Some(alternatives) = &self.memory[key] {
            return Ok(Rc::clone(alternatives));
        }
        // No production of the table is left-recursive; this keeps it from mattering if one were.
        self.memory[key] = Some(Rc::default());
        let mut alternatives = self.leaf(category, at);
        let grammar = self.grammar;
        for &inner in grammar.included(category) {
            let inner = stacker::maybe_grow(RED_ZONE, STACK, || self.parse(inner, at))?;
            alternatives.extend(inner.iter().cloned());
        }
        for (production, first) in grammar.productions(category) {
            let Some(token) = self.tokens.get(at) else { break };
            let may_begin = token.word.is_some_and(|word| first.has_word(word))
                || first.leaf.iter().zip(self.leaves[at]).any(|(first, is)| *first && is);
            if may_begin {
                let mut slots = vec![Slot::None; production.children.len()];
                self.sequence(production, 0, at, &mut slots, &mut alternatives)?;
            }
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(OutOfBudget);
        }
        let alternatives = Rc::new(alternatives);
        self.memory[key] = Some(Rc::clone(&alternatives));
        Ok(alternatives)
    }

    fn leaf(&mut self, category: Category, at: usize) -> Found {
        let Some(token) = self.tokens.get(at) else { return Vec::new() };
        match category {
            Category::Name | Category::Noun if token.kind == Kind::Name => {
                let tree = match category {
                    Category::Name => {
                        self.vocabulary.exact_name(&token.text).map(|name| Tree::Name(name, false))
                    }
                    _ => self.vocabulary.exact_noun(&token.text).map(|noun| Tree::Noun(noun, true)),
                };
                tree.into_iter().map(|tree| self.step(at + 1, tree)).collect()
            }
            Category::Name => {
                let ends = self.vocabulary.names_at(&self.tokens[at..]);
                ends.into_iter()
                    .map(|(length, name)| self.step(at + length, Tree::Name(name, false)))
                    .collect()
            }
            Category::Noun => {
                let ends = self.vocabulary.nouns_at(&self.tokens[at..]);
                ends.into_iter()
                    .map(|(length, noun, many)| self.step(at + length, Tree::Noun(noun, many)))
                    .collect()
            }
            Category::Value => {
                let value = value_at(&self.tokens[at..]);
                value.into_iter().map(|(length, value)| self.step(at + length, Tree::Value(value))).collect()
            }
            Category::Verb => {
                let ends = verbs_of(&self.tokens[at..]);
                ends.into_iter().map(|(length, verb)| self.step(at + length, Tree::Verb(verb))).collect()
            }
            Category::Quoted if token.kind == Kind::Name => {
                let text = token.text.clone();
                vec![self.step(at + 1, Tree::Quoted(text))]
            }
            _ => Vec::new(),
        }
    }

    fn step(&mut self, end: usize, tree: Tree) -> (usize, Rc<Tree>) {
        self.furthest = self.furthest.max(end);
        (end, Rc::new(tree))
    }

    /// Reads the pieces of a production from one on.
    fn sequence(
        &mut self,
        production: &Production,
        piece: usize,
        at: usize,
        slots: &mut Vec<Slot>,
        alternatives: &mut Found,
    ) -> Result<(), OutOfBudget> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(OutOfBudget);
        }
        match production.pieces.get(piece) {
            None => {
                let entry = (at, Rc::new(Tree::Node(production.rule, slots.clone())));
                if !alternatives.contains(&entry) {
                    alternatives.push(entry);
                }
                Ok(())
            }
            Some(Piece::Article) => self.sequence(production, piece + 1, at, slots, alternatives),
            Some(Piece::Word(word)) => match self.word(*word, at) {
                Some(next) => self.sequence(production, piece + 1, next, slots, alternatives),
                None => Ok(()),
            },
            Some(Piece::Child(place, Child::List { least, between, before_last })) => {
                let category = production.children[*place];
                let separators = Separators { between, before_last, least: *least };
                let mut ways = Vec::new();
                self.list(category, &separators, at, &mut Vec::new(), &mut ways)?;
                for (next, items) in ways {
                    slots[*place] = Slot::Many(items);
                    self.sequence(production, piece + 1, next, slots, alternatives)?;
                }
                slots[*place] = Slot::None;
                Ok(())
            }
            Some(Piece::Child(place, child)) => {
                if *child == Child::Maybe {
                    self.sequence(production, piece + 1, at, slots, alternatives)?;
                }
                let category = production.children[*place];
                let ways = stacker::maybe_grow(RED_ZONE, STACK, || self.parse(category, at))?;
                for (next, tree) in ways.iter() {
                    slots[*place] = Slot::One(Rc::clone(tree));
                    self.sequence(production, piece + 1, *next, slots, alternatives)?;
                }
                slots[*place] = Slot::None;
                Ok(())
            }
        }
    }

    fn word(&mut self, word: WordId, at: usize) -> Option<usize> {
        // "Whose sales are over 5", "each visitor along with their visits": what is said of one thing is said so of several, and of
        // people.
        let also = |word: &str| if word == "its" { Some("their") } else { of_several(word) };
        let is = |token: &Token| {
            token.kind == Kind::Word && also(self.grammar.text(word)) == Some(token.text.as_str())
        };
        let matches = self.tokens.get(at).is_some_and(|token| token.word == Some(word) || is(token));
        matches.then(|| {
            self.furthest = self.furthest.max(at + 1);
            at + 1
        })
    }

    fn words(&mut self, words: &[WordId], at: usize) -> Option<usize> {
        words.iter().try_fold(at, |at, &word| self.word(word, at))
    }

    /// A separator; a comma may stand before it.
    fn separator(&mut self, words: &[WordId], at: usize) -> Option<usize> {
        self.words(words, at).or_else(|| {
            let comma = self.grammar.word(",")?;
            let after = self.word(comma, at)?;
            self.words(words, after)
        })
    }

    /// Reads the items of a list from one on, in all ways.
    fn list(
        &mut self,
        category: Category,
        separators: &Separators<'_>,
        at: usize,
        items: &mut Vec<Rc<Tree>>,
        ways: &mut Vec<(usize, Vec<Rc<Tree>>)>,
    ) -> Result<(), OutOfBudget> {
        self.steps += 1;
        if self.steps > STEPS || ways.len() > MAX_ALTERNATIVES {
            return Err(OutOfBudget);
        }
        let alternatives = stacker::maybe_grow(RED_ZONE, STACK, || self.parse(category, at))?;
        for (next, item) in alternatives.iter() {
            items.push(Rc::clone(item));
            let may_end = items.len() == 1 || separators.same() || separators.ended(self, at);
            if items.len() >= separators.least && may_end {
                ways.push((*next, items.clone()));
            }
            // After the last separator there is one item and no more.
            if items.len() == 1 || separators.same() || !separators.ended(self, at) {
                for separator in separators.both() {
                    if let Some(after) = self.separator(separator, *next) {
                        self.list(category, separators, after, items, ways)?;
                    }
                }
            }
            items.pop();
        }
        Ok(())
    }
}

/// The stack that is left when more is taken, and how much: texts may nest deeply.
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 1 << 20;

/// What stands between the items of a list.
struct Separators<'s> {
    between: &'s [WordId],
    before_last: &'s [WordId],
    least: usize,
}

impl<'s> Separators<'s> {
    fn same(&self) -> bool {
        self.between == self.before_last
    }

    fn both(&self) -> impl Iterator<Item = &'s [WordId]> {
        [self.between, self.before_last].into_iter().take(if self.same() { 1 } else { 2 })
    }

    /// Whether the separator of the last item stands right before a place.
    fn ended(&self, parser: &Parser<'_>, at: usize) -> bool {
        let start = at.checked_sub(self.before_last.len());
        start.is_some_and(|start| {
            let words = parser.tokens[start..at].iter().map(|token| token.word);
            words.eq(self.before_last.iter().map(|&word| Some(word)))
        })
    }
}

/// The verbs that the tokens begin with, and how many words they have.
fn verbs_of(tokens: &[Token]) -> Vec<(usize, LinkVerb)> {
    let words = tokens.iter().take(MOST_VERB_WORDS).take_while(|token| token.kind == Kind::Word);
    verbs_at(&words.map(|token| token.text.as_str()).collect::<Vec<_>>())
}

/// How many words a verb has at most.
const MOST_VERB_WORDS: usize = 4;

fn leaves(vocabulary: &Vocabulary, token: &Token) -> [bool; Category::LEAVES.len()] {
    let is_name = token.kind == Kind::Name;
    let names = is_name || vocabulary.may_begin(&token.text);
    let is_verb = token.kind == Kind::Word && begins_verb(&token.text);
    [names, names, value_at(std::slice::from_ref(token)).is_some(), is_name, is_verb]
}
