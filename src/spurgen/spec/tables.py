"""The probability tables of a world, and the order in which channels that follow one another are drawn."""

from __future__ import annotations

from spurgen.errors import SpecError
from spurgen.spec.coupling import Coupling, Even, Frame, Table
from spurgen.spec.world import World

_EVEN = Even(coupling="uniform")


def coupling(spec: World, environment: str, channel: str) -> Coupling:
    """How a channel is coupled in an environment; uniform where nothing is said."""
    return spec.environments[environment].get(channel, _EVEN)


def table(spec: World, environment: str, channel: str) -> Table:
    """P(attribute | label), or P(attribute | attribute of the channel it follows)."""
    law = coupling(spec, environment, channel)
    frame = Frame(
        path=f"environments.{environment}.{channel}",
        classes=tuple(spec.classes),
        values=spec.values(channel),
        aligned=spec.aligned(channel),
        parent=spec.values(law.follows) if law.follows else (),
    )
    return law.table(frame)


def order(spec: World, environment: str) -> list[str]:
    """Channels in an order in which each comes after the one it follows; a circle is an error."""
    done: list[str] = []
    for start in spec.channels:
        chain: list[str] = []
        name: str | None = start
        while name is not None and name not in done:
            if name in chain:
                circle = " → ".join([*chain[chain.index(name) :], name])
                raise SpecError(
                    f"environments.{environment}.{name}", f"channels follow one another in a circle: {circle}"
                )
            chain.append(name)
            name = coupling(spec, environment, name).follows
        done += reversed(chain)
    return done
