//! The pure parts of the search: terms, the query language, matching, ranking, snippets. With a store
//! they are tested in `session::tests`.

mod matching;
mod queries;
mod snippets;
mod terms;
