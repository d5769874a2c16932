//! Figures for people and for the catalogue: sizes, token counts, plurals. The same wording in the
//! block, the chip and the lists.

/// A size with its unit, decimal: `812 B`, `8.2 MB`, `48 KB`.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if size < 1000 {
        return format!("{size} B");
    }
    let mut value = size as f64;
    let mut unit = "B";
    for next in UNITS {
        value /= 1000.0;
        unit = next;
        // 999.5 would be rounded to 1000 of this unit.
        if value < 999.5 {
            break;
        }
    }
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A token count: the plain number under a thousand, else thousands, rounded: `250`, `3K`.
pub fn tokens(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{}K", (count + 500) / 1000) }
}

/// `1 file`, `2 files`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_like_the_spec() {
        let sizes = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (8_200_000, "8.2 MB"),
            (48_000, "48 KB"),
            (9_960, "10 KB"),
            (999_600, "1.0 MB"),
            (u64::MAX, "18446744 TB"),
        ];
        for (size, expected) in sizes {
            assert_eq!(bytes(size), expected);
        }
        for (count, expected) in
            [(0, "0"), (999, "999"), (1000, "1K"), (3_200, "3K"), (61_499, "61K")]
        {
            assert_eq!(tokens(count), expected);
        }
        assert_eq!(counted(1, "file", "files"), "1 file");
    }
}
