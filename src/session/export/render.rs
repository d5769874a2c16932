//! An answer's Markdown as HTML that can do nothing but be read. HTML in it is shown as text; a link
//! goes to the web or to a mailbox, else its address is shown; an image is never loaded, its
//! description and address are shown. Every other tag is one of this file's own.

use std::borrow::Cow;

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
};

use super::mask::Masker;
use crate::ui::{is_unprintable, one_line};

/// The extensions that agents use in their answers.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Elements inside each other, at most: what is deeper is shown flat. Browsers have such a limit too,
/// and some of them crash before it.
const DEEPEST: usize = 64;
/// The most characters of a code block's language.
const LONGEST_LANGUAGE: usize = 40;
const ITEM_END: &str = "</li>\n";
/// The longest address that becomes a link, in bytes.
const LONGEST_ADDRESS: usize = 2_000;

/// `text` with what HTML gives a meaning written so that it has none, and characters that nobody can
/// see written as escapes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            // A browser makes `\n` of it anyway.
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_unprintable(c) => safe.push_str(&one_line(c.encode_utf8(&mut [0; 4]))),
            c => safe.push(c),
        }
    }
    safe
}

/// The HTML of one answer below a heading of level `heading`. `message` is its number, for the list
/// of what was masked.
pub(super) fn answer(text: &str, message: usize, heading: usize, masker: &mut Masker) -> String {
    let text = masker.mask(text, Some(message), 1).into_owned();
    let mut page = Page {
        html: String::with_capacity(text.len() + text.len() / 4),
        masker,
        message,
        heading,
        open: Vec::new(),
        alignments: Vec::new(),
        column: 0,
        in_head: false,
        links: Vec::new(),
    };
    let events = Parser::new_ext(&text, options()).into_offset_iter();
    let (mut line, mut counted) = (1, 0);
    for (event, place) in TextMergeWithOffset::new(events) {
        // Places go back only to the start of a block that is still open.
        if counted < place.start {
            line += text.as_bytes()[counted..place.start].iter().filter(|b| **b == b'\n').count();
            counted = place.start;
        }
        page.event(event, line);
    }
    page.html
}

struct Page<'m> {
    html: String,
    masker: &'m mut Masker,
    message: usize,
    heading: usize,
    /// For each open tag what closes it; empty for one that was left out.
    open: Vec<&'static str>,
    alignments: Vec<Alignment>,
    column: usize,
    in_head: bool,
    /// What stands behind the text of each open link or image.
    links: Vec<Link>,
}

enum Link {
    /// Nothing: it is a real one, or its text is its address.
    Plain,
    /// Its address is shown behind its text.
    Shown(String),
}

impl Page<'_> {
    fn event(&mut self, event: Event<'_>, line: usize) {
        match event {
            Event::Start(tag) => self.start(tag, line),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.text(&text, line),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, line),
            Event::Code(text) => {
                self.html.push_str("<code>");
                self.text(&text, line);
                self.html.push_str("</code>");
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, line),
            Event::FootnoteReference(text) => self.text(&text, line),
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>\n"),
            Event::Rule => self.html.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.html.push_str(if done { "☑ " } else { "☐ " }),
        }
    }

    /// Escapes and backslashes are resolved here: a secret that was in two pieces is whole now.
    fn text(&mut self, text: &str, line: usize) {
        let safe = escape(&self.masker.mask(text, Some(self.message), line));
        self.html.push_str(&safe);
    }

    fn start(&mut self, tag: Tag<'_>, line: usize) {
        let (opening, closing): (Cow<'static, str>, &'static str) = match tag {
            // The list decides for its items: their marks stand on one side.
            Tag::Paragraph if self.in_item() => ("<p>".into(), "</p>\n"),
            Tag::Paragraph => ("<p dir=\"auto\">".into(), "</p>\n"),
            Tag::Heading { level, .. } => match level as usize + self.heading {
                ..=3 => ("<h3 dir=\"auto\">".into(), "</h3>\n"),
                4 => ("<h4 dir=\"auto\">".into(), "</h4>\n"),
                5 => ("<h5 dir=\"auto\">".into(), "</h5>\n"),
                6.. => ("<h6 dir=\"auto\">".into(), "</h6>\n"),
            },
            Tag::BlockQuote(_) => ("<blockquote dir=\"auto\">\n".into(), "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or(""),
                    CodeBlockKind::Indented => "",
                };
                let label = match language {
                    "" => String::new(),
                    name => {
                        let name: String = name.chars().take(LONGEST_LANGUAGE).collect();
                        format!("<figcaption>{}</figcaption>", escape(&name))
                    }
                };
                // Reachable by keyboard: it scrolls sideways.
                let opening = format!("<figure>{label}<pre tabindex=\"0\"><code>");
                (opening.into(), "</code></pre></figure>\n")
            }
            Tag::HtmlBlock => {
                ("<pre class=\"html\" tabindex=\"0\"><code>".into(), "</code></pre>\n")
            }
            Tag::List(None) => ("<ul dir=\"auto\">\n".into(), "</ul>\n"),
            Tag::List(Some(1)) => ("<ol dir=\"auto\">\n".into(), "</ol>\n"),
            Tag::List(Some(first)) => {
                // Browsers count in 32 bits.
                let first = i32::try_from(first).unwrap_or(i32::MAX);
                (format!("<ol dir=\"auto\" start=\"{first}\">\n").into(), "</ol>\n")
            }
            Tag::Item => ("<li>".into(), ITEM_END),
            Tag::Table(alignments) => {
                self.alignments = alignments;
                ("<div class=\"wide\" tabindex=\"0\"><table>\n".into(), "</table></div>\n")
            }
            Tag::TableHead => {
                (self.column, self.in_head) = (0, true);
                ("<thead><tr>".into(), "</tr></thead>\n")
            }
            Tag::TableRow => {
                self.column = 0;
                ("<tr>".into(), "</tr>\n")
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => ("<em>".into(), "</em>"),
            Tag::Strong => ("<strong>".into(), "</strong>"),
            Tag::Strikethrough => ("<del>".into(), "</del>"),
            Tag::Link { link_type, dest_url, .. } => {
                let address = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.into_string(),
                };
                self.link(&address, link_type == LinkType::Autolink, line)
            }
            Tag::Image { dest_url, .. } => {
                self.links.push(Link::Shown(dest_url.into_string()));
                ("<span class=\"image\">image: ".into(), "</span>")
            }
            // Of extensions that are not switched on.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => ("".into(), ""),
        };
        let shown = self.open.len() < DEEPEST;
        if shown {
            self.html.push_str(&opening);
        }
        self.open.push(if shown { closing } else { "" });
    }

    fn end(&mut self, end: TagEnd) {
        if matches!(end, TagEnd::Link | TagEnd::Image)
            && let Some(Link::Shown(address)) = self.links.pop()
        {
            let address = self.masker.mask(&address, Some(self.message), 1).into_owned();
            let address = escape(&one_line(&address));
            self.html.push_str(&format!(" <span class=\"address\">({address})</span>"));
        }
        self.in_head &= end != TagEnd::TableHead;
        let closing = self.open.pop().unwrap_or_default();
        self.html.push_str(closing);
    }

    fn in_item(&self) -> bool {
        self.open.last() == Some(&ITEM_END)
    }

    fn cell(&mut self) -> (Cow<'static, str>, &'static str) {
        let class = match self.alignments.get(self.column) {
            Some(Alignment::Left) => " class=\"left\"",
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::None) | None => "",
        };
        self.column += 1;
        let (name, closing) = if self.in_head { ("th", "</th>") } else { ("td", "</td>") };
        (format!("<{name}{class} dir=\"auto\">").into(), closing)
    }

    fn link(
        &mut self,
        address: &str,
        is_its_text: bool,
        line: usize,
    ) -> (Cow<'static, str>, &'static str) {
        let address = self.masker.mask(address, Some(self.message), line).into_owned();
        if !is_reachable(&address) {
            self.links.push(if is_its_text { Link::Plain } else { Link::Shown(address) });
            return ("<span>".into(), "</span>");
        }
        self.links.push(Link::Plain);
        let href = escape(&address);
        (format!("<a href=\"{href}\" rel=\"noopener noreferrer nofollow\">").into(), "</a>")
    }
}

/// An address that a link may lead to: nothing that runs, loads a file, or hides what it is.
fn is_reachable(address: &str) -> bool {
    let begins =
        |with: &str| address.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    ["http://", "https://", "mailto:"].into_iter().any(begins)
        && address.len() <= LONGEST_ADDRESS
        && !address.chars().any(|c| is_unprintable(c) || c.is_whitespace())
}
