"""Small integers for words that stand in columns."""

from __future__ import annotations


class Codes:
    """Per column, each word gets the next integer from 0 at its first use."""

    def __init__(self) -> None:
        self._codes: dict[str, dict[str, int]] = {}

    def of(self, column: str, word: str) -> int:
        """The code of a word; a new one is given when it is new."""
        words = self._codes.setdefault(column, {})
        return words.setdefault(word, len(words))

    def known(self, column: str, word: str) -> int | None:
        """The code of a word, or None when it was never used."""
        return self._codes.get(column, {}).get(word)

    def words(self, column: str) -> list[str]:
        """The words of a column by their codes."""
        return list(self._codes.get(column, {}))
