"""Every error the product raises, in one tree. Each says what is wrong and what to do about it."""

from __future__ import annotations


class BeforehandError(Exception):
    """Base of all errors; `str()` is one line: the problem, then the advice."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(f"{problem} {advice}".strip())
        self.problem = problem
        self.advice = advice


class Refusal(BeforehandError):
    """An inbound message that cannot be accepted: `field` names where, `advice` says what would be right."""

    def __init__(self, field: str, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.field = field

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.advice}"


class SettingsError(BeforehandError):
    """A setting that cannot be used."""


class LineError(BeforehandError):
    """A file that cannot be used: `file` and `line` (from 1) say where."""

    def __init__(self, file: str, line: int, problem: str, advice: str = "") -> None:
        super().__init__(f"{file}:{line}: {problem}", advice)
        self.problem = problem
        self.file = file
        self.line = line


class RuleError(LineError):
    """A rule pack that cannot be used."""


class ExportBroken(LineError):
    """An export that cannot be imported; nothing of it is."""


class BusError(BeforehandError):
    """The broker cannot be used now."""


class BusUnavailable(BusError):
    """No connection to the broker; the call may be repeated once it is back."""


class PublishRefused(BusError):
    """The broker answered a publish with a failure code (an ACL, a quota, a packet that is too large)."""


class MessageTooLarge(PublishRefused):
    """A message is larger than the broker takes; it would be refused again each time."""


class ClientIdTaken(BusError):
    """Another process uses this daemon's client id."""


class BrokerFailed(BusError):
    """The embedded broker could not be started."""


class JournalError(BeforehandError):
    """The journal cannot be used now; nothing that it was given has been acknowledged."""


class SchemaMismatch(JournalError):
    """The journal was written by a version whose schema this one does not know."""


class KeysUnusable(JournalError):
    """The keys of a sealed journal are missing, or are not its own."""


class Unstorable(JournalError):
    """Nothing of this call was stored, because some of it cannot be; the rest may be handed over again without it.

    entries: indices into the call's sequence of what cannot be stored.
    """

    def __init__(self, problem: str, advice: str = "", *, entries: tuple[int, ...] = ()) -> None:
        super().__init__(problem, advice)
        self.entries = entries


class OutboxError(BeforehandError):
    """The client's outbox cannot be used: its file is in use, another agent's, or unreadable."""


class EmbedderError(BeforehandError):
    """An embedder that cannot be loaded or does not answer."""


class LanguageModelError(BeforehandError):
    """The endpoint of a language model gave no answer.

    passing: whether it is at fault and may come back; else it is this request that it refuses. billed: whether the
    tokens of the request may have been spent all the same.
    """

    def __init__(self, problem: str, advice: str = "", *, passing: bool, billed: bool = False) -> None:
        super().__init__(problem, advice)
        self.passing = passing
        self.billed = billed


class AnswerRefused(BeforehandError):
    """What a language model answered is not in the form that was asked for, or is not bound to what it was given."""


class ModelRefused(BeforehandError):
    """A trigger model whose file, features or numbers do not match; the daemon goes on with rules."""


class RecordingError(BeforehandError):
    """A file of recorded runs that cannot be read, or holds what a daemon would refuse."""

    @classmethod
    def refused(cls, which: str, field: str, problem: str, hint: str) -> RecordingError:
        """Of what a daemon would say of a message; which: where it stands in the file."""
        return cls(f"{which}: {field}: {problem}.", f"A daemon asks: {hint}.")


class ExperimentError(BeforehandError):
    """An experiment that cannot be used, started or judged."""


class NotFound(BeforehandError):
    """Something asked for by id that does not exist here."""
