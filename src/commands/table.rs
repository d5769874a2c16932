//! Lists for people: columns that line up, readable without colour, each row on one line whatever
//! the names in it are.

use unicode_normalization::char::is_combining_mark;

use crate::ui::one_line;

/// Rows as columns; the columns in `right` are aligned to the right. Trailing blanks are cut.
pub(super) fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    table_with(rows, right, &[])
}

/// The same with a text at the end of each row, which is harmless already and may have styles.
pub(super) fn table_with(rows: &[Vec<String>], right: &[usize], ends: &[String]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            if column == widths.len() {
                widths.push(0);
            }
            widths[column] = widths[column].max(width(cell));
        }
    }
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - width(cell));
            let (before, after) =
                if right.contains(&column) { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            line.push_str(&format!("{before}{cell}{after}  "));
        }
        line.push_str(ends.get(number).map_or("", String::as_str));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How many columns of a terminal a text takes, near enough for lists.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match c as u32 {
            _ if is_combining_mark(c) => 0,
            0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0x1f300..=0x1faff
            | 0x2_0000..=0x3_fffd => 2,
            _ => 1,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_names_forge_no_row() {
        let rows = [["a", "1", "x"], ["e\u{301}\u{65e5}", "22", "y\nz"]]
            .map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, &[1]), "a     1  x\ne\u{301}\u{65e5}  22  y\\nz\n");
        assert_eq!(table(&[vec!["a".into(), String::new()]], &[]), "a\n");
    }
}
