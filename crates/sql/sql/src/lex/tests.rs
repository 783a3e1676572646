use sqlgauge_base::Random;
use sqlite3_parser::dialect::TokenType;
use sqlite3_parser::lexer::Scanner;
use sqlite3_parser::lexer::sql::Tokenizer;

use super::*;
use TokenKind::{Blob, Comment, Mark, Number, Parameter, Quoted, Sign, Space, Text, Word};

fn kinds(text: &str) -> Vec<TokenKind> {
    tokens(text).map(|token| token.kind).collect()
}

#[test]
fn a_token_is_what_its_first_characters_say() {
    for (text, kind) in [
        (" \n\t\x0c\r", Space),
        ("-- a; 'b", Comment),
        ("/* a\n*/", Comment),
        ("/*/ a", Comment),
        ("\u{feff}", Mark),
        ("a1_$é", Word),
        ("xa", Word),
        ("数量", Word),
        ("\"a\"\"b\"", Quoted),
        ("`a``b`", Quoted),
        ("[a\"'b]", Quoted),
        ("'it''s'", Text),
        ("X'4aF0'", Blob),
        ("1_000.5e-1_0", Number),
        ("1.", Number),
        (".5", Number),
        ("0xFf", Number),
        ("?12", Parameter),
        ("$a::b(c d", Parameter),
        (":a", Parameter),
        ("->>", Sign),
        ("||", Sign),
        ("!=", Sign),
    ] {
        let first = tokens(text).next().unwrap();
        assert_eq!((first.kind, first.start), (kind, 0), "{text}");
        assert_eq!(first.text == text, text != "$a::b(c d", "{text}");
        assert_eq!(first.is_legal, text != "$a::b(c d", "{text}");
    }
}

#[test]
fn what_sqlite_refuses_is_a_token_too() {
    for text in [
        "'a", "\"a''", "`", "[a", "x'4", "x'g'", "x'4'", "1a", "1_", "1__0", "0xg", "$", "!", "\u{b}", "\\",
        "\0",
    ] {
        let all: Vec<Token<'_>> = tokens(text).collect();
        assert_eq!(all.len(), 1, "{text}");
        assert!(!all[0].is_legal, "{text}");
    }
    assert_eq!(kinds("SELECT 1 /*"), [Word, Space, Number, Space, Sign, Sign]);
}

#[test]
fn white_space_is_what_sqlite_takes_for_it() {
    assert_eq!(kinds("a \u{b}b"), [Word, Space, Word]);
    assert_eq!(kinds("a\u{b}b"), [Word, Sign, Word]);
    assert_eq!(kinds("a\u{a0}b\u{3000}c\u{2028}d\u{85}"), [Word]);
    assert_eq!(kinds("\u{3000} 1"), [Word, Space, Number]);
}

/// What the parser's own tokenizer makes of a text up to its first error: the tokens that mean something.
fn by_the_parser(text: &str) -> (Vec<(usize, usize, TokenType)>, bool) {
    let mut scanner = Scanner::new(Tokenizer::new());
    let mut tokens = Vec::new();
    loop {
        match scanner.scan(text.as_bytes()) {
            Ok((start, Some((_, kind)), end)) => tokens.push((start, end, kind)),
            Ok((_, None, _)) => return (tokens, true),
            Err(_) => return (tokens, false),
        }
    }
}

fn agrees(kind: TokenKind, by_the_parser: TokenType) -> bool {
    match by_the_parser {
        TokenType::TK_STRING => kind == Text,
        TokenType::TK_BLOB => kind == Blob,
        TokenType::TK_INTEGER | TokenType::TK_FLOAT => kind == Number,
        TokenType::TK_VARIABLE => kind == Parameter,
        TokenType::TK_ID => matches!(kind, Word | Quoted),
        _ => matches!(kind, Word | Sign),
    }
}

/// A text of pieces that matter to a tokenizer.
fn random_text(random: &mut Random) -> String {
    const PIECES: [&str; 62] = [
        "SELECT", "a", "x", "X", "é", "数", "_", "$", "1", "0", "0x", "e", "E", ".", "_", "'", "'", "''",
        "\"", "`", "[", "]", "x'", "(", ")", ",", ";", "-", "--", "->", ">", "/", "*", "/*", "*/", "|", "<",
        "=", "!", "+", "%", "&", "~", "?", ":", "::", "@", "#", "\n", " ", " ", "\t", "\r", "\u{c}", "\u{b}",
        "\u{a0}", "\u{3000}", "\u{feff}", "\u{85}", "\0", "\\", "{",
    ];
    (0..random.below(24)).filter_map(|_| random.pick(&PIECES).copied()).collect()
}

#[test]
fn the_tokens_in_a_row_are_the_text() {
    let mut random = Random::new([1]);
    for _ in 0..50_000 {
        let text = random_text(&mut random);
        let mut end = 0;
        for token in tokens(&text) {
            assert_eq!(token.start, end, "{text:?}");
            assert!(!token.text.is_empty(), "{text:?}");
            assert_eq!(&text[token.range()], token.text);
            end = token.range().end;
        }
        assert_eq!(end, text.len(), "{text:?}");
    }
}

/// The parser follows SQLite but for a vertical tab in white space, which it refuses, for a byte order mark, which it takes
/// for a name, for the end of a parameter `$a::b(c)`, and for a comment without an end, which it refuses.
#[test]
fn the_parsers_tokenizer_agrees() {
    let mut random = Random::new([2]);
    let mut whole = 0;
    for _ in 0..200_000 {
        let text = random_text(&mut random);
        let (theirs, is_whole) = by_the_parser(&text);
        let differs = |token: &Token<'_>| {
            token.kind == Mark || token.kind == Parameter && token.text.contains(['(', ':'])
        };
        if tokens(&text).any(|token| differs(&token)) {
            continue;
        }
        let ours: Vec<Token<'_>> = words(&text).collect();
        for (token, (start, end, kind)) in ours.iter().zip(&theirs) {
            assert_eq!((token.start, token.range().end), (*start, *end), "{text:?}");
            assert!(agrees(token.kind, *kind) && token.is_legal, "{text:?}: {token:?}, {kind:?}");
        }
        if is_whole {
            assert_eq!(ours.len(), theirs.len(), "{text:?}");
            whole += 1;
        } else {
            assert!(ours.len() >= theirs.len(), "{text:?}");
        }
    }
    assert!(whole > 5_000, "{whole}");
}

#[test]
fn a_megabyte_of_anything_is_read_in_linear_time() {
    for piece in ["'", "\"", "[", "(", "/*", "$a(", "x'", "1_", "::", "é", "- "] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert_eq!(tokens(&text).map(|token| token.text.len()).sum::<usize>(), text.len());
    }
}

#[test]
fn the_words_of_a_type_are_what_sqlite_takes_for_words() {
    for (name, text) in [
        ("unsigned  big\tint", "unsigned big int"),
        ("\"a\"\"b\" [c d]", "a\"b c d"),
        ("a\u{a0}b\u{3000}c", "a\u{a0}b\u{3000}c"),
    ] {
        assert_eq!(type_text(name, None), text);
    }
    assert_eq!(type_text("VARCHAR", Some("20")), "VARCHAR(20)");
}
