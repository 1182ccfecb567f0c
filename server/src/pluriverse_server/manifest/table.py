"""The base of every table of runtime.toml, and the strings in it that have a syntax of their own."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .conditions import ConditionError, names_in
from .placeholders import check_known


class Table(BaseModel):
    """A table of TOML: no unknown keys, no conversions, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _check_condition(text: str) -> str:
    try:
        names_in(text)
    except ConditionError as error:
        raise ValueError(str(error)) from None
    return text


def _check_conditions(by_reason: dict[str, str]) -> dict[str, str]:
    for condition in by_reason.values():
        _check_condition(condition)
    return by_reason


def _check_pattern(pattern: str) -> str:
    # Imported here: only runtimes with [sources] need it.
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"expected a regular expression: {error}") from None
    return pattern


def _check_template(text: str) -> str:
    check_known([text])
    return text


def _check_command(words: list[str]) -> list[str]:
    check_known(words)
    return words


Condition = Annotated[str, AfterValidator(_check_condition)]
Conditions = Annotated[dict[str, str], AfterValidator(_check_conditions)]
Pattern = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_check_pattern)]
Template = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_check_template)]
Command = Annotated[list[str], Field(min_length=1), AfterValidator(_check_command)]
Name = Annotated[str, Field(min_length=1, max_length=4096)]
