//! A first message from the display text alone, and a context out of thin air.
use omni_run::context::{AutoContext, DisplayText, FirstMessage, SentText};

fn main() {
    let _ = FirstMessage::compose(DisplayText::new("hi"));
    let _ = SentText { prefix: String::new(), display: String::new() };
    let _ = AutoContext::build(&Default::default(), todo!());
}
