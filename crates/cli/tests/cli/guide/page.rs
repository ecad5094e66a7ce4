//! A page in Markdown as text and fenced blocks, whose outputs can be replaced.

/// A page.
pub(super) struct Page {
    pub(super) pieces: Vec<Piece>,
}

/// Lines of text, or a fenced block.
pub(super) enum Piece {
    Text(String),
    Block(Block),
}

/// A fenced block.
pub(super) struct Block {
    /// The line of the page that opens it, from 1.
    pub(super) line: usize,
    /// What follows the fence: the language and its words.
    info: String,
    /// What is inside.
    pub(super) content: Content,
}

/// What a fenced block is.
pub(super) enum Content {
    /// ```` ```sh ````: one script.
    Script(String),
    /// ```` ```console ````: commands and what they print.
    Session(Vec<Step>),
    /// Another language.
    Other(String),
}

/// A command and what the page shows of its output.
pub(super) struct Step {
    /// As typed, lines and all, without the prompt.
    pub(super) command: String,
    /// Whole lines.
    pub(super) shown: String,
}

impl Page {
    /// Reads a page, or says at which line it cannot.
    pub(super) fn parse(text: &str) -> Result<Page, String> {
        let mut pieces = Vec::new();
        let mut lines = text.lines().enumerate();
        let mut prose = String::new();
        while let Some((number, line)) = lines.next() {
            let Some(info) = line.strip_prefix("```") else {
                prose.push_str(line);
                prose.push('\n');
                continue;
            };
            let mut body = Vec::new();
            loop {
                match lines.next() {
                    Some((_, "```")) => break,
                    Some((_, line)) => body.push(line),
                    None => return Err(format!("line {}: the block does not end", number + 1)),
                }
            }
            pieces.push(Piece::Text(std::mem::take(&mut prose)));
            pieces.push(Piece::Block(Block {
                line: number + 1,
                info: info.to_owned(),
                content: content(info, &body)
                    .map_err(|e| format!("the block at line {}: {e}", number + 1))?,
            }));
        }
        pieces.push(Piece::Text(prose));
        Ok(Page { pieces })
    }

    /// The page as it is written.
    pub(super) fn to_text(&self) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Block(block) => block.to_text(),
        });
        texts.collect()
    }
}

impl Block {
    /// The block with its fences.
    pub(super) fn to_text(&self) -> String {
        let body = match &self.content {
            Content::Script(text) | Content::Other(text) => text.clone(),
            Content::Session(steps) => steps
                .iter()
                .map(|step| format!("$ {}\n{}", step.command, step.shown))
                .collect(),
        };
        format!("```{}\n{body}```\n", self.info)
    }

    /// True if the word stands behind the language.
    pub(super) fn says(&self, word: &str) -> bool {
        self.info.split_whitespace().skip(1).any(|w| w == word)
    }

    /// What stands behind `KEY=`.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let mut words = self.info.split_whitespace().skip(1);
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// The values of `KEY=A,B`.
    pub(super) fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.value(key).into_iter().flat_map(|list| list.split(','))
    }

    /// Of what a command printed, what the page shows; `…` stands for the rest.
    pub(super) fn excerpt(&self, output: &str) -> String {
        let number = |key| -> Option<usize> {
            let value = self.value(key)?;
            Some(value.parse().unwrap_or_else(|_| panic!("{key}={value}")))
        };
        let lines = output.trim_end().lines();
        let lines: Vec<&str> = lines.map(str::trim_end).collect();
        let shown: Vec<bool> = if let Some(parts) = self.value("parts") {
            let parts: Vec<usize> = parts.split(',').map(|n| n.parse().unwrap()).collect();
            let numbers = lines.iter().scan(1, |part, line| {
                *part += usize::from(line.is_empty());
                Some(*part)
            });
            // A blank line counts as the first of the part after it.
            let of_part = |(part, line): (usize, &&str)| {
                let after = !line.is_empty() || parts.contains(&(part - 1));
                parts.contains(&part) && after
            };
            numbers.zip(&lines).map(of_part).collect()
        } else {
            let (head, tail) = match (number("head"), number("tail")) {
                (None, None) => (lines.len(), 0),
                (head, tail) => (head.unwrap_or(0), tail.unwrap_or(0)),
            };
            let last = lines.len().saturating_sub(tail);
            (0..lines.len()).map(|i| i < head || i >= last).collect()
        };
        let mut text = String::new();
        let mut hidden = false;
        for (line, shown) in lines.iter().zip(shown) {
            if shown {
                text.push_str(line);
                text.push('\n');
            } else if !hidden {
                text.push_str("…\n");
            }
            hidden = !shown;
        }
        text
    }
}

/// Reads what a block contains.
fn content(info: &str, body: &[&str]) -> Result<Content, String> {
    let text = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect();
    match info.split_whitespace().next() {
        Some("sh") => Ok(Content::Script(text(body))),
        Some("console") => session(body).map(Content::Session),
        _ => Ok(Content::Other(text(body))),
    }
}

/// Reads commands and what they print.
fn session(body: &[&str]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = body.iter();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_owned();
            while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
                let next = lines.next().ok_or("the last command goes on")?;
                command = format!("{command}\n{next}");
            }
            let shown = String::new();
            steps.push(Step { command, shown });
        } else {
            let step = steps.last_mut().ok_or("it does not begin with `$ `")?;
            step.shown.push_str(line);
            step.shown.push('\n');
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# A page
```console head=1 tail=1 status=3
$ echo a; \\
  echo b
a
…
$ true
```
and
```toml file=x.toml
a = 1
```
";

    fn block(page: &Page, nth: usize) -> &Block {
        let mut blocks = page.pieces.iter().filter_map(|piece| match piece {
            Piece::Block(block) => Some(block),
            Piece::Text(_) => None,
        });
        blocks.nth(nth).unwrap()
    }

    #[test]
    fn a_page_is_read_and_written_back() {
        let page = Page::parse(PAGE).unwrap();
        assert_eq!(page.to_text(), PAGE);
        let first = block(&page, 0);
        assert_eq!((first.line, first.value("status")), (2, Some("3")));
        let Content::Session(steps) = &first.content else {
            panic!("a session")
        };
        assert_eq!(steps[0].command, "echo a; \\\n  echo b");
        assert_eq!(steps[0].shown, "a\n…\n");
        assert_eq!(steps[1].shown, "");
        assert_eq!(block(&page, 1).value("file"), Some("x.toml"));
        assert!(Page::parse("```sh\n").is_err());
        assert!(Page::parse("```console\na\n```\n").is_err());
    }

    #[test]
    fn a_page_shows_the_part_that_it_asks_for() {
        let page = Page::parse(PAGE).unwrap();
        assert_eq!(block(&page, 0).excerpt("a\nb\nc\nd\n"), "a\n…\nd\n");
        assert_eq!(block(&page, 0).excerpt("a  \nd\n"), "a\nd\n");
        let parts = Page::parse("```console parts=1,3,4\n$ x\n```\n").unwrap();
        let shown = block(&parts, 0).excerpt("a\nb\n\nc\n\nd\n\ne\n\nf\n\n");
        assert_eq!(shown, "a\nb\n…\nd\n\ne\n…\n");
    }
}
