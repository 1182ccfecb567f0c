"""Tasks in Gnumeric, a spreadsheet: what is in the cells of its workbook when that was saved."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task
from sheets import Rows, Sheet, Value, prices, read_sheet, reference, write_sheet
from words import file, word

Parameters = dict[str, Any]


class _Prices(Task):
    """A table of goods, how many of them and at what price; ``more`` returns further parameters."""

    def setup(self, rng: Random, home: Path) -> Parameters:
        p: Parameters = {"file": file(rng, "xlsx"), "rows": prices(rng)}
        write_sheet(home / p["file"], p["rows"])
        return p | self.more(rng, p["rows"])

    def more(self, rng: Random, rows: Rows) -> Parameters:
        return {}

    def check(self, p: Parameters, look: Look) -> float:
        return float(self.right(p, read_sheet(look.home / p["file"])))

    def right(self, p: Parameters, sheet: Sheet) -> bool:
        return sheet.rows() == p["wanted"]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _fill(computer, p["wanted"])
        _save(computer)

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        write_sheet(home / p["file"], p["wrong"])


class _Formula(_Prices):
    """A formula is put into a cell: the parameters ``at``, ``formula`` and ``result``."""

    def right(self, p: Parameters, sheet: Sheet) -> bool:
        value, formula = sheet.value(p["at"]), sheet.formula(p["at"])
        alone = Sheet("", {at: cell for at, cell in sheet.cells.items() if at != p["at"]})
        right = isinstance(value, float) and abs(value - p["result"]) < 0.01
        return right and bool(re.search("[A-Za-z]+[0-9]", formula)) and alone.rows() == p["rows"]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _put(computer, p["at"], p["formula"])
        _save(computer)

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        """A number isn't a formula."""
        write_sheet(home / p["file"], _with(p["rows"], p["at"], p["result"]))


def _with(rows: Rows, at: str, value: Value) -> Rows:
    row, column = int(at[1:]), ord(at[0]) - 64
    more: Rows = [[*each] for each in rows] + [[] for _ in range(row - len(rows))]
    more[row - 1] += [""] * (column - len(more[row - 1]))
    more[row - 1][column - 1] = value
    return more


def _put(computer: Any, at: str, text: str) -> None:
    press(computer, "ctrl+Home", *["Down"] * (int(at[1:]) - 1), *["Right"] * (ord(at[0]) - 65))
    write(computer, f"{text}\n")


def _fill(computer: Any, rows: Rows) -> None:
    """Clear the sheet, and write these cells from A1 on."""
    press(computer, "ctrl+a", "Delete", "ctrl+Home")
    for row in rows:
        write(computer, "\t".join(map(str, row)) + "\n")


def _save(computer: Any) -> None:
    press(computer, "ctrl+s")
    wait(computer, 1.0)


class SheetTotal(_Formula):
    words = "Put a formula into cell {at} that adds up the counts (column B), and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        last = len(rows)
        return {"at": f"B{last + 2}", "formula": f"=sum(b2:b{last})", "result": sum(float(row[1]) for row in rows[1:])}


class SheetAverage(_Formula):
    words = "Put a formula into cell {at} for the average price (column C), and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        mean = sum(float(row[2]) for row in rows[1:]) / (len(rows) - 1)
        return {"at": f"E{rng.randrange(2, 6)}", "formula": f"=average(c2:c{len(rows)})", "result": mean}


class SheetHighest(_Formula):
    words = "Put a formula into cell {at} that gives the highest price (column C), and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        highest = max(float(row[2]) for row in rows[1:])
        return {"at": f"F{rng.randrange(1, 6)}", "formula": f"=max(c2:c{len(rows)})", "result": highest}


class SheetWorth(_Formula):
    words = "Put a formula into cell {at} for what all goods are worth: each count times its price, added up. Save it."
    difficulty = 2

    def more(self, rng: Random, rows: Rows) -> Parameters:
        formula = f"=sumproduct(b2:b{len(rows)},c2:c{len(rows)})"
        return {"at": "C12", "formula": formula, "result": sum(float(row[1]) * float(row[2]) for row in rows[1:])}


class SheetCountAbove(_Formula):
    words = "Put a formula into cell {at} that counts the prices (column C) above {limit}, and save the workbook."
    split = "test"
    difficulty = 2

    def more(self, rng: Random, rows: Rows) -> Parameters:
        limit = sorted(int(row[2]) for row in rows[1:])[rng.randrange(1, 4)]
        above = sum(float(row[2]) > limit for row in rows[1:])
        formula = f'=countif(c2:c{len(rows)},">{limit}")'
        return {"at": "E1", "formula": formula, "result": above, "limit": limit}


class SheetCorrect(_Prices):
    words = "The count of {what} is wrong. It is {count}: correct it, and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        at, count = rng.randrange(2, len(rows) + 1), rng.randrange(100, 1000)
        more = {"what": rows[at - 1][0], "count": count, "at": f"B{at}"}
        return more | {"wanted": _with(rows, f"B{at}", count), "wrong": _with(rows, f"C{at}", count)}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _put(computer, p["at"], str(p["count"]))
        _save(computer)


class SheetAddRow(_Prices):
    words = (
        "Add a row for {what} below the others, with the count {count} and the price {price}, and save the workbook."
    )
    split = "test"

    def more(self, rng: Random, rows: Rows) -> Parameters:
        more = {"what": word(rng), "count": rng.randrange(2, 100), "price": rng.randrange(100, 200)}
        wrong = [*rows, [more["what"], more["price"], more["count"]]]
        return more | {"wanted": [*rows, list(more.values())], "wrong": wrong}


class SheetDeleteRow(_Prices):
    words = "Delete the row of {what}, so that no empty row is left, and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        at = rng.randrange(1, len(rows) - 1)
        return {"what": rows[at][0], "wanted": rows[:at] + rows[at + 1 :], "wrong": [*rows[:at], [], *rows[at + 1 :]]}


class SheetSort(_Prices):
    words = "Sort the goods by their {by}, the lowest first, the titles staying at the top. Save the workbook."
    difficulty = 2

    def more(self, rng: Random, rows: Rows) -> Parameters:
        column = rng.choice((1, 2))
        by_other, by = (sorted(rows[1:], key=lambda row, at=at: float(row[at])) for at in (3 - column, column))
        if by_other == by:
            by_other = by_other[::-1]
        return {"by": str(rows[0][column]), "wanted": [rows[0], *by], "wrong": [rows[0], *by_other]}


class SheetSwapColumns(_Prices):
    words = "Let the columns count and price change places, their titles included, and save the workbook."
    split = "test"

    def more(self, rng: Random, rows: Rows) -> Parameters:
        swapped = [[row[0], row[2], row[1]] for row in rows]
        return {"wanted": swapped, "wrong": [rows[0], *swapped[1:]]}


class SheetColumn(_Prices):
    words = (
        'Add the column D, with the title "{title}" and in each row a formula for count times price. Save the workbook.'
    )
    difficulty = 2

    def more(self, rng: Random, rows: Rows) -> Parameters:
        title = word(rng)
        numbers = [[*row, float(row[1]) * float(row[2])] for row in rows[1:]]
        formulas = [[*row, f"=b{at}*c{at}"] for at, row in enumerate(rows[1:], 2)]
        top = [*rows[0], title]
        return {"title": title, "typed": [top, *formulas], "wanted": [top, *numbers], "wrong": [top, *numbers]}

    def right(self, p: Parameters, sheet: Sheet) -> bool:
        formulas = all(sheet.formula(reference(at, 4)) for at in range(2, len(p["rows"]) + 1))
        return formulas and sheet.rows() == p["wanted"]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _fill(computer, p["typed"])
        _save(computer)


class SheetBoldTitles(_Prices):
    words = "Make the three titles in row 1 bold, and nothing else. Save the workbook as {file}."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        return {"wrong": [[f"*{title}*" for title in rows[0]], *rows[1:]]}

    def right(self, p: Parameters, sheet: Sheet) -> bool:
        bold = {at for at, cell in sheet.cells.items() if cell.bold}
        return bold == {"A1", "B1", "C1"} and sheet.rows() == p["rows"]

    def oracle(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+Home", "shift+Right", "shift+Right", "ctrl+b")
        _save(computer)


class SheetName(_Prices):
    words = "Give the sheet the name {name} instead of Sheet1, and save the workbook."

    def more(self, rng: Random, rows: Rows) -> Parameters:
        name = word(rng).title()
        return {"name": name, "wrong": _with(rows, "A1", name)}

    def right(self, p: Parameters, sheet: Sheet) -> bool:
        return sheet.name == p["name"] and sheet.rows() == p["rows"]

    def oracle(self, p: Parameters, computer: Any) -> None:
        press(computer, "alt+e", *["Up"] * 4, "Right", "Up", "Up", "Return")
        wait(computer)
        write(computer, p["name"])
        press(computer, "alt+o")
        wait(computer)
        _save(computer)
