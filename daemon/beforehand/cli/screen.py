"""A terminal that shows what somebody wrote as it is: their brackets are no markup, and nothing in it is a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

_PICTURES: Final = 0x2400
"""Where Unicode has a picture of each control character."""
SHOWN: Final = {
    **{code: _PICTURES + code for code in range(0x20) if chr(code) not in "\n\t"},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
}
"""Characters that a terminal may obey -> what is shown in their place."""


class Screen(Console):
    """Text is text: agents, users and tools wrote most of it. What is to be bold or red is given as `Text`."""

    def __init__(self, **options: Any) -> None:
        """options: as `rich.console.Console` takes them."""
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As the base class; what stands for a control character is measured, so that a table has room for it."""
        return super().render_str(text.translate(SHOWN), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As the base class, without a character that could move the cursor, or name the window."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else segment.text.translate(SHOWN)
            yield Segment(text, segment.style, segment.control)
