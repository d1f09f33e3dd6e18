"""Runs a command in a terminal and writes what one sees there as SVG: terminal_picture.py COMMAND >FILE

The picture shows `$ COMMAND` and its output with the eight colors and bold. Its ground follows the
reader's color scheme.
"""
import os
import pty
import re
import sys
from xml.sax.saxutils import escape

COLUMNS, LINE, CHARACTER, MARGIN = 100, 18, 8.4, 14
COLORS = ["#6e7781", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#6e7781"]
STYLE = """
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .ground { fill: #f6f8fa; stroke: #d0d7de } .bold { font-weight: bold }
""" + "".join(f"  .c{i} {{ fill: {color} }}\n" for i, color in enumerate(COLORS)) + """
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ground { fill: #161b22; stroke: #30363d } }
"""


def output_of(command):
    """What the command writes to a terminal."""
    said = bytearray()

    def read(descriptor):
        data = os.read(descriptor, 65536)
        said.extend(data)
        return data

    os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS))
    own, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # where pty.spawn copies it
    pty.spawn(["/bin/sh", "-c", command], read)
    os.dup2(own, 1)
    return said.decode()


def pieces(line):
    """A line as (classes, text), by its SGR sequences."""
    color, bold = None, False
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            for number in map(int, (code[1] or "0").split(";")):
                if number == 0:
                    color, bold = None, False
                elif number == 1:
                    bold = True
                elif 30 <= number <= 37:
                    color = number - 30
                elif 90 <= number <= 97:
                    color = number - 90
        elif part and not part.startswith("\x1b"):
            yield " ".join([f"c{color}"] * (color is not None) + ["bold"] * bold), part


def wrapped(text):
    for line in text.replace("\r", "").rstrip("\n").split("\n"):
        if "\x1b" in line or len(line) <= COLUMNS:
            yield line
        else:
            yield from (line[i:i + COLUMNS] for i in range(0, len(line), COLUMNS))


def main():
    command = sys.argv[1]
    lines = [f"\x1b[1m$ {command}\x1b[0m", *wrapped(output_of(command))]
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">')
    print(f"<title>{escape(command)}</title><style>{STYLE}</style>")
    print(f'<rect class="ground" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="8"/>')
    for number, line in enumerate(lines):
        spans = "".join(f'<tspan class="{kind}">{escape(text)}</tspan>' if kind else escape(text)
                        for kind, text in pieces(line))
        print(f'<text x="{MARGIN}" y="{MARGIN + (number + 0.75) * LINE:.0f}">{spans}</text>')
    print("</svg>")


main()
