//! The order of hits. Pure.
//!
//! BM25 over the messages that were looked at: a message is the better the more often it has the words,
//! the rarer those are, and the shorter it is. What is about as good is as good: within a twentieth
//! of the best score the newer comes first.

/// How soon more of the same word stops to count.
const K1: f64 = 1.2;
/// How much a long text is marked down.
const B: f64 = 0.75;
/// Steps between nothing and the best score.
const STEPS: f64 = 20.0;

/// How common a phrase is, by a sample of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Messages that have it, or may have.
    pub(super) having: f64,
    /// Messages in all.
    pub(super) of: f64,
}

impl Share {
    fn weight(self) -> f64 {
        let without = (self.of - self.having).max(0.0);
        (1.0 + (without + 0.5) / (self.having + 0.5)).ln()
    }
}

/// The scores of messages, each given by the counts of its phrases and its length in terms.
pub(super) fn scores<'m>(
    messages: impl Iterator<Item = (&'m [u32], u32)> + Clone,
    shares: &[Share],
) -> Vec<f64> {
    let (count, sum) = messages
        .clone()
        .fold((0.0, 0.0), |(count, sum), (_, length)| (count + 1.0, sum + f64::from(length)));
    let average = f64::max(sum / f64::max(count, 1.0), 1.0);
    messages
        .map(|(counts, length)| {
            let damping = K1 * (1.0 - B + B * f64::from(length) / average);
            let of_phrase = |(count, share): (&u32, &Share)| {
                let count = f64::from(*count);
                share.weight() * count * (K1 + 1.0) / (count + damping)
            };
            counts.iter().zip(shares).map(of_phrase).sum()
        })
        .collect()
}

/// The step of a score below the best one; 0 is best.
pub(super) fn step(score: f64, best: f64) -> u32 {
    if best <= 0.0 {
        return 0;
    }
    ((1.0 - score / best) * STEPS).round() as u32
}
