"""What stands outermost in the text of a query, as the scripts beside this one need it."""

import re

TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^]]*\]|[()]|\border\s+by\b|\blimit\b", re.IGNORECASE)


def clauses(query):
    """Where the ORDER BY and the LIMIT begin that stand outside of all parentheses and quotes, by their first word."""
    depth, found = 0, {}
    for match in TOKEN.finditer(query):
        token = match.group()
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0 and token[:1].lower() in "ol":
            found[token.split()[0].lower()] = match.start()
    return found


def is_sorted(query):
    """Whether the rows of the whole query are sorted."""
    return "order" in clauses(query)


def with_all_keys(query, width):
    """The sorted query with all its results behind its keys, so that no two rows that differ are equal."""
    query = query.rstrip().rstrip(";")
    end = clauses(query).get("limit", len(query))
    return f"{query[:end].rstrip()}, {', '.join(map(str, range(1, width + 1)))} {query[end:]}".rstrip()
