//! Names in full words: a word or phrase of the old name gives way to another of the same meaning.

use sqlgauge_base::Random;

use super::lexicon::{Entry, Form, same_noun};
use super::words::Segment;
use super::{Request, inflect};

/// How often a new name is drawn before all that change one word are tried in order.
const DRAWS: usize = 24;

/// What a table may be called besides its name, if its words have no other.
const TABLE_NOUNS: [&str; 4] = ["record", "detail", "entry", "data"];
/// The same for a column that says its table's name already.
const COLUMN_NOUN: &str = "value";
/// Of 100 phrases besides the first, how many get another name.
const FURTHER: u8 = 35;

/// A phrase of the old name, and what may stand in its place.
pub(super) struct Phrase<'a> {
    /// The positions of its words: from the first to the one after the last.
    pub(super) at: (usize, usize),
    /// Its entry in the lexicon.
    pub(super) entry: Option<(&'a Entry, Form)>,
}

impl Request<'_> {
    /// Candidates: drawn at random, then all that change one phrase, then those that add the owner's noun.
    pub(super) fn synonyms(&self, random: &mut Random) -> Vec<String> {
        let phrases = self.phrases();
        let options: Vec<Vec<Vec<String>>> =
            phrases.iter().map(|phrase| self.options(phrase, phrases.len())).collect();
        let mut names = Vec::new();
        let total: usize = options.iter().map(Vec::len).sum();
        if total > 0 {
            names.extend((0..DRAWS).filter_map(|_| self.drawn(&phrases, &options, random)));
        }
        for (place, choices) in options.iter().enumerate() {
            for choice in 0..choices.len() {
                let only = |phrase: usize| (phrase == place).then_some(choice);
                names.extend(self.with(&phrases, &options, only));
            }
        }
        names.extend(self.with_a_noun(random));
        names
    }

    /// The longest phrases of the lexicon from left to right, and the words that it does not have.
    pub(super) fn phrases(&self) -> Vec<Phrase<'_>> {
        let words = &self.identifier.words;
        let mut phrases = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let longest = self.lexicon.longest_phrase().min(words.len() - at);
            let longest_match = (1..=longest)
                .rev()
                .filter(|length| self.identifier.is_joined(at, at + length))
                .find_map(|length| {
                    let phrase: Vec<&str> =
                        words[at..at + length].iter().map(|word| word.lower.as_str()).collect();
                    let joined = [phrase.join(" "), phrase.concat()];
                    let entry = joined.iter().find_map(|phrase| self.lexicon.find(phrase, &self.domains))?;
                    Some((length, entry))
                });
            let length = longest_match.map_or(1, |(length, _)| length);
            phrases.push(Phrase { at: (at, at + length), entry: longest_match.map(|(_, entry)| entry) });
            at += length;
        }
        phrases
    }

    /// What may stand in the place of a phrase, as words: the full word of a short form first.
    fn options(&self, phrase: &Phrase<'_>, phrases: usize) -> Vec<Vec<String>> {
        let Some((entry, form)) = phrase.entry else { return Vec::new() };
        let full = form.is_short().then(|| form.inflect(entry.phrase));
        let others = entry.synonyms.iter().filter_map(|synonym| {
            // `id` may be `student_id`, `advisor_id` may not be `advisor_student_id`.
            let called = synonym.phrase;
            let of_owner = called.contains('~');
            let text = if of_owner { self.with_owner(called, phrases)? } else { called.to_owned() };
            Some(form.inflect(&text))
        });
        full.into_iter().chain(others).map(|option| option.split(' ').map(str::to_owned).collect()).collect()
    }

    fn with_owner(&self, synonym: &str, phrases: usize) -> Option<String> {
        (phrases == 1 && !self.owner.is_empty()).then(|| synonym.replace('~', &self.owner.join(" ")))
    }

    /// A name in which at least one phrase is changed; short forms always are. Of two phrases drawn the longer one is
    /// changed, which says more, and of two new words the shorter one is taken: so names do not grow.
    fn drawn(
        &self,
        phrases: &[Phrase<'_>],
        options: &[Vec<Vec<String>>],
        random: &mut Random,
    ) -> Option<String> {
        let changeable: Vec<usize> = (0..phrases.len()).filter(|&place| !options[place].is_empty()).collect();
        let length = |place: usize| {
            (phrases[place].at.0..phrases[place].at.1).map(|at| self.length(at)).sum::<usize>()
        };
        let certain = *[random.pick(&changeable)?, random.pick(&changeable)?]
            .into_iter()
            .max_by_key(|at| length(**at))?;
        let choices: Vec<Option<usize>> = options
            .iter()
            .enumerate()
            .map(|(place, choices)| {
                let wanted = place == certain || random.chance(FURTHER);
                let drawn = [random.below(choices.len()), random.below(choices.len())];
                let shorter = drawn.into_iter().filter(|&drawn| drawn < choices.len());
                shorter.min_by_key(|&drawn| choices[drawn].concat().len()).filter(|_| wanted)
            })
            .collect();
        self.with(phrases, options, |place| choices[place])
    }

    /// The name with these choices; none where a word would stand twice.
    fn with(
        &self,
        phrases: &[Phrase<'_>],
        options: &[Vec<Vec<String>>],
        choice: impl Fn(usize) -> Option<usize>,
    ) -> Option<String> {
        let mut segments = Vec::new();
        for (place, phrase) in phrases.iter().enumerate() {
            let short = phrase.entry.is_some_and(|(_, form)| form.is_short());
            match choice(place).or_else(|| (short && !options[place].is_empty()).then_some(0)) {
                Some(chosen) => segments.push(Segment::New(phrase.at.0, options[place][chosen].clone())),
                None => segments.extend((phrase.at.0..phrase.at.1).map(Segment::Kept)),
            }
        }
        (!self.stutters(&segments)).then(|| self.identifier.compose(&segments))
    }

    fn length(&self, at: usize) -> usize {
        self.identifier.words[at].lower.len()
    }

    /// Whether a new word says what another word of the name says.
    fn stutters(&self, segments: &[Segment]) -> bool {
        let words: Vec<(&str, bool)> = segments
            .iter()
            .flat_map(|segment| match segment {
                Segment::Kept(at) => vec![(self.identifier.words[*at].lower.as_str(), false)],
                Segment::New(_, new) => new.iter().map(|word| (word.as_str(), true)).collect(),
            })
            .collect();
        words.iter().enumerate().any(|(place, (word, _))| {
            words[..place].iter().enumerate().any(|(before, (other, new))| {
                (*new || words[place].1) && before != place && same_noun(word, other) && !SMALL.contains(word)
            })
        })
    }

    /// The name with the noun of its table, or for a table with one of rows: what is left where no word has another name.
    fn with_a_noun(&self, random: &mut Random) -> Vec<String> {
        let words: Vec<String> = self.identifier.words.iter().map(|word| word.lower.clone()).collect();
        if words.is_empty() {
            return Vec::new();
        }
        if self.naming.owner.is_some() {
            let says_so = words.iter().any(|word| self.owner.iter().any(|noun| same_noun(word, noun)));
            let of_table = if says_so { Vec::new() } else { [self.owner.clone(), words.clone()].concat() };
            let of_value = [words, vec![COLUMN_NOUN.to_owned()]].concat();
            let names = [of_table, of_value].into_iter().filter(|words| !words.is_empty());
            return names.map(|words| self.identifier.like(&words, self.identifier.joint())).collect();
        }
        let last = self.identifier.words.len() - 1;
        let many = inflect::is_plural(&words[last]);
        let mut nouns = TABLE_NOUNS;
        random.shuffle(&mut nouns);
        let mut before: Vec<Segment> = (0..last).map(Segment::Kept).collect();
        nouns
            .into_iter()
            .filter(|noun| words.iter().all(|word| !same_noun(word, noun)))
            .map(|noun| {
                let noun = if many { inflect::plural(noun).into_owned() } else { noun.to_owned() };
                before.truncate(last);
                before.push(Segment::New(last, vec![inflect::singular(&words[last]).into_owned(), noun]));
                self.identifier.compose(&before)
            })
            .collect()
    }
}

/// Words that may stand twice in a name.
const SMALL: [&str; 8] = ["of", "in", "to", "by", "and", "or", "for", "on"];
