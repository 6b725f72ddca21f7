"""How does one draw lines without a plotting library? `plot`: both axes logarithmic, as SVG text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 420, 70, 300, 40, 50
COLOURS = "#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #999999 #7b3294 #a6611a".split()
DASHES = ("", "6 3", "2 3")


@dataclass(frozen=True)
class Line:
    """Points (x, y), both above 0, by x."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """An SVG picture of the lines, each named at its side."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    low, high = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        wide = math.log(max(xs) / min(xs)) or 1.0
        tall = math.log(high / low) or 1.0
        at = LEFT + (right - LEFT) * math.log(x / min(xs)) / wide
        return at, bottom - (bottom - TOP) * math.log(y / low) / tall

    drawn = [f'<text x="{LEFT}" y="22" font-size="16">{escape(title)}</text>']
    drawn += [
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>',
        f'<text x="{LEFT - 8}" y="{TOP - 8}" text-anchor="end">{escape(up)}</text>',
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        y = place(min(xs), 10.0**power)[1]
        drawn.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        drawn.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for x in sorted(set(xs)):
        at = place(x, low)[0]
        drawn.append(f'<path d="M{at:.1f} {TOP}V{bottom}" stroke="#ddd"/>')
        drawn.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{x:,.0f}</text>')
    for i, line in enumerate(lines):
        drawn += _line(i, line.name, [place(x, y) for x, y in line.points], right)
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _line(i: int, name: str, points: Sequence[tuple[float, float]], right: float) -> list[str]:
    """One line with its points, and its name in the legend."""
    colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
    style = f'stroke="{colour}" stroke-width="2" fill="none"' + (f' stroke-dasharray="{dash}"' if dash else "")
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    y = TOP + 8 + 18 * i
    return [
        f'<path d="{path}" {style}/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points),
        f'<path d="M{right + 20} {y}H{right + 44}" {style}/>',
        f'<text x="{right + 50}" y="{y + 4}">{escape(name)}</text>',
    ]
