"""Tasks in Genius, a calculator: what was worked out, by what its terminal has shown."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

from hands import wait, write
from pluriverse_server.kit import Look, Task
from words import GOODS, word

Parameters = dict[str, Any]

# Where all that the terminal shows is written.
SHOWN = "console.txt"


class _Calculation(Task):
    """Something is worked out: ``change`` returns what is typed, its result, and more."""

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        typed, result, more = self.change(rng)
        return {"typed": typed, "result": result, **more}

    def check(self, p: Parameters, look: Look) -> float:
        """A number that was only written down isn't worked out."""
        worked_out = _worked_out(look.home / SHOWN).items()
        results = [result for expression, result in worked_out if re.search(r"[-+*/^()]", expression[1:])]
        return float(any(abs(each - p["result"]) <= 0.001 * abs(p["result"]) for each in results))

    def oracle(self, p: Parameters, computer: Any) -> None:
        write(computer, f"{p['typed']}\n")
        wait(computer)

    def trap_only_written(self, p: Parameters, home: Path) -> None:
        _show(home / SHOWN, str(p["result"]), p["result"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        _show(home / SHOWN, p["typed"], p["result"] + 1 + p["result"] / 100)


def _worked_out(path: Path) -> dict[str, float]:
    """Return what was typed with its results, those that are whole or decimal numbers."""
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", path.read_bytes().decode())
    pairs = re.findall(r"^.*genius> (.+)\n= (-?[\d.]+(?:e\+?\d+)?)$", shown, re.MULTILINE)
    return {expression: float(result) for expression, result in pairs}


def _show(path: Path, expression: str, result: float) -> None:
    path.write_text(f"genius> {expression}\n= {result}\n")


class CalculatorExpression(_Calculation):
    words = "Work out {expression}."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        a, b, c, d = (rng.randrange(11, 100) for _ in range(4))
        return f"({a}+{b})*{c}-{d}", (a + b) * c - d, {"expression": f"({a} + {b}) * {c} - {d}"}


class CalculatorPower(_Calculation):
    words = "Work out {base} to the power of {exponent}."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        base, exponent = rng.randrange(3, 10), rng.randrange(5, 13)
        return f"{base}^{exponent}", base**exponent, {"base": base, "exponent": exponent}


class CalculatorBill(_Calculation):
    words = "Work out what {counts} cost together."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        rows = [(rng.randrange(2, 30), goods, rng.randrange(2, 40)) for goods in rng.sample(GOODS, 3)]
        typed = "+".join(f"{count}*{price}" for count, _, price in rows)
        counts = ", ".join(f"{count} {goods} at {price} each" for count, goods, price in rows)
        return typed, sum(count * price for count, _, price in rows), {"counts": counts}


class CalculatorMean(_Calculation):
    words = "Work out the mean of {numbers} as a decimal number."
    split = "test"

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        numbers = [rng.randrange(10, 500) for _ in range(5)]
        joined = "+".join(map(str, numbers))
        return f"({joined})/5.0", sum(numbers) / 5, {"numbers": ", ".join(map(str, numbers))}


class CalculatorTax(_Calculation):
    words = "A {what} costs {net} before {tax} % of tax. Work out its price with tax as a decimal number."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        net, tax = rng.randrange(50, 900), rng.randrange(5, 26)
        return f"{net}*(100+{tax})/100.0", net * (100 + tax) / 100, {"what": word(rng), "net": net, "tax": tax}


class CalculatorRoot(_Calculation):
    words = "Work out how long the diagonal of a field of {width} by {length} m is."
    difficulty = 2

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        width, length = rng.randrange(20, 200), rng.randrange(200, 400)
        more = {"width": width, "length": length}
        return f"sqrt({width}^2+{length}^2)", (width**2 + length**2) ** 0.5, more


class CalculatorInterest(_Calculation):
    words = (
        "{capital} earn {rate} % of interest a year, which is added at each year's end. Work out as a decimal "
        "number what they are after {years} years."
    )
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        capital, rate, years = 100 * rng.randrange(5, 90), rng.randrange(2, 9), rng.randrange(3, 12)
        more = {"capital": capital, "rate": rate, "years": years}
        return f"{capital}*(1+{rate}/100.0)^{years}", capital * (1 + rate / 100) ** years, more


class CalculatorVariable(_Calculation):
    words = "Set the variable {name} to {one} times {other}."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        name, one, other = f"{word(rng)}{rng.randrange(10)}", rng.randrange(11, 99), rng.randrange(11, 99)
        return f"{name}={one}*{other}", one * other, {"name": name, "one": one, "other": other}

    def check(self, p: Parameters, look: Look) -> float:
        worked_out = _worked_out(look.home / SHOWN).items()
        values = [value for expression, value in worked_out if re.match(rf"{p['name']}\s*:?=", expression)]
        return super().check(p, look) * (values == [p["result"]])
