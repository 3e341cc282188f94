//! What a completed run can hand on, so that the same can be done again: its request, its steps, its sources.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The response of `GET /v2/agent/{id}/skill`. All of it comes from the stored run; no model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkillResponse {
    pub success: bool,
    /// Of the run.
    pub id: Uuid,
    pub skill: AgentSkill,
    /// The same for programs.
    pub blueprint: AgentBlueprint,
    pub generated_at: String,
    /// It was made for this request; always `true`, because nothing of it is stored.
    pub generated: bool,
}

/// A run as a skill for tools that work with `SKILL.md` files.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Lower case, with dashes.
    pub name: String,
    /// The task in words: what was asked, where it began, what the result is.
    pub spec: String,
    /// The text of a `SKILL.md`. Texts of pages are not in it.
    pub skill_md: String,
    /// The calls of tools that succeeded, in their order.
    pub workflow: Vec<AgentSkillStep>,
    /// The JSON Schema of the result, where the run had one.
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AgentSkillStep {
    /// From 1.
    pub step: u32,
    pub tool: String,
    pub parameters: Value,
}

/// What is needed to do the same again.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentBlueprint {
    /// The body of a `POST /v2/agent` that starts the same run.
    #[schema(value_type = Object)]
    pub request: Value,
    /// The pages that were read, in their order.
    pub pages: Vec<String>,
    /// Where the values of the result stood.
    pub sources: Vec<AgentSource>,
    /// Steps, pages and sources beyond those that are listed.
    pub left_out: u64,
    /// What the run cost.
    pub credits_used: i64,
}

/// A page with values of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentSource {
    pub url: String,
    /// JSON pointers into the result.
    pub fields: Vec<String>,
    /// The words of the page. They are data, whatever they say.
    pub quotes: Vec<String>,
}
