"""What MkDocs does not do by itself: the README of the tree as a page, the reference of the worker SDK,
and files outside of docs/ that pages point to, which come along as text.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

TREE = Path(__file__).parents[2]
REFERENCE = TREE / "build/docs/worker_sdk"
# Lines of a terminal are long, and are read to their end.
STYLE = ".md-grid { max-width: 84rem } .language-console code { white-space: pre-wrap }\n"
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?\)")


def outside(link, page):
    """The file of the tree that a link of a page in docs/ means, or None where that is in docs/."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if path.startswith("docs/") else path


def place_of(path):
    return "start.md" if path == "README.md" else f"source/{path}.txt"


def moved(text, page):
    """The text of a page, whose links to files outside of docs/ lead to where the site has these."""
    def link(match):
        path = outside(match[2], page)
        if path is None or not (TREE / path).is_file():
            return match[0]
        return f"{match[1]}{posixpath.relpath(place_of(path), posixpath.dirname(page) or '.')}{match[3] or ''})"
    return LINK.sub(link, text)


def start_page():
    text = (TREE / "README.md").read_text()
    links = LINK.sub(lambda m: f"{m[1]}{posixpath.relpath(m[2], 'docs')}{m[3] or ''})", text)
    return links.replace("# ddprun\n", "# Start here\n", 1)


def on_files(files, config):
    start = start_page()
    pages = {page.src_uri: page.content_string for page in files.documentation_pages()} | {"start.md": start}
    files.append(File.generated(config, "start.md", content=start))
    files.append(File.generated(config, "style.css", content=STYLE))
    linked = {outside(link[2], page) for page, text in pages.items() for link in LINK.finditer(text)}
    for path in sorted(path for path in linked if path and path != "README.md" and (TREE / path).is_file()):
        files.append(File.generated(config, place_of(path), abs_src_path=str(TREE / path)))
    for path in sorted(REFERENCE.rglob("*")):
        if path.is_file():
            place = f"worker_sdk/{path.relative_to(REFERENCE)}"
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    return moved(markdown, page.file.src_uri)
