//! `compare --report`: the page that is handed on.

use crate::common::bentpipe_in;

/// A comparison that takes no time.
const QUICK: [&str; 5] = ["compare", "--runs", "3", "--transport", "cubic,bbr"];

/// Its size.
const SIZE: [&str; 2] = ["--size", "300 kB"];

/// The page of a comparison, and what the command printed beside it.
fn compared(more: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let words = [&QUICK[..], more, &["--report", "answer.html"]].concat();
    let text = bentpipe_in(folder.path(), &words).ok();
    let page = std::fs::read_to_string(folder.path().join("answer.html")).unwrap();
    (page, text)
}

/// The text of a page or a picture, without markup.
fn words(page: &str) -> String {
    let body = page.split_once("<main>").map_or(page, |(_, body)| body);
    let text: String = body
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
        .collect();
    let text = text.replace("&#39;", "'").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_says_what_the_command_prints() {
    let (page, text) = compared(&SIZE);
    let words = words(&page);
    let verdict = text.split("\n\n").nth(1).unwrap();
    let headline = verdict.lines().next().unwrap();
    assert!(page.contains(&format!("<h1>{headline}</h1>")), "{headline}");
    let sentences = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = sentences.split(". ").nth(1).unwrap();
    assert!(words.contains(first), "{first}\n{words}");
    for part in [
        "How long it takes",
        "What each user sees",
        "What it costs others",
        "What was assumed",
        "bentpipe compare --runs 3 --transport cubic,bbr --size '300 kB'",
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    // Nobody else has the author's folders.
    assert!(!words.contains("answer.html"), "{words}");
}

#[test]
fn the_page_needs_nothing_from_outside_and_is_the_same_each_time() {
    let (page, _) = compared(&["--users", "6", "--size", "300 kB"]);
    assert!(
        !page.contains("http") && !page.contains("<script"),
        "{page}"
    );
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    assert_eq!(
        page.matches("bar-strong\"").count(),
        1,
        "one recommendation"
    );
    // With several users each waits for less than all of them together.
    assert!(!page.contains("class=\"bar-bound\""));
    let (again, _) = compared(&["--users", "6", "--size", "300 kB"]);
    assert_eq!(page, again);
}

#[test]
fn bars_are_of_each_size_and_activity() {
    let (sizes, _) = compared(&["--size", "100kB,200kB"]);
    assert_eq!(sizes.matches("<div class=\"bars\">").count(), 2);
    assert!(sizes.contains("<h3>A download of 100 kB</h3>"));
    let (mixed, _) = compared(&["--traffic", "mixed", "--rate", "20Mbit/s"]);
    assert_eq!(mixed.matches("<div class=\"bars\">").count(), 3);
    assert!(mixed.contains("stalls a video"));
}

#[test]
fn what_comes_from_outside_is_text_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<b>&.trace";
    let rates = "0\n2\n2\n5\n9\n";
    std::fs::write(folder.path().join(name), rates).unwrap();
    let link = ["--trace", name, "--rtt", "60ms", "--report", "page.html"];
    let words = [&QUICK[..], &link].concat();
    bentpipe_in(folder.path(), &words).ok();
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("&lt;b&gt;&amp;.trace") && !page.contains("<b>"));
}

#[test]
fn a_page_that_cannot_be_written_is_found_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let words = [&QUICK[..], more].concat();
        bentpipe_in(folder.path(), &words).refused()
    };
    let error = refused(&["--report", "none/answer.html"]);
    assert!(error.contains("none/answer.html"), "{error}");
    let error = refused(&["--report", "a.svg", "--plot", "a.svg"]);
    assert!(error.contains("written twice"), "{error}");
}

/// A trace that says what is lost has no other losses, and none are printed.
#[test]
fn losses_of_a_trace_are_not_called_none() {
    let folder = tempfile::tempdir().unwrap();
    let trace = "1000000,20000000,4000000,42949673,1000\n1000000,30000000,2000000,0,1000\n";
    std::fs::write(folder.path().join("link.csv"), trace).unwrap();
    let files = ["--report", "page.html", "--plot", "bars.svg"];
    let words = [&QUICK[..], &SIZE, &["--trace", "link.csv"], &files].concat();
    let text = bentpipe_in(folder.path(), &words).ok();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("loss as in the trace"), "{text}");
    for file in ["page.html", "bars.svg"] {
        let drawn = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let drawn = self::words(&drawn);
        assert!(drawn.contains("as in the trace"), "{file}: {drawn}");
        assert!(
            !drawn.contains("loss 0%") && !drawn.contains("loss0%"),
            "{file}"
        );
    }
}
