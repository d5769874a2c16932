//! The projects table: registering a folder under an id, and the doc settings (order and flags) of
//! a folder, which it may have without being registered. No file of a project is touched.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::error::{ExitKind, Failure, did_you_mean};
use crate::session::{Store, StoreError, UnixMs, json, path_from_sql, path_to_sql};

/// A folder that the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// `None`: never registered, only has doc settings.
    pub id: Option<String>,
    /// Absolute, without links.
    pub folder: PathBuf,
    /// Order and flags of its docs.
    pub docs: DocSettings,
    /// When it was registered.
    pub created_at: UnixMs,
}

/// What is kept about the docs of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocSettings {
    /// The saved order, names as on disk.
    pub order: Vec<String>,
    /// The instruction docs.
    pub flags: Vec<Flag>,
}

/// One instruction doc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Its name, as on disk.
    pub name: String,
    /// What it held when it was last seen.
    pub content: Option<Content>,
}

/// By what a renamed file is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// SHA-256, hex.
    pub hash: String,
    /// In bytes.
    pub size: u64,
    /// The file was gone when we last looked.
    #[serde(default)]
    pub missing: bool,
}

/// Why a project can't be registered, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The id has other characters than it may.
    #[error(
        "`{id}` cannot be a project id: use a-z, 0-9, `.`, `_` and `-`, at most 64 characters, \
             beginning with a letter or digit"
    )]
    InvalidId {
        /// As given.
        id: String,
    },
    /// Another folder has the id.
    #[error("the project id `{id}` belongs to `{}`", folder.display())]
    IdTaken {
        /// The id.
        id: String,
        /// Whose it is.
        folder: PathBuf,
    },
    /// The folder has an id.
    #[error("`{}` is the project `{id}` already", folder.display())]
    FolderTaken {
        /// The folder.
        folder: PathBuf,
        /// Its id.
        id: String,
    },
    /// No project has the id.
    #[error("there is no project `{id}`")]
    Unknown {
        /// As given.
        id: String,
        /// Ids like it.
        near: Vec<String>,
    },
    /// Not a folder that can be a project.
    #[error("`{}` cannot be a project: {reason}", folder.display())]
    NoFolder {
        /// As given.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// The store's fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        let message = error.to_string();
        match error {
            RegistryError::Store(error) => error.into(),
            RegistryError::InvalidId { .. } => Failure::new(ExitKind::Usage, message),
            RegistryError::IdTaken { .. } => {
                Failure::new(ExitKind::Usage, message).hint("give another id with `--id`")
            }
            RegistryError::FolderTaken { id, .. } => Failure::new(ExitKind::Usage, message)
                .hint(format!("`omni-run project rename {id} NEW-ID` changes the id")),
            RegistryError::NoFolder { .. } => Failure::new(ExitKind::NotFound, message),
            RegistryError::Unknown { near, .. } => {
                let failure = Failure::new(ExitKind::NotFound, message);
                match near.is_empty() {
                    true => failure.hint("`omni-run project ls` lists them"),
                    false => failure.hint(format!("did you mean `{}`?", near.join("`, `"))),
                }
            }
        }
    }
}

/// Registers a folder, under an id made from its name where none is given.
pub fn add(
    store: &Store,
    folder: &Path,
    id: Option<&str>,
    now: UnixMs,
) -> Result<Project, RegistryError> {
    let no_folder = |reason: String| RegistryError::NoFolder { folder: folder.to_owned(), reason };
    let root = folder.canonicalize().map_err(|e| no_folder(e.to_string()))?;
    if !root.is_dir() {
        return Err(no_folder("it is not a folder".to_owned()));
    }
    if root.parent().is_none() {
        return Err(no_folder("every folder would belong to it".to_owned()));
    }
    let id = match id {
        Some(id) => checked_id(id)?,
        None => derived_id(&root),
    };
    store.write(|c| {
        if let Some(other) = by_id(c, &id)?
            && other.folder != root
        {
            return Ok(Err(RegistryError::IdTaken { id, folder: other.folder }));
        }
        if let Some(Project { id: Some(id), folder, .. }) = in_folder(c, &root)? {
            return Ok(Err(RegistryError::FolderTaken { folder, id }));
        }
        // A folder with settings of its own keeps them.
        c.execute(
            "INSERT INTO projects (id, folder_path, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)
             ON CONFLICT (folder_path) DO UPDATE SET id = ?1, created_at = ?3, updated_at = ?3",
            params![id, path_to_sql(&root), now],
        )?;
        Ok(in_folder(c, &root)?.ok_or(RegistryError::Unknown { id, near: Vec::new() }))
    })?
}

/// The registered projects, by id.
pub fn list(store: &Store) -> Result<Vec<Project>, StoreError> {
    store.read(|c| {
        let sql = format!("SELECT {COLUMNS} FROM projects WHERE id IS NOT NULL ORDER BY id");
        c.prepare(&sql)?.query_map([], project_from_row)?.collect()
    })
}

/// The project with this id.
pub fn show(store: &Store, id: &str) -> Result<Project, RegistryError> {
    store.read(|c| found(c, id))?
}

/// Takes a project out of the registry, with the order and flags of its docs. Its files and its
/// sessions stay.
pub fn remove(store: &Store, id: &str) -> Result<Project, RegistryError> {
    store.write(|c| {
        let project = found(c, id)?;
        c.execute("DELETE FROM projects WHERE id = ?1", [id])?;
        Ok(project)
    })?
}

/// Gives a project another id; its sessions and what waits for approval go along.
pub fn rename(store: &Store, from: &str, to: &str, now: UnixMs) -> Result<Project, RegistryError> {
    let to = checked_id(to)?;
    store.write(|c| {
        let project = match found(c, from)? {
            Ok(project) => project,
            Err(unknown) => return Ok(Err(unknown)),
        };
        if let Some(other) = by_id(c, &to)?
            && other.folder != project.folder
        {
            return Ok(Err(RegistryError::IdTaken { id: to, folder: other.folder }));
        }
        let sql = "UPDATE projects SET id = ?2, updated_at = ?3 WHERE id = ?1";
        c.execute(sql, params![from, to, now])?;
        c.execute("UPDATE sessions SET project_id = ?2 WHERE project_id = ?1", [from, &to])?;
        let sql = "UPDATE cli_pending_actions SET project_id = ?2 WHERE project_id = ?1";
        c.execute(sql, [from, &to])?;
        Ok(Ok(Project { id: Some(to), ..project }))
    })?
}

/// The deepest registered project that has one of `folders`, or is one: give a folder with its
/// parents.
pub(super) fn deepest_of(store: &Store, folders: &[&Path]) -> Result<Option<Project>, StoreError> {
    let marks = vec!["?"; folders.len()].join(", ");
    let sql =
        format!("SELECT {COLUMNS} FROM projects WHERE id IS NOT NULL AND folder_path IN ({marks})");
    let found: Vec<Project> = store.read(|c| {
        let folders = folders.iter().map(|folder| path_to_sql(folder));
        c.prepare(&sql)?.query_map(rusqlite::params_from_iter(folders), project_from_row)?.collect()
    })?;
    Ok(found.into_iter().max_by_key(|project| project.folder.components().count()))
}

/// What is known of a folder, registered or not.
pub fn of_folder(store: &Store, root: &Path) -> Result<Option<Project>, StoreError> {
    store.read(|c| in_folder(c, root))
}

/// Changes the doc settings of a folder; nothing is written where `change` fails or changes
/// nothing.
pub(super) fn change_docs<T, E>(
    store: &Store,
    root: &Path,
    now: UnixMs,
    change: impl FnOnce(&mut DocSettings) -> Result<T, E>,
) -> Result<Result<T, E>, StoreError> {
    store.write(|c| {
        let before = in_folder(c, root)?.map(|project| project.docs).unwrap_or_default();
        let mut docs = before.clone();
        let result = change(&mut docs);
        if result.is_ok() && docs != before {
            write_docs(c, root, &docs, now)?;
        }
        Ok(result)
    })
}

fn write_docs(
    c: &Connection,
    root: &Path,
    docs: &DocSettings,
    now: UnixMs,
) -> rusqlite::Result<()> {
    let names: Vec<&str> = docs.flags.iter().map(|flag| flag.name.as_str()).collect();
    let mut contents = serde_json::Map::new();
    for flag in &docs.flags {
        contents.insert(flag.name.clone(), serde_json::json!(flag.content));
    }
    c.execute(
        "INSERT INTO projects (folder_path, doc_order_json, doc_instruction_json, doc_content_json,
           created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
         ON CONFLICT (folder_path) DO UPDATE SET doc_order_json = ?2, doc_instruction_json = ?3,
           doc_content_json = ?4, updated_at = ?5",
        params![
            path_to_sql(root),
            serde_json::Value::from(docs.order.clone()).to_string(),
            serde_json::Value::from(names).to_string(),
            serde_json::Value::from(contents).to_string(),
            now,
        ],
    )?;
    Ok(())
}

const COLUMNS: &str =
    "id, folder_path, doc_order_json, doc_instruction_json, doc_content_json, created_at";

fn by_id(c: &Connection, id: &str) -> rusqlite::Result<Option<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects WHERE id = ?1");
    c.query_row(&sql, [id], project_from_row).optional()
}

fn in_folder(c: &Connection, root: &Path) -> rusqlite::Result<Option<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects WHERE folder_path = ?1");
    c.query_row(&sql, [path_to_sql(root)], project_from_row).optional()
}

fn found(c: &Connection, id: &str) -> rusqlite::Result<Result<Project, RegistryError>> {
    if let Some(project) = by_id(c, id)? {
        return Ok(Ok(project));
    }
    let mut statement = c.prepare("SELECT id FROM projects WHERE id IS NOT NULL ORDER BY id")?;
    let known: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let near = did_you_mean(id, known.iter().map(String::as_str));
    let near = near.into_iter().map(str::to_owned).collect();
    Ok(Err(RegistryError::Unknown { id: id.to_owned(), near }))
}

fn project_from_row(row: &Row<'_>) -> rusqlite::Result<Project> {
    let names: Vec<String> = json(row, 3)?;
    let mut contents: std::collections::HashMap<String, Option<Content>> = json(row, 4)?;
    let flags = names
        .into_iter()
        .map(|name| {
            let content = contents.remove(&name).flatten();
            Flag { name, content }
        })
        .collect();
    Ok(Project {
        id: row.get(0)?,
        folder: path_from_sql(row, 1)?.unwrap_or_default(),
        docs: DocSettings { order: json(row, 2)?, flags },
        created_at: row.get(5)?,
    })
}

const LONGEST_ID: usize = 64;

fn checked_id(id: &str) -> Result<String, RegistryError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let good = id.len() <= LONGEST_ID
        && id.bytes().next().is_some_and(plain)
        && id.bytes().all(|b| plain(b) || b"._-".contains(&b));
    if good { Ok(id.to_owned()) } else { Err(RegistryError::InvalidId { id: id.to_owned() }) }
}

/// `My Project!` → `my-project`. A name without any usable character gives `project`.
fn derived_id(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut id = String::new();
    for c in name.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c) {
            id.push(c);
        } else if !id.ends_with('-') {
            id.push('-');
        }
        if id.len() == LONGEST_ID {
            break;
        }
    }
    let id = id.trim_matches(['-', '.', '_']);
    if id.is_empty() { "project".to_owned() } else { id.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (name, id) in [
            ("My Project!", "my-project"),
            (".dotfiles", "dotfiles"),
            ("a.b_c-d", "a.b_c-d"),
            ("\u{65e5}\u{672c}", "project"),
            ("__claude__", "claude"),
        ] {
            assert_eq!(derived_id(&Path::new("/x").join(name)), id);
            assert!(checked_id(id).is_ok());
        }
        for bad in ["", "-a", "A", "a b", "__claude__", "a/b", &"a".repeat(65)] {
            assert!(checked_id(bad).is_err(), "{bad}");
        }
    }
}
