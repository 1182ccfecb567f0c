"""Tasks with a calculator on the left and a text on the right."""

from __future__ import annotations

from pathlib import Path
from random import Random

from beside import Answer, Parameters
from words import GOODS


class WorkOutSum(Answer):
    words = "Work out {sum} with the calculator, write the result into {file}, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        numbers = [rng.randrange(100, 10_000) for _ in range(4)]
        return str(sum(numbers)), str(sum(numbers) + 10), {"sum": " + ".join(map(str, numbers))}


class WorkOutRemainder(Answer):
    words = "{all} {what} are put into boxes of {box}. Write into {file} how many are left over, and save that."
    difficulty = 2

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        every, box = rng.randrange(2000, 9000), rng.randrange(17, 90)
        return str(every % box), str(every // box), {"all": every, "box": box, "what": rng.choice(GOODS)}


class WorkOutPower(Answer):
    words = "Write {base} to the power of {exponent} into {file} as a whole number without spaces, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        base, exponent = rng.randrange(3, 12), rng.randrange(7, 13)
        return str(base**exponent), str(base ** (exponent - 1)), {"base": base, "exponent": exponent}
