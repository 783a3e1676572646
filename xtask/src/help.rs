//! What a command's `--help` prints, taken apart into its options.

/// The help of one command.
pub(crate) struct Help {
    /// What the command does, in paragraphs.
    pub(crate) about: String,
    /// The line below `Usage:`.
    pub(crate) usage: String,
    /// Headings, `Options` and others, with what stands below each.
    pub(crate) groups: Vec<(String, Vec<Entry>)>,
}

/// An argument, an option or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As in `-j, --jobs <N>`.
    pub(crate) name: String,
    /// The description on one line.
    pub(crate) text: String,
}

/// Where descriptions begin at the earliest.
const DESCRIPTION: usize = 8;

impl Help {
    /// Reads what clap prints.
    pub(crate) fn parse(printed: &str) -> Self {
        let mut help = Self { about: String::new(), usage: String::new(), groups: Vec::new() };
        for line in printed.lines() {
            let text = line.trim();
            let indent = line.len() - line.trim_start().len();
            if let Some(usage) = line.strip_prefix("Usage: ") {
                usage.clone_into(&mut help.usage);
            } else if help.usage.is_empty() {
                help.about.push_str(text);
                help.about.push('\n');
            } else if indent == 0 {
                if let Some(heading) = text.strip_suffix(':') {
                    help.groups.push((heading.to_owned(), Vec::new()));
                }
            } else if let Some((_, entries)) = help.groups.last_mut() {
                add(entries, indent, text);
            }
        }
        help.about.truncate(help.about.trim_end().len());
        help
    }
}

/// Adds a line to the last entry, or begins another.
fn add(entries: &mut Vec<Entry>, indent: usize, line: &str) {
    if indent < DESCRIPTION {
        let (name, text) = line.split_once("  ").unwrap_or((line, ""));
        entries.push(Entry { name: name.to_owned(), text: text.trim_start().to_owned() });
    } else if let Some(entry) = entries.last_mut().filter(|_| !line.is_empty()) {
        let (joint, line) = match line.strip_prefix("- ") {
            Some(value) if entry.text.ends_with(':') => (" ", value),
            Some(value) => ("; ", value),
            None => (" ", line),
        };
        if !entry.text.is_empty() {
            entry.text.push_str(joint);
        }
        entry.text.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "Does it\n\nIn two paragraphs.\n\nUsage: x do [OPTIONS] <RUN>\n\nArguments:\n  <RUN>\n          Run\n\nOptions:\n  -j, --jobs <N>\n          \
         Worker threads;\n          0 means all\n\n          [default: 0]\n\n      --by <WHAT>\n          How\n\n          Possible values:\n          - a: one\n          \
         - b: two,\n            wrapped\n";
    const SHORT: &str = "Does it\n\nUsage: x do\n\nOptions:\n      --out <DIR>  Folder\n                   to write\n  -h, --help       Print help\n";

    #[test]
    fn long_and_short_help_have_entries() {
        let help = Help::parse(LONG);
        assert_eq!(help.about, "Does it\n\nIn two paragraphs.");
        assert_eq!(help.usage, "x do [OPTIONS] <RUN>");
        let entry = |name: &str, text: &str| Entry { name: name.to_owned(), text: text.to_owned() };
        assert_eq!(help.groups[0], ("Arguments".to_owned(), vec![entry("<RUN>", "Run")]));
        let options = vec![
            entry("-j, --jobs <N>", "Worker threads; 0 means all [default: 0]"),
            entry("--by <WHAT>", "How Possible values: a: one; b: two, wrapped"),
        ];
        assert_eq!(help.groups[1], ("Options".to_owned(), options));
        let help = Help::parse(SHORT);
        let options = vec![entry("--out <DIR>", "Folder to write"), entry("-h, --help", "Print help")];
        assert_eq!(help.groups, [("Options".to_owned(), options)]);
    }
}
