//! How a run was run: what every report of one ends with.

use sqlgauge_run::Manifest;

use super::{Block, Cell, Document, Extent, Section, Table, Text};

impl Document {
    /// Adds the last section: versions, command, options and inputs.
    pub fn add_provenance(&mut self, manifest: &Manifest) {
        self.version.clone_from(&manifest.tool_version);
        let versions = format!("sqlgauge {}, {}", manifest.tool_version, manifest.engine);
        let option = |(name, value): (&String, &serde_json::Value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            vec![Cell::new(name), Cell::new(value)]
        };
        let inputs = manifest.inputs.iter().map(|input| {
            vec![Cell::new(&input.role), Cell::new(&input.path).code(), Cell::new(&input.sha256).code()]
        });
        let mut section = Section::new("How it was run", "", Block::prose(versions));
        section.blocks.extend([
            Block::prose(Text::default().code(manifest.command.join(" "))),
            Table::of(["option", "value"], manifest.options.iter().map(option)).into(),
            Table::of(["input", "file", "SHA-256"], inputs).into(),
        ]);
        self.add(Section { id: "run".to_owned(), is_folded: true, ..section.terminal(Extent::Nothing) });
    }
}
