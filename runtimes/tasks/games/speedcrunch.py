"""Tasks in SpeedCrunch, a calculator: what is in the session that it has saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

from hands import click, press, wait, write
from pluriverse_server.kit import Look, Task
from words import GOODS, word

Parameters = dict[str, Any]


class _Calculation(Task):
    """Something is worked out, and the session is saved: ``change`` returns what is typed, its result, and more."""

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        typed, result, more = self.change(rng)
        return {"session": f"{word(rng)}.json", "typed": typed, "result": result, **more}

    def check(self, p: Parameters, look: Look) -> float:
        """A number that was only written down isn't worked out."""
        history = _session(look.home / p["session"]).get("history", [])
        results = [_number(each) for each in history if re.search(r"[-+*/^()\u00d7\u00f7]", each["expression"][1:])]
        return float(any(abs(each - p["result"]) <= 0.001 * abs(p["result"]) for each in results))

    def oracle(self, p: Parameters, computer: Any) -> None:
        click(computer, 500, 755)
        write(computer, f"{p['typed']}\n")
        press(computer, "ctrl+s")
        wait(computer, 1.0)
        write(computer, f"{p['session']}\n")
        wait(computer)

    def trap_only_written(self, p: Parameters, home: Path) -> None:
        _save(home / p["session"], str(p["result"]), p["result"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        _save(home / p["session"], p["typed"], p["result"] + 1 + p["result"] / 100)


def _session(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def _number(entry: dict[str, Any]) -> float:
    try:
        return float(entry["result"]["numeric_value"]["value"])
    except (KeyError, TypeError, ValueError):
        return float("nan")


def _save(path: Path, expression: str, result: float) -> None:
    entry = {"expression": expression, "result": {"numeric_value": {"value": str(result)}}}
    path.write_text(json.dumps({"history": [entry]}))


class CalculatorExpression(_Calculation):
    words = "Work out {expression}, and save the session as {session} in the home folder."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        a, b, c, d = (rng.randrange(11, 100) for _ in range(4))
        return f"({a}+{b})*{c}-{d}", (a + b) * c - d, {"expression": f"({a} + {b}) * {c} - {d}"}


class CalculatorPower(_Calculation):
    words = "Work out {base} to the power of {exponent}, and save the session as {session} in the home folder."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        base, exponent = rng.randrange(3, 10), rng.randrange(5, 13)
        return f"{base}^{exponent}", base**exponent, {"base": base, "exponent": exponent}


class CalculatorBill(_Calculation):
    words = "Work out what {counts} cost together, and save the session as {session} in the home folder."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        rows = [(rng.randrange(2, 30), goods, rng.randrange(2, 40)) for goods in rng.sample(GOODS, 3)]
        typed = "+".join(f"{count}*{price}" for count, _, price in rows)
        counts = ", ".join(f"{count} {goods} at {price} each" for count, goods, price in rows)
        return typed, sum(count * price for count, _, price in rows), {"counts": counts}


class CalculatorMean(_Calculation):
    words = "Work out the mean of {numbers}, and save the session as {session} in the home folder."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        numbers = [rng.randrange(10, 500) for _ in range(5)]
        joined = "+".join(map(str, numbers))
        return f"({joined})/5", sum(numbers) / 5, {"numbers": ", ".join(map(str, numbers))}


class CalculatorTax(_Calculation):
    words = (
        "A {what} costs {net} before {tax} % of tax. Work out its price with tax, and save the session as {session}."
    )

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        net, tax = rng.randrange(50, 900), rng.randrange(5, 26)
        return f"{net}*(100+{tax})/100", net * (100 + tax) / 100, {"what": word(rng), "net": net, "tax": tax}


class CalculatorRoot(_Calculation):
    words = "Work out how long the diagonal of a field of {width} by {length} m is, and save the session as {session}."
    difficulty = 2

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        width, length = rng.randrange(20, 200), rng.randrange(200, 400)
        more = {"width": width, "length": length}
        return f"sqrt({width}^2+{length}^2)", (width**2 + length**2) ** 0.5, more


class CalculatorInterest(_Calculation):
    words = (
        "{capital} earn {rate} % of interest a year, which is added at each year's end. Work out what they are after "
        "{years} years, and save the session as {session} in the home folder."
    )
    difficulty = 2

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        capital, rate, years = 100 * rng.randrange(5, 90), rng.randrange(2, 9), rng.randrange(3, 12)
        more = {"capital": capital, "rate": rate, "years": years}
        return f"{capital}*(1+{rate}/100)^{years}", capital * (1 + rate / 100) ** years, more


class CalculatorVariable(_Calculation):
    words = "Set the variable {name} to {one} times {other}, and save the session as {session} in the home folder."

    def change(self, rng: Random) -> tuple[str, float, Parameters]:
        name, one, other = f"{word(rng)}{rng.randrange(10)}", rng.randrange(11, 99), rng.randrange(11, 99)
        return f"{name}={one}*{other}", one * other, {"name": name, "one": one, "other": other}

    def check(self, p: Parameters, look: Look) -> float:
        variables = _session(look.home / p["session"]).get("variables", [])
        values = [
            float(each["value"]["numeric_value"]["value"]) for each in variables if each["identifier"] == p["name"]
        ]
        return super().check(p, look) * (values == [p["result"]])
