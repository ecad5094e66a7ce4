"""Runs the queries of docs/data.md, and holds the files of results to its tables.

    data.py docs/data.md

in a folder with the results of docs/data/sweep.toml: what a reader would type is what
is tested. Needs duckdb and polars.
"""

import contextlib
import io
import re
import sys

import duckdb
import polars as pl

TYPES = {"text": pl.String, "integer": pl.UInt64, "number": pl.Float64}
AXES = ["delay", "delay_s", "loss", "loss_ratio", "axis_transport"]


def queries(page):
    """The blocks of code, each with its language."""
    return re.findall(r"^```(sql|python)\n(.*?)^```$", page, re.M | re.S)


def columns(page):
    """Of each table, the columns with their types, as the page has them."""
    tables = {}
    for section in page.split("\n### ")[1:]:
        name = section.split("`")[1]
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.M)
        tables[name] = [(column, TYPES[kind]) for column, kind in rows]
    return tables


def run(language, code):
    if language == "sql":
        rows = duckdb.sql(code).fetchall()
        assert rows, f"no rows:\n{code}"
        assert not any(cell is None for row in rows for cell in row), f"{rows}:\n{code}"
        return rows
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    assert "shape: (0," not in out.getvalue(), f"no rows:\n{code}"
    return out.getvalue()


def main():
    page = open(sys.argv[1]).read()
    found = queries(page)
    assert len(found) >= 8, found
    answers = [run(language, code) for language, code in found]

    # Delays come in the order of numbers, and longer ones take longer.
    medians = [median for _, transport, median in answers[0] if transport == "cubic"]
    delays = [delay for delay, transport, _ in answers[0] if transport == "cubic"]
    assert delays == [0.05, 0.15, 0.25], delays
    assert medians == sorted(medians), medians

    # The files have the columns of the page, behind the axes.
    tables = columns(page)
    for name in ["results", "runs", "links", "crossings", "series"]:
        frame = pl.read_parquet(f"results/sweep/{name}.parquet")
        schema = list(frame.schema.items())
        assert [column for column, _ in schema[:5]] == AXES, schema[:5]
        assert schema[5:] == tables[name], (name, schema[5:], tables[name])
        assert frame["run"].n_unique() == 60, name
        assert frame["study"].unique().to_list() == ["sweep"], name
    results = pl.read_parquet("results/sweep/results.parquet")
    assert results.height == 60 and results["failure"].null_count() == 60
    assert results["scenario_hash"].n_unique() == 12

    # `bentpipe run` writes the same columns, without axes.
    for name in ["results", "runs", "links", "crossings", "series"]:
        schema = list(pl.read_parquet(f"one/{name}.parquet").schema.items())
        assert schema == tables[name], (name, schema)
    print(f"{len(found)} queries")


main()
