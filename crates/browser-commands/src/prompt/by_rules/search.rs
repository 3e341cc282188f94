//! The search field of a page.

use super::PromptRun;
use super::look::look_at_page;
use crate::prompt::target::{self, Item};
use crate::snapshot::NodeKind;

impl PromptRun<'_> {
    pub(super) async fn search(&mut self, query: &str) -> Result<(), String> {
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let by_role = |item: &&Item| item.1.role == "searchbox";
        let by_name = |item: &&Item| {
            let is_field =
                item.1.role == "textbox" || item.1.role == "combobox" && !target::is_select(&item.1);
            is_field && item.1.kind == NodeKind::Interactive && item.1.name.to_lowercase().contains("search")
        };
        let mut fields: Vec<&Item> = snapshot.items.iter().filter(by_role).collect();
        if fields.is_empty() {
            fields = snapshot.items.iter().filter(by_name).collect();
        }
        // Header and page often have one each; of several the first is the page's own.
        let Some((number, _)) = fields.first() else {
            return Err("There is no search field on this page".to_owned());
        };
        self.run_quietly(&["fill", &format!("@e{number}"), query]).await?;
        self.run_quietly(&["press", "Enter"]).await?;
        self.done.push(format!("Searched for \"{query}\""));
        Ok(())
    }
}
