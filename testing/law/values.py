"""Values of functions of dates and texts, computed by Python's datetime and str, and by no SQLite.

    python testing/law/values.py > testing/law/values.tsv

A line has an expression over the column `v`, the text in it, and the value: `null`, an integer, a number with a point, or a
text in quotes. `tests/it/values.rs` compares the encoding with them.
"""

from datetime import datetime, timedelta

DAYS = [
    "2020-01-01", "2020-02-28", "2020-02-29", "2019-12-31", "2000-02-29", "1900-03-01", "1999-06-15", "2024-07-04",
    "1970-01-01", "2038-01-19", "0001-01-01", "9998-12-31", "2021-03-31", "2023-11-30",
    "2020-01-01 10:30:00", "2019-12-31 23:59:59", "2020-02-29 00:00:00", "1999-06-15 12:00:01",
]
NO_DAYS = ["", "abc", "2020", "2020-13-01", "20-01-01", "2020/01/01", "01-01-2020", "2020-00-10"]
# Only the letters of ASCII have another case, and blanks alone are trimmed.
TEXTS = ["", "a", "Ab", "ab ab", " pad ", "É", "straße", "10%", "a_b", "A'B", "tab\tx", "日本語", "aXbXc"]


def parsed(text):
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, form)
        except ValueError:
            pass
    return None


def moved(day, years=0, months=0):
    """A day that the month does not have is one of the next month."""
    month = day.year * 12 + day.month - 1 + years * 12 + months
    first = day.replace(year=month // 12, month=month % 12 + 1, day=1)
    return first + timedelta(days=day.day - 1)


def date_of(day):
    return day.strftime("%Y-%m-%d").rjust(10, "0")


def julian(day):
    return (day - datetime(2000, 1, 1, 12)).total_seconds() / 86400 + 2451545


CALENDAR = {
    "date(v)": date_of,
    "time(v)": lambda day: day.strftime("%H:%M:%S"),
    "datetime(v)": lambda day: f"{date_of(day)} {day:%H:%M:%S}",
    "strftime('%Y', v)": lambda day: f"{day.year:04}",
    "strftime('%m', v)": lambda day: day.strftime("%m"),
    "strftime('%d', v)": lambda day: day.strftime("%d"),
    "strftime('%H:%M', v)": lambda day: day.strftime("%H:%M"),
    "strftime('%j', v)": lambda day: day.strftime("%j"),
    "strftime('%w', v)": lambda day: day.strftime("%w"),
    "strftime('%Y-%m', v)": lambda day: date_of(day)[:7],
    "date(v, '+1 day')": lambda day: date_of(day + timedelta(days=1)),
    "date(v, '-40 days')": lambda day: date_of(day - timedelta(days=40)) if day.year > 1 else None,
    "date(v, '+1 month')": lambda day: date_of(moved(day, months=1)),
    "date(v, '-1 year')": lambda day: date_of(moved(day, years=-1)) if day.year > 1 else None,
    "date(v, 'start of month')": lambda day: date_of(day.replace(day=1)),
    "date(v, 'start of year')": lambda day: date_of(day.replace(month=1, day=1)),
    "julianday(v)": julian,
    "julianday(v) - julianday('2020-01-01')": lambda day: julian(day) - julian(datetime(2020, 1, 1)),
    "CAST(strftime('%Y', v) AS INTEGER)": lambda day: day.year,
}


def ascii_case(text, change):
    return "".join(change(letter) if letter.isascii() else letter for letter in text)


def substr(text, start, length):
    """Places are counted from 1; what lies before the first place takes up length too."""
    first = start - 1
    return text[max(first, 0): max(first + length, 0)]


def like(text, pattern):
    """`%` is any text, `_` one letter; the letters of ASCII are the same in both cases."""
    text, pattern = ascii_case(text, str.lower), ascii_case(pattern, str.lower)
    ways = {0}
    for sign in pattern:
        if sign == "%":
            ways = {end for way in ways for end in range(way, len(text) + 1)}
        else:
            ways = {way + 1 for way in ways if way < len(text) and sign in ("_", text[way])}
    return int(len(text) in ways)


STRINGS = {
    "upper(v)": lambda text: ascii_case(text, str.upper),
    "lower(v)": lambda text: ascii_case(text, str.lower),
    "length(v)": len,
    "trim(v)": lambda text: text.strip(" "),
    "ltrim(v)": lambda text: text.lstrip(" "),
    "rtrim(v)": lambda text: text.rstrip(" "),
    "substr(v, 2)": lambda text: text[1:],
    "substr(v, 1, 2)": lambda text: substr(text, 1, 2),
    "substr(v, 0, 2)": lambda text: substr(text, 0, 2),
    "replace(v, 'a', 'xy')": lambda text: text.replace("a", "xy"),
    "instr(v, 'b')": lambda text: text.find("b") + 1,
    "v || '-' || v": lambda text: f"{text}-{text}",
    "v LIKE 'a%'": lambda text: like(text, "a%"),
    "v LIKE '%B%'": lambda text: like(text, "%B%"),
    "v LIKE '_'": lambda text: like(text, "_"),
    "v LIKE 'É'": lambda text: like(text, "É"),
    "v < 'b'": lambda text: int(text.encode() < b"b"),
}


def written(value):
    if value is None:
        return None
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value)


def lines():
    for text in DAYS + NO_DAYS:
        day = parsed(text)
        for expression, function in CALENDAR.items():
            # A year alone is a Julian day, and no day.
            if text == "2020" or day is None and text not in NO_DAYS:
                continue
            value = written(function(day)) if day else "null"
            # Python has no year 0.
            if value is not None:
                yield expression, text, value
    for text in TEXTS:
        for expression, function in STRINGS.items():
            yield expression, text, written(function(text))


for expression, text, value in lines():
    print(expression, text.replace("\t", "\\t"), value.replace("\t", "\\t"), sep="\t")
