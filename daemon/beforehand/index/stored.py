"""Names and dictionaries of a memory that was read from a segment: an entry is made when it is first asked for.

A first touch asks for a few dozen of a hundred thousand words. Each question that goes to the arrays takes 3 to 5 us,
an entry of a dictionary that is made whole 0.3; so after as many questions as making all would have cost,
all are made, and from then on these are a plain dictionary and a plain list. A method that was looked up before
(`map(names.__getitem__, ...)`) goes on with the plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from beforehand.index.growing import Codes
from beforehand.index.named import Arrays, Columns, Named, Numbers
from beforehand.index.postings import Postings


def _of_all(name: str) -> Callable[..., Any]:
    """A method of a dictionary that needs all entries."""
    plain = getattr(dict, name)

    def method(asked: dict[str, Any], *given: Any) -> Any:
        if isinstance(asked, _Asked):
            asked.whole()
        return plain(asked, *given)

    return method


class _Asked(dict[str, Any]):
    """Has what was asked for and what came since. `whole` makes it a dictionary like any other."""

    def made(self, key: str) -> Any:
        """The entry of a key that is not at hand; None when there is none."""
        raise NotImplementedError

    def whole(self) -> None:
        """Make all that is left, in the order of what was written; from now on nothing of this is Python's work."""
        raise NotImplementedError

    def get(self, key: str, default: Any = None) -> Any:
        """As of a dictionary; no entry is None."""
        found = dict.get(self, key)
        if found is None and _asks(self):
            found = self.made(key)
        return default if found is None else found

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As of a dictionary."""
        self.get(key)
        return dict.setdefault(self, key, default)

    def __contains__(self, key: object) -> bool:
        """As of a dictionary."""
        if dict.__contains__(self, key):
            return True
        return _asks(self) and isinstance(key, str) and self.made(key) is not None


for _name in (
    *("__len__", "__iter__", "__reversed__", "__delitem__", "__eq__", "__ne__", "__or__", "__ror__", "__ior__"),
    *("__repr__", "keys", "values", "items", "pop", "popitem", "copy", "clear"),
):
    setattr(_Asked, _name, _of_all(_name))


def _asks(held: object) -> bool:
    """Whether not all is made yet. A method that was looked up when it was not may be called when it is."""
    return isinstance(held, _Asked | StoredNames)


class Whole(dict[str, Postings]):
    """A dictionary that stood in a segment, all of it made."""

    def merged(self) -> dict[str, Postings]:
        """A plain copy in the same order."""
        return dict(self)


class Stored(_Asked, Whole):
    """A dictionary from names to columns, with what came since. Becomes `Whole`.

    Where one integer stands for each name (ids, of which a long history has millions) only for whoever wants them all.
    """

    def __init__(self, named: Named, columns: Columns) -> None:
        super().__init__()
        self._named = named
        self._columns = columns

    def merged(self) -> dict[str, Postings]:
        """A plain copy in the order of what was written; this one stays as it is."""
        found = dict(zip(self._named.all(), self._columns.all(), strict=True))
        dict.update(found, dict.items(self))
        return found

    def __missing__(self, key: str) -> Any:
        """The entry of a key, made now. Raises KeyError."""
        found = self.made(key)
        if found is None:
            raise KeyError(key)
        return found

    def made(self, key: str) -> Any:
        """See `_Asked`."""
        if not self._columns.single and self._named.paid:
            self.whole()
            return self.get(key)
        number = self._named.number(key)
        if number is None:
            return None
        found = self[key] = self._columns.of(number)
        return found

    def longer(self) -> tuple[Arrays, Numbers] | None:
        """What it stands on, with what came since behind it. None: not one integer stands for each, or one changed."""
        if not self._columns.single:
            return None
        new: dict[str, int] = {}
        for name, found in dict.items(self):
            number = self._named.number(name)
            if number is None and type(found) is int:
                new[name] = found
            elif number is None or self._columns.of(number) != found:
                return None
        names = self._named.longer(list(new))
        return None if names is None else (names, self._columns.longer(list(new.values())))

    def whole(self) -> None:
        """See `_Asked`."""
        merged = self.merged()
        del self._named, self._columns
        self.__class__ = Whole  # type: ignore[assignment]  # that is the point
        self.clear()
        self.update(merged)


class _Names(list[str]):
    """Names that stood in a segment, all of them made."""


class StoredNames(_Names):
    """Names by number, with those that came since. Becomes `_Names`."""

    def __init__(self, named: Named) -> None:
        super().__init__([None] * len(named))  # type: ignore[list-item]  # made on demand
        self._named = named

    def merged(self) -> list[str]:
        """A plain copy; this one stays as it is."""
        return self._named.all() + super().__getitem__(slice(len(self._named), None))

    def __getitem__(self, number: Any) -> Any:
        """One name, or a list of them for a slice."""
        found: Any = list.__getitem__(self, number)
        if not _asks(self):
            return found
        if found is None and number >= 0 and not self._named.paid:
            found = self[number] = self._named.name(number)
        elif found is None or isinstance(number, slice):
            found = self._whole()[number]
        return found

    def __iter__(self) -> Iterator[str]:
        """All names in order."""
        return iter(self._whole())

    def _whole(self) -> list[str]:
        merged = self.merged()
        del self._named
        self.__class__ = _Names  # type: ignore[assignment]
        self[:] = merged
        return self


class StoredCodes(_Asked, Codes):
    """Names that were numbered, and are numbered on. Becomes `Codes`."""

    def __init__(self, named: Named) -> None:
        super().__init__()
        self._named = named
        self.names = StoredNames(named)

    def __len__(self) -> int:
        """How many names there are."""
        return len(self.names)

    def __missing__(self, name: str) -> int:
        """The code of a name, a new one for a new name."""
        code = self.made(name)
        return Codes.__missing__(self, name) if code is None else code

    def made(self, key: str) -> Any:
        """See `_Asked`."""
        if self._named.paid:
            self.whole()
            return self.get(key)
        code = self._named.number(key)
        if code is not None:
            self[key] = code
        return code

    def whole(self) -> None:
        """See `_Asked`."""
        names = names_of(self)
        del self._named
        self.__class__ = Codes  # type: ignore[assignment]
        self.clear()
        self.update(zip(names, count()))


def names_of(codes: Codes) -> list[str]:
    """The names by their codes; nothing of the codes is changed."""
    return codes.names.merged() if isinstance(codes.names, StoredNames) else list(codes.names)
