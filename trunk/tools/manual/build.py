"""Makes the pages of the manual, which the server serves at /docs/, from the Markdown of doc/manual and the files
of ELSEWHERE.

build.py TRUNK FOLDER        writes the pages into FOLDER
build.py TRUNK --list        prints their names

The menu is the list of doc/manual/README.md. A link to a file or heading that does not exist is an error. Needs Python-Markdown.
"""

import html
import json
import re
import sys
from pathlib import Path

import errors
import facts
import migrations

ASSETS = ["manual.css", "manual.js"]
SEARCH = "search.json"
# Pages elsewhere, because developers and programs read them too. scripts/make-pages.sh names them as well.
ELSEWHERE = {"config": "doc/config.md"}
GENERATED = re.compile(r"^<!-- generated: (\w+) -->$", re.M)


class Broken(Exception):
    """A page that cannot be made; the sentence names it."""


def sources(trunk: Path) -> dict[str, Path]:
    """Files by page name; `index` is README.md."""
    own = {("index" if path.stem == "README" else path.stem): path for path in sorted((trunk / "doc/manual").glob("*.md"))}
    return own | {name: trunk / path for name, path in ELSEWHERE.items()}


def names(trunk: Path) -> list[str]:
    return sorted([f"{name}.html" for name in sources(trunk)] + ASSETS + [SEARCH])


def menu(trunk: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of (page, title), from the headings and lists of README.md."""
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for line in (trunk / "doc/manual/README.md").read_text().splitlines():
        heading, entry = re.match(r"## (.+)", line), re.match(r"- \[(.+?)\]\((?:\.\./)?([\w-]+)\.md\)", line)
        if heading:
            groups.append((heading[1], []))
        elif entry and groups:
            groups[-1][1].append((entry[2], entry[1]))
    return groups


def slug(text: str, _separator: str = "-") -> str:
    """The anchor that code hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", html.unescape(text).strip().lower()).replace(" ", "-")


def linked(body: str, source: Path, pages: dict[str, Path]) -> str:
    """Links between Markdown files become links between pages; a link to another file of the sources becomes its path."""
    by_path = {path.resolve(): name for name, path in pages.items()}
    root = pages["index"].resolve().parents[3]

    def link(match):
        target, anchor, text = match[1], match[2] or "", match[3]
        if re.match(r"[a-z]+:", target) or not target:
            return match[0]
        path = (source.parent / target).resolve()
        if path in by_path:
            return f'<a href="{by_path[path]}.html{anchor}">{text}</a>'
        if not path.exists():
            raise Broken(f"{source.name}: the link {target} leads nowhere")
        place = f"<code>{html.escape(str(path.relative_to(root)))}</code>"
        return place if text.endswith(path.name) else f"{text} ({place} in the sources)"
    return re.sub(r'<a href="([^"#]*)(#[^"]*)?">(.*?)</a>', link, body, flags=re.S)


def checked_anchors(made: dict[str, str]) -> None:
    anchors = {name: set(re.findall(r' id="([^"]+)"', body)) for name, body in made.items()}
    for name, body in made.items():
        for target, anchor in re.findall(r'href="(?:([\w-]+)\.html)?#([^"]+)"', body):
            if anchor not in anchors[target or name]:
                raise Broken(f"{name}: no heading {anchor} in {target or name}")


def convert(trunk: Path) -> dict[str, tuple[str, str]]:
    """Title and body by page name."""
    import markdown  # pylint: disable=import-outside-toplevel  # --list works without it
    generators = {"errors": errors.tables, "srs": migrations.srs, "metrics": facts.metrics, "callbacks": facts.callbacks}
    pages = sources(trunk)
    titles, made = {}, {}
    for name, path in pages.items():
        text = GENERATED.sub(lambda match: generators[match[1]](trunk), path.read_text())
        title = re.search(r"^# (.+)$", text, re.M)
        if not title:
            raise Broken(f"{path}: no title")
        # The word after the language marks a block that a test runs; it is not part of the page.
        text = re.sub(r"^```(\w+) .*$", r"```\1", text, flags=re.M)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"], extension_configs={"toc": {"slugify": slug}})
        titles[name] = re.sub(r"[`*]", "", title[1])
        body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
        made[name] = linked(body, path, pages)
    checked_anchors(made)
    return {name: (titles[name], made[name]) for name in pages}


def side(groups, current: str) -> str:
    lines = []
    for title, entries in groups:
        lines.append(f"<p>{html.escape(title)}</p>\n<ul>")
        for name, text in entries:
            mark = ' aria-current="page"' if name == current else ""
            lines.append(f'<li><a href="{name}.html"{mark}>{html.escape(text)}</a></li>')
        lines.append("</ul>")
    return "\n".join(lines)


def header(trunk: Path) -> str:
    """The bar of all pages, from the one whose links are absolute, as a page below docs/ has it."""
    text = (trunk / "research/html/404.html").read_text()
    bar = re.search(r'<header class="bar">.*?</header>', text, re.S)[0].replace('href="/', 'href="../')
    return bar.replace('href="../docs/"', 'href="./" aria-current="page"')


def search_entries(made: dict[str, tuple[str, str]]) -> list[dict]:
    """An entry for each section: its page, anchor, title and words."""
    found = []
    for name, (title, body) in made.items():
        for part in re.split(r"(?=<h[123] id=)", body):
            heading = re.match(r'<h[123] id="([^"]+)">(.*?)</h[123]>', part, re.S)
            text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part)).split())
            if heading and text:
                own = html.unescape(re.sub(r"<[^>]+>", "", heading[2]))
                found.append({"page": name, "anchor": heading[1], "title": title, "heading": own, "text": text[:4000]})
    return found


def write(trunk: Path, folder: Path) -> None:
    made, groups = convert(trunk), menu(trunk)
    listed = {name for _, entries in groups for name, _ in entries}
    missing = set(made) - listed - {"index"}
    if missing or listed - set(made):
        raise Broken(f"doc/manual/README.md lists other pages than there are: {sorted(missing | (listed - set(made)))}")
    here = Path(__file__).parent
    page, bar = (here / "page.html").read_text(), header(trunk)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, body) in made.items():
        parts = {"title": html.escape(title), "header": bar, "side": side(groups, name), "body": body}
        (folder / f"{name}.html").write_text(re.sub(r"@(title|header|side|body)@", lambda match: parts[match[1]], page))  # pylint: disable=cell-var-from-loop
    for name in ASSETS:
        (folder / name).write_text((here / name).read_text())
    (folder / SEARCH).write_text(json.dumps(search_entries(made), ensure_ascii=False, separators=(",", ":")))


def main() -> int:
    trunk, where = Path(sys.argv[1]), sys.argv[2]
    if where == "--list":
        print("\n".join(names(trunk)))
        return 0
    try:
        write(trunk, Path(where))
    except Broken as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
