"""Tables and figures in Markdown."""

ABSENT = ""


def table(heads, rows, left=1, words=()):
    """Aligned, so that it reads as text too: the first `left` columns and those headed by `words` to the left, figures to the
    right. Columns in which no row has anything are left out."""
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    lines = [[line[i] for i in kept] for line in (heads, *rows)]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(kept))]
    texts = [i < left or heads[i] in words for i in kept]
    lines = ["| " + " | ".join(cell.ljust(width) if text else cell.rjust(width)
                               for cell, width, text in zip(line, widths, texts)) + " |" for line in lines]
    rule = ("-" * (width + 2) if text else "-" * (width + 1) + ":" for width, text in zip(widths, texts))
    lines.insert(1, "|" + "|".join(rule) + "|")
    return "\n".join(lines)


def without_repeats(rows, columns):
    """What stands in the row above is not said again."""
    shown, before = [], [None] * columns
    for row in rows:
        same = 0
        while same < columns and row[same] == before[same]:
            same += 1
        shown.append([""] * same + row[same:])
        before = row[:columns]
    return shown


def whole(value):
    return ABSENT if value is None else f"{value:,.0f}"


def clients(number):
    return f"{number:,} client{'s' if number != 1 else ''}"


def digits(value, count=3):
    """So many significant digits, no exponent."""
    if value is None:
        return ABSENT
    if abs(value) >= 10 ** (count - 1):
        return f"{value:,.0f}"
    text = f"{value:#.{count}g}"
    return text.rstrip(".") if "e" not in text else f"{value:.1g}"


def throughput(spread):
    """The median, and how far least and most are from it at most."""
    if not spread:
        return ABSENT
    return f"{spread['median']:,.0f}{deviation(spread)}"


def deviation(spread):
    if not spread["median"] or spread["least"] == spread["most"]:
        return ""
    most = max(spread["most"] - spread["median"], spread["median"] - spread["least"]) / spread["median"]
    return f" ±{most * 100:.0f}%"


def ratio(spread, with_range=False, goal=None):
    """`goal`: what is below it by less than two digits show would look as if it had reached it, and has one more."""
    if not spread:
        return ABSENT
    text = f"{spread['median']:.2f}"
    if goal is not None and spread["median"] < goal <= float(text):
        text = f"{spread['median']:.3f}"
    return text if not with_range or spread["least"] == spread["most"] else f"{text} ({spread['least']:.2f} to {spread['most']:.2f})"


def milliseconds(microseconds):
    """Of a spread its median. 0 is the latency of nothing: no transaction ended."""
    value = microseconds["median"] if isinstance(microseconds, dict) else microseconds
    return digits(value / 1000) if value else ABSENT


def settings(values):
    return "\n".join(f"- {name}: {_short(value)}" for name, value in values.items())


def _short(value):
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value).replace("\n", " ")
