//! The AI applications that read MCP servers from a settings file, and where that file is.

use std::path::{Path, PathBuf};

/// How an application writes down a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFormat {
    /// JSON with the servers in this section: command, arguments, environment.
    Plain(&'static str),
    /// The same, with the kind of transport.
    Typed(&'static str),
    OpenCode,
    /// Codex: a table for each server.
    Toml,
}

#[derive(Debug)]
pub struct Application {
    pub id: &'static str,
    pub name: &'static str,
    pub format: SettingsFormat,
    /// Below the home folder, on Linux.
    path: &'static str,
    /// On macOS, where it differs.
    mac_path: Option<&'static str>,
    /// What is there where the application is, below the home folder.
    sign: &'static str,
    mac_sign: Option<&'static str>,
}

pub const APPLICATIONS: &[Application] = &[
    Application {
        id: "claude-code",
        name: "Claude Code",
        format: SettingsFormat::Typed("mcpServers"),
        path: ".claude.json",
        mac_path: None,
        sign: ".claude.json",
        mac_sign: None,
    },
    Application {
        id: "claude-desktop",
        name: "Claude Desktop",
        format: SettingsFormat::Plain("mcpServers"),
        path: ".config/Claude/claude_desktop_config.json",
        mac_path: Some("Library/Application Support/Claude/claude_desktop_config.json"),
        sign: ".config/Claude",
        mac_sign: Some("Library/Application Support/Claude"),
    },
    Application {
        id: "cursor",
        name: "Cursor",
        format: SettingsFormat::Plain("mcpServers"),
        path: ".cursor/mcp.json",
        mac_path: None,
        sign: ".cursor",
        mac_sign: None,
    },
    Application {
        id: "vscode",
        name: "VS Code",
        format: SettingsFormat::Typed("servers"),
        path: ".config/Code/User/mcp.json",
        mac_path: Some("Library/Application Support/Code/User/mcp.json"),
        sign: ".config/Code/User",
        mac_sign: Some("Library/Application Support/Code/User"),
    },
    Application {
        id: "codex",
        name: "Codex",
        format: SettingsFormat::Toml,
        path: ".codex/config.toml",
        mac_path: None,
        sign: ".codex",
        mac_sign: None,
    },
    Application {
        id: "opencode",
        name: "OpenCode",
        format: SettingsFormat::OpenCode,
        path: ".config/opencode/opencode.json",
        mac_path: None,
        sign: ".config/opencode",
        mac_sign: None,
    },
    Application {
        id: "windsurf",
        name: "Windsurf",
        format: SettingsFormat::Plain("mcpServers"),
        path: ".codeium/windsurf/mcp_config.json",
        mac_path: None,
        sign: ".codeium/windsurf",
        mac_sign: None,
    },
    Application {
        id: "gemini",
        name: "Gemini CLI",
        format: SettingsFormat::Plain("mcpServers"),
        path: ".gemini/settings.json",
        mac_path: None,
        sign: ".gemini",
        mac_sign: None,
    },
];

impl Application {
    pub fn file(&self, home: &Path) -> PathBuf {
        home.join(self.mac_path.filter(|_| cfg!(target_os = "macos")).unwrap_or(self.path))
    }

    pub fn is_here(&self, home: &Path) -> bool {
        home.join(self.mac_sign.filter(|_| cfg!(target_os = "macos")).unwrap_or(self.sign)).exists()
    }
}
