//! The crates under `crates/` and which of them each one uses, read from `cargo metadata`.

use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug)]
pub struct Crate {
    pub name: String,
    pub description: String,
    /// Crates this one uses, without those that another used crate already brings: their arrow would add nothing.
    pub uses: BTreeSet<usize>,
    /// 0 uses no other crate; otherwise one more than the highest layer among the crates it uses.
    pub layer: usize,
}

/// Sorted by name.
#[derive(Debug)]
pub struct Graph {
    pub crates: Vec<Crate>,
}

impl Graph {
    pub fn from_metadata(metadata: &str) -> Result<Self, String> {
        let metadata: Value = serde_json::from_str(metadata).map_err(|error| error.to_string())?;
        let root = text(&metadata, "workspace_root")?;
        let mut packages = Vec::new();
        for package in list(&metadata, "packages")? {
            if text(package, "manifest_path")?.starts_with(&format!("{root}/crates/")) {
                packages.push((text(package, "name")?, package));
            }
        }
        packages.sort_by_key(|(name, _)| *name);

        let position = |name: &str| packages.iter().position(|(known, _)| *known == name);
        let mut uses = Vec::new();
        for (_, package) in &packages {
            let mut used = BTreeSet::new();
            for dependency in list(package, "dependencies")? {
                // `kind` is null for what the crate itself needs; "dev" and "build" are left out.
                if dependency["kind"].is_null() {
                    used.extend(position(text(dependency, "name")?));
                }
            }
            uses.push(used);
        }
        let reached = reachable(&uses);
        let mut crates = Vec::new();
        for (number, (name, package)) in packages.iter().enumerate() {
            let brought_by_others =
                |other: &usize| uses[number].iter().any(|used| reached[*used].contains(other));
            crates.push(Crate {
                name: name.strip_prefix("gannet-").unwrap_or(name).to_owned(),
                description: text(package, "description")?.trim_end_matches('.').to_owned(),
                uses: uses[number].iter().filter(|other| !brought_by_others(other)).copied().collect(),
                layer: 0,
            });
        }
        // Cargo refuses cycles, so this ends after at most as many rounds as there are crates.
        for _ in 0..crates.len() {
            for number in 0..crates.len() {
                let below = crates[number].uses.iter().map(|used| crates[*used].layer + 1).max();
                crates[number].layer = below.unwrap_or(0);
            }
        }
        Ok(Self { crates })
    }
}

/// For each crate everything it uses, directly or through others.
fn reachable(uses: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let mut reached = uses.to_vec();
    for _ in 0..uses.len() {
        for number in 0..uses.len() {
            let further: Vec<usize> =
                reached[number].iter().flat_map(|used| reached[*used].clone()).collect();
            reached[number].extend(further);
        }
    }
    reached
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    value[field].as_str().ok_or_else(|| format!("cargo metadata: `{field}` is missing in {}", value["name"]))
}

fn list<'a>(value: &'a Value, field: &str) -> Result<&'a Vec<Value>, String> {
    value[field].as_array().ok_or_else(|| format!("cargo metadata: `{field}` is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, uses: &[(&str, Value)]) -> Value {
        let dependencies: Vec<_> =
            uses.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        json!({
            "name": name,
            "description": format!("What {name} is."),
            "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
            "dependencies": dependencies,
        })
    }

    #[test]
    fn layers_count_from_the_ground_and_arrows_are_not_repeated() {
        let normal = Value::Null;
        let metadata = json!({
            "workspace_root": "/w",
            "packages": [
                package("top", &[("middle", normal.clone()), ("ground", normal.clone()), ("serde", normal.clone())]),
                package("middle", &[("gannet-ground", normal.clone()), ("ground", normal.clone())]),
                package("ground", &[("top", json!("dev"))]),
                { "name": "outside", "manifest_path": "/w/bench/Cargo.toml" },
            ],
        });
        let graph = Graph::from_metadata(&metadata.to_string()).unwrap();
        let seen: Vec<_> = graph
            .crates
            .iter()
            .map(|one| (one.name.as_str(), one.layer, one.uses.iter().copied().collect::<Vec<_>>()))
            .collect();
        assert_eq!(seen, [("ground", 0, vec![]), ("middle", 1, vec![0]), ("top", 2, vec![1])]);
        assert_eq!(graph.crates[0].description, "What ground is");
    }
}
