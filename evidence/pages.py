"""Pages: their blocks, the marks of the ledger in them, and the numbers that they quote.

A mark is a comment with the names of entries, which no reader sees:

- on a line of its own, after an empty line, it is for the paragraph, list or table below it,
- in a row of a table it is for that row,
- in a paragraph or list item it is for the text before it, back to the mark before.

What is no prose is left out: code, addresses of links, comments, and what other programs
generate between `<!-- results: NAME -->` and `<!-- end -->`. A number is one in digits.
"""

import re
from dataclasses import dataclass, field

MARK = re.compile(r"<!-- evidence: ([^>]*?) -->")
# What `ledger.py write` puts before a mark in a line, and below a marked block.
NOTE = re.compile(r" ?\([^()]*measured at [^()]*\)(?= <!-- evidence: )")
NOTE_BELOW = re.compile(r"^\([^()]*measured at [^()]*\) <!-- measured -->$")
# In order: what is not prose. The text of a link stays.
HIDDEN = (
    re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.M | re.S),
    re.compile(r"<!-- results:.*?<!-- end -->", re.S),
    re.compile(r"<!-- generated.*?<!-- end -->", re.S),
    re.compile(r"<!--(?! evidence:).*?-->", re.S),
    re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.S),
    re.compile(r"(?<=\])\([^()\s]*(?:\([^()]*\)[^()]*)*\)"),
    re.compile(r"https?://[^\s)>]+|<[a-z/][^>]*>"),
    re.compile(r"^\[[^\]]+\]: .*$", re.M),
    re.compile(r"^ *\d+\.(?= )|(?<=^# )\d+\.(?= )", re.M),
)
UNITS = (
    "Gbit/s|Mbit/s|kbit/s|bit/s|ms|us|s|min|h|days?|hours?|minutes?|seconds?|kB|MB|GB|KiB|MiB|Kbytes|"
    "Mbytes|Mbyte|bytes|Mbit|kbit|packets|segments|cells|runs|flows|links|users|points|instructions"
)
NUMBER = re.compile(
    r"(?<![A-Za-z_0-9])(?<![A-Za-z_][-./:])(?<!\d[.,:])"
    r"(?P<sign>(?<=[\s(|])[+-])?(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d|[A-Za-z]+\d)"
    rf"(?:(?P<percent>\s?%)|\s?(?P<unit>{UNITS})(?![A-Za-z/])|(?P<word>\s[A-Za-z][\w'/-]*))?"
)
WORD_BEFORE = re.compile(r"([A-Za-z][\w'/.-]*|[(\[|])\s?$")
# A row, a list item and a heading are paragraphs of their own.
ITEM = re.compile(r"^(\||\s*[-*] |\s*\d+\. |#)", re.M)


@dataclass
class Number:
    """A number of a page; `phrase` is it with its unit or its neighbour."""

    line: int
    start: int
    end: int
    text: str
    sign: str
    value: float
    decimals: int
    unit: str
    phrase: str


@dataclass
class Span:
    """What one mark is for: a stretch of the page and the names of entries."""

    line: int
    start: int
    end: int
    names: list[str]
    # Whether the mark has a line of its own above, or is within the text.
    above: bool
    mark: tuple[int, int]


@dataclass
class Page:
    """A page as it is, and with all that is not prose blanked, at the same places."""

    name: str
    text: str
    prose: str = ""
    spans: list[Span] = field(default_factory=list)
    # (line, message)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def line_of(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def numbers(self, start: int = 0, end: int | None = None) -> list[Number]:
        end = len(self.prose) if end is None else end
        found = []
        for match in NUMBER.finditer(self.prose, start, end):
            digits = match["digits"].replace(",", "")
            unit = "%" if match["percent"] else match["unit"] or ""
            phrase = match.group()
            # An alphabetic neighbour says what a bare number is about.
            if not unit and not match["word"]:
                if before := WORD_BEFORE.search(
                    self.prose, max(start, match.start() - 40), match.start()
                ):
                    phrase = f"{before[1]}{'' if before[1] in '([' else ' '}{phrase}".lstrip("| ")
            found.append(
                Number(
                    line=self.line_of(match.start()),
                    start=match.start("digits"),
                    end=match.end("percent") if match["percent"] else match.end("digits"),
                    text=match.group(),
                    sign=match["sign"] or "",
                    value=float((match["sign"] or "") + digits),
                    decimals=len(digits.partition(".")[2]),
                    unit=unit,
                    phrase=" ".join(phrase.split()),
                )
            )
        # "2 to 5%": the first has the unit of the second.
        for number, after in reversed(list(zip(found, found[1:]))):
            between = self.prose[number.end : after.start]
            if (
                not number.unit
                and after.unit
                and re.fullmatch(r"(,| to| and| or|,? -|/)\s", between)
            ):
                number.unit = after.unit
                number.phrase = " ".join(
                    self.prose[number.start : after.start].split() + [after.phrase]
                )
        return found


def blank(match: re.Match) -> str:
    """The same length and lines; a character that ends words, but no space."""
    return re.sub(r"[^\n]", "\x00", match.group())


def read(name: str, text: str) -> Page:
    """Finds the marks of a page. A mark without something to be for is a fault."""
    page = Page(name, text)
    for pattern in HIDDEN:
        text = pattern.sub(blank, text)
    text = NOTE.sub(blank, text)
    text = re.sub(r"^\([^()]*measured at [^()]*\) ", blank, text, flags=re.M)
    page.prose = MARK.sub(blank, text)
    for mark in MARK.finditer(text):
        span = span_of(mark, text, page)
        page.spans.append(span)
        if not page.prose[span.start : span.end].strip("\0\n "):
            page.faults.append((page.line_of(mark.start()), "this mark is above nothing"))
        if not span.names:
            page.faults.append((page.line_of(mark.start()), "this mark names no entry"))
    return page


def span_of(mark: re.Match, text: str, page: Page) -> Span:
    """What a mark is for, given those before it."""
    begin = text.rfind("\n", 0, mark.start()) + 1
    end = text.find("\n", mark.end()) % (len(text) + 1)
    names = mark[1].split()
    alone = text[begin:end].strip() == mark.group()
    if alone and text[:begin].endswith(("\n\n", "-->\n")) or alone and begin == 0:
        below = text.find("\n\n", end)
        below = len(text.rstrip("\n")) if below < 0 else below
        return Span(page.line_of(end + 1), min(end + 1, below), below, names, True, mark.span())
    if text[begin] != "|":
        end = mark.start()
        begin = text.rfind("\n\n", 0, end) + 2 if "\n\n" in text[:end] else 0
        begin += max((m.start() for m in ITEM.finditer(text[begin:end])), default=0)
        earlier = [s.mark[1] for s in page.spans if not s.above and begin < s.mark[1]]
        begin = max([begin, *earlier])
    return Span(page.line_of(begin), begin, end, names, False, mark.span())
