//! The coaching profile (S25): a section of its own behind the docs, whole or not at all.

use super::defuse;

/// The heading of the section.
pub(crate) const HEADING: &str = "## About the person you work with";
/// The most that the profile may be, in bytes.
pub(crate) const CAP_BYTES: u64 = 16 * 1024;

/// The section; `None` for an empty profile and for one over the cap.
pub(crate) fn section(text: &str, defuse_images: bool) -> Option<String> {
    if text.trim().is_empty() || text.len() as u64 > CAP_BYTES {
        return None;
    }
    let text = if defuse_images { defuse::image_paths(text) } else { text.into() };
    Some(format!("{HEADING}\n\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s25_whole_or_not_at_all() {
        assert_eq!(
            section("short\n", false).as_deref(),
            Some("## About the person you work with\n\nshort\n")
        );
        assert_eq!(section(" \n", false), None);
        let full = "x".repeat(CAP_BYTES as usize);
        assert!(section(&full, false).is_some_and(|section| section.ends_with(&full)));
        assert_eq!(section(&format!("{full}x"), false), None);
    }
}
