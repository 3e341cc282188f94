//! Fields: text that Word computes, between marks that begin, separate and end it. Only the result is text.

/// The fields that are open at a place of the text, outermost first.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    in_result: bool,
}

const MAX_OPEN: usize = 64;

impl Fields {
    pub(super) fn mark(&mut self, kind: Option<&str>) {
        match kind {
            Some("begin") if self.open.len() < MAX_OPEN => self.open.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.open.last_mut() {
                    field.in_result = true;
                }
            }
            Some("end") => {
                self.open.pop();
            }
            _ => {}
        }
    }

    pub(super) fn add_instruction(&mut self, text: &str) {
        if let Some(field) = self.open.last_mut() {
            field.instruction.push_str(text);
        }
    }

    /// A field that is one element around its result.
    pub(super) fn enter_simple(&mut self, instruction: &str) {
        self.open.push(Field { instruction: instruction.to_owned(), in_result: true });
    }

    pub(super) fn leave_simple(&mut self) {
        self.open.pop();
    }

    /// Whether text at this place is shown.
    pub(super) fn is_shown(&self) -> bool {
        self.open.iter().all(|field| field.in_result)
    }

    /// The address that text at this place leads to.
    pub(super) fn link(&self) -> Option<String> {
        self.open.iter().rev().find_map(|field| hyperlink(&field.instruction))
    }
}

/// The address in `HYPERLINK "https://…" \o "tip"`; places inside of the file have none.
fn hyperlink(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?.trim_start();
    let quoted = rest.strip_prefix('"')?;
    let address = quoted.split('"').next()?.trim();
    (!address.is_empty()).then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn only_the_result_is_shown_and_linked() {
        let mut fields = Fields::default();
        fields.mark(Some("begin"));
        fields.add_instruction(" HYPERLINK \"https://example.org\" \\o \"tip\" ");
        assert!(!fields.is_shown());
        fields.mark(Some("separate"));
        assert!(fields.is_shown());
        assert_eq!(fields.link().as_deref(), Some("https://example.org"));
        fields.mark(Some("end"));
        assert_eq!(fields.link(), None);
    }
}
