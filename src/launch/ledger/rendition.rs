//! Which character attributes an engine has left on (SGR). Only whether each is on: colours are not
//! kept, since the engine paints anew after a stop.

/// One bit for each attribute that has its own "off".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rendition(u16);

impl Rendition {
    /// Nothing is on.
    pub(super) fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// Takes the parameters of `CSI … m`.
    pub(super) fn apply(&mut self, params: &[u8]) {
        let mut items = params.split(|b| *b == b';');
        while let Some(item) = items.next() {
            // `4:3` and `38:2::1:2:3` are one item each.
            let mut parts = item.split(|b| *b == b':');
            let number = super::number(parts.next().unwrap_or_default()).unwrap_or(0);
            let second = parts.next();
            match number {
                0 => self.0 = 0,
                4 if second == Some(b"0".as_slice()) => self.0 &= !bit(4),
                38 | 48 | 58 => {
                    self.0 |= bit(number);
                    if second.is_none() {
                        skip_colour(&mut items);
                    }
                }
                _ => self.one(number),
            }
        }
    }

    fn one(&mut self, number: u16) {
        match number {
            1..=9 | 11..=20 | 26 | 51..=53 | 73 | 74 => self.0 |= bit(number),
            21 => self.0 |= bit(4),
            30..=37 | 90..=97 => self.0 |= bit(38),
            40..=47 | 100..=107 => self.0 |= bit(48),
            10 | 22..=25 | 27..=29 | 39 | 49 | 50 | 54 | 55 | 59 | 75 => {
                self.0 &= !off_bits(number);
            }
            _ => {}
        }
    }
}

/// `38;5;N` and `38;2;R;G;B` go on in the next items.
fn skip_colour<'a>(items: &mut impl Iterator<Item = &'a [u8]>) {
    let more = match items.next() {
        Some(b"5") => 1,
        Some(b"2") => 3,
        _ => 0,
    };
    for _ in 0..more {
        items.next();
    }
}

fn bit(number: u16) -> u16 {
    let place = match number {
        1 | 2 => 0,
        3 | 20 => 1,
        4 => 2,
        5 | 6 => 3,
        7 => 4,
        8 => 5,
        9 => 6,
        11..=19 => 7,
        26 => 8,
        38 => 9,
        48 => 10,
        58 => 11,
        51 | 52 => 12,
        53 => 13,
        _ => 14,
    };
    1 << place
}

fn off_bits(number: u16) -> u16 {
    bit(match number {
        10 => 11,
        22 => 1,
        23 => 3,
        24 => 4,
        25 => 5,
        27 => 7,
        28 => 8,
        29 => 9,
        39 => 38,
        49 => 48,
        50 => 26,
        54 => 51,
        55 => 53,
        59 => 58,
        _ => 73,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attribute_has_its_own_end() {
        let plain = |params: &[&str]| {
            let mut rendition = Rendition::default();
            params.iter().for_each(|p| rendition.apply(p.as_bytes()));
            rendition.is_plain()
        };
        assert!(plain(&["1;38;5;1;48;2;0;0;7", "22;39;49"]));
        assert!(plain(&["1;31", ""]) && plain(&["7;0"]) && plain(&["4:3", "4:0"]));
        assert!(plain(&["38:2::1:2:3", "39"]) && plain(&["91;102", "39;49"]));
        assert!(!plain(&["38;5;0"]), "the 0 is a colour, not a reset");
        assert!(!plain(&["1;3", "22"]) && !plain(&["0;7"]));
    }
}
