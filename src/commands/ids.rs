//! Ids for people: as many digits as tell the listed ones apart.

/// Digits of an id that say its millisecond; the least that a list shows.
pub(super) const SHORTEST: usize = 13;

/// How many characters of the ids tell them apart.
pub(super) fn unique_length(ids: impl Iterator<Item = String>) -> usize {
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let needed = ids.windows(2).map(|pair| common(&pair[0], &pair[1]) + 1).max().unwrap_or(0);
    needed.clamp(SHORTEST, 36)
}
