//! omni-run: starts any AI coding agent with the project's own documents in its first message.
