"""Groups of commands: an unknown name is refused with the nearest one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click


class Group(click.Group):
    """A command with subcommands."""

    elsewhere: Mapping[str, str] = MappingProxyType({})
    """Words that only a subcommand accepts, with the words that call it."""

    def unknown(self, ctx: click.Context, name: str) -> click.UsageError:
        """Return the error for a name that is not a command of this group."""
        from difflib import get_close_matches

        names = self.list_commands(ctx)
        near = get_close_matches(name, [*names, *self.elsewhere], n=1, cutoff=0.4)
        hint = (
            f"did you mean {self.elsewhere.get(near[0], near[0])}?" if near else f"the commands are {', '.join(names)}"
        )
        return click.UsageError(f"no command named {name!r}; {hint}", ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing) and self.get_command(ctx, name) is None:
            raise self.unknown(ctx, name)
        return super().resolve_command(ctx, args)
