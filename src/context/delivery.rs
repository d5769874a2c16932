//! What one engine and model can take: the budget from its window, the route of the instructions,
//! the kinds of attachment that go as bytes. Made by the adapter from `engines.toml`.

/// The share of the window that the docs may take: a quarter (S11).
const SHARE_OF_WINDOW_DIVISOR: u64 = 4;
/// Bytes that count as one token in the budget (S11).
const BYTES_PER_TOKEN: u64 = 4;
/// The ceiling in bytes, whatever the window (S11).
const CEILING_BYTES: u64 = 500_000;
/// The ceiling in tokens, whatever the window (S11).
const CEILING_TOKENS: u64 = 125_000;

/// How many bytes of docs and instructions one first message may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    bytes: u64,
}

impl Budget {
    /// The budget for a window in tokens: `min(500,000; 25 % × 4; 125,000 × 4)` bytes.
    pub fn for_window(window_tokens: u64) -> Budget {
        let share = window_tokens.saturating_mul(BYTES_PER_TOKEN) / SHARE_OF_WINDOW_DIVISOR;
        Budget { bytes: share.min(CEILING_BYTES).min(CEILING_TOKENS * BYTES_PER_TOKEN) }
    }

    /// The highest budget any engine can have.
    pub fn ceiling() -> Budget {
        Budget { bytes: CEILING_BYTES }
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The figure people see, "50K": the one place that turns bytes into it.
    pub fn shown(self) -> String {
        format!("{}K", self.bytes / BYTES_PER_TOKEN / 1000)
    }
}

/// How the project's instructions reach the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionRoute {
    /// Appended to its system prompt.
    SystemPrompt,
    /// No append route: the section stands at the head of the block (S36).
    HeadOfBlock,
}

/// Which attachments reach this engine as bytes, and the sizes over which it or its API is known to
/// refuse them. What falls outside goes by path (S41).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentRules {
    /// Image kinds taken as bytes, of `png`, `jpeg`, `gif`, `webp`.
    pub images: Vec<String>,
    /// PDF as bytes.
    pub pdf: bool,
    /// docx, xlsx, pptx as bytes.
    pub office: bool,
    /// Largest image file, in bytes.
    pub max_image_bytes: u64,
    /// Largest image side, in pixels.
    pub max_image_side: u32,
    /// Largest PDF, in bytes.
    pub max_pdf_bytes: u64,
    /// Most PDF pages.
    pub max_pdf_pages: u32,
    /// All attachments of a message together, in bytes.
    pub max_total_bytes: u64,
    /// Most attachments by bytes in a message.
    pub max_count: usize,
}

/// What the pure builders need to know of an engine and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The window that the engine enforces for the model, in tokens.
    pub window_tokens: u64,
    /// Where the instructions go.
    pub instructions: InstructionRoute,
    /// What goes as bytes.
    pub attachments: AttachmentRules,
    /// The engine attaches an image for each path with an image ending that it sees in the text:
    /// such paths inside the docs are broken up so that they stay text.
    pub defuse_image_paths: bool,
}

impl Delivery {
    /// The budget of this engine and model.
    pub fn budget(&self) -> Budget {
        Budget::for_window(self.window_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budgets_that_the_spec_names() {
        assert_eq!(Budget::for_window(200_000).bytes(), 200_000);
        assert_eq!(Budget::for_window(200_000).shown(), "50K");
        assert_eq!(Budget::for_window(1_000_000).bytes(), 500_000);
        assert_eq!(Budget::for_window(1_000_000).shown(), "125K");
        assert_eq!(Budget::for_window(u64::MAX).bytes(), 500_000);
    }
}
