"""What a study found, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spurgen.compare.words import listed, probability
from spurgen.report.axes import percent
from spurgen.report.harm import Harm

if TYPE_CHECKING:
    from spurgen.report.summarize import Panel, ScopeSummary

SPELT = {"erm": "plain training (ERM)"}


def spelt(method: str) -> str:
    """A method as a sentence names it."""
    return SPELT.get(method, method)


def of_scope(
    model: str,
    asked: str,
    reference: str,
    best: str,
    panels: Mapping[str, Panel],
    harms: Sequence[Harm],
    methods: int,
) -> tuple[str, ...]:
    """What is most harmful, what helps, what it costs: a sentence each, as far as it is known.

    `asked` is the study's reference, `reference` the method that stands in its place where it has no finished trial.
    """
    found = [_harm(model, reference, harms)]
    if asked != reference:
        found.append(f"{asked}, with which all are to be compared, has no finished trial here: nothing is decided.")
    else:
        found += [_remedy(reference, best, panels, methods), _cost(reference, best, panels)]
    return tuple(sentence for sentence in found if sentence)


def _harm(model: str, reference: str, harms: Sequence[Harm]) -> str:
    there = [h for h in harms if math.isfinite(h.sss.mean)]
    if not there:
        return "How much the model leans on each channel is not known: no answers to edited rows were kept."
    worst = there[0]
    if not is_clear(worst):
        moved = f"moves the probability of the right class by {100 * worst.sss.mean:.1f} points on average"
        return (
            f"With {spelt(reference)}, {model} leans on no channel clearly: drawing the {worst.channel} anew, to which "
            f"it is most sensitive, {moved}, and its mistakes do not follow it."
        )
    start = (
        f"With {spelt(reference)}, {model} leans most on the {worst.channel}: drawing it anew moves the probability "
        f"of the right class by {100 * worst.sss.mean:.0f} points on average"
    )
    if math.isfinite(worst.led) and worst.led > worst.chance:
        led = f"of its mistakes where the {worst.channel} does not agree with the label {percent(worst.led)} name the "
        led += "class that it belongs to"
        return f"{start}, and {led} (by chance {percent(worst.chance)})."
    return f"{start}."


def is_clear(harm: Harm) -> bool:
    """Whether a model leans on a channel for certain: it moves beliefs, and mistakes go where it points.

    Any model that is not perfect is a little sensitive to everything, shortcuts or none.
    """
    moved = harm.sss.mean >= 0.02 and not harm.sss.low <= 0
    return moved and not harm.led <= harm.chance + 0.05  # what is not known (NaN) does not speak against it


def _remedy(reference: str, best: str, panels: Mapping[str, Panel], methods: int) -> str:
    panel = panels.get("worst_group_accuracy")
    if panel is None:
        return ""
    base = panel.of(reference).mean
    if not best and methods > 1:
        return f"No remedy has a finished trial that can be judged; the worst group of {spelt(reference)} is right " + (
            f"{percent(base)} of the time."
        )
    if not best:
        return f"Only {spelt(reference)} was run: its worst group is right {percent(base)} of the time."
    found = panel.against(best)
    if found is None or not math.isfinite(found.difference):
        return f"No remedy can be compared with {spelt(reference)}."
    if found.difference <= 0:
        return f"No remedy does better than {spelt(reference)} for the worst group ({percent(base)})."
    verdict = f"{best} lifts the worst group from {percent(found.reference_mean)} to {percent(found.mean)}"
    if found.decided:
        others = [c.method for c in panel.comparisons if c.decided and c.better and c.method != best]
        return f"{verdict}, which is decided (p {_p(found.p_holm)}){_also(others)}."
    if found.n < 2:
        return f"{verdict}, but one seed decides nothing."
    return f"{verdict}, but over {found.n} seeds that is not decided (p {_p(found.p_holm)})."


def _cost(reference: str, best: str, panels: Mapping[str, Panel]) -> str:
    clean, average = panels.get("weighted_accuracy"), panels.get("accuracy")
    if not best or clean is None:
        return ""
    found = clean.against(best)
    if found is None or not math.isfinite(found.difference):
        return ""
    change = 100 * found.difference
    if abs(change) < 0.05:
        verdict = f"On rows mixed as in training, {best} costs nothing"
    else:
        word = "costs" if change < 0 else "gains"
        verdict = f"On rows mixed as in training, {best} {word} {abs(change):.1f} points"
    verdict += f" ({percent(found.reference_mean)} to {percent(found.mean)}{'' if found.decided else ', not decided'})"
    other = average.against(best) if average is not None else None
    if other is None or not math.isfinite(other.difference):
        return f"{verdict}."
    way = "rises" if other.difference > 0 else "falls"
    return f"{verdict}; on all test rows its accuracy {way} by {abs(100 * other.difference):.1f} points."


def headline(scope: ScopeSummary) -> str:
    """The finding in a line."""
    first = next((h for h in scope.harms.get(scope.reference, []) if math.isfinite(h.sss.mean)), None)
    start = f"{scope.model} under {scope.reference}"
    if first is not None:
        start = f"{scope.model} leans on {f'the {first.channel}' if is_clear(first) else 'no channel clearly'}"
    panel = next(iter(scope.panels.values())).get("worst_group_accuracy")
    found = panel.against(scope.best) if panel is not None and scope.best else None
    if found is None:
        return f"{start}; {'no remedy was tried' if len(scope.planned) < 2 else 'no remedy can be judged'}"
    if found.decided and found.better:
        return f"{start}; {scope.best} helps"
    if found.difference > 0:
        return f"{start}; {scope.best} may help, but that is not decided"
    return f"{start}; no remedy helps"


def of_study(counts: Mapping[str, int], seeds: int, rule: str, early_stopping: bool = False) -> str:
    """What all of it rests on."""
    done = counts.get("done", 0)
    failed, still = counts.get("failed", 0), counts.get("open", 0)
    each = "one seed each" if seeds == 1 else f"{'up to ' if failed or still else ''}{seeds} seeds each"
    text = f"This rests on {done} finished {'trial' if done == 1 else 'trials'}, {each}"
    if failed:
        text += f"; {failed} failed"
    if still:
        text += f"; {still} {'is' if still == 1 else 'are'} still to be run, so this is an early look"
    chosen = "Settings and the moment of training" if early_stopping else "Settings"
    return f"{text}. {chosen} were selected by: {rule}."


def _p(p: float) -> str:
    if not math.isfinite(p):
        return "unknown"
    return probability(p, 0.05)


def _also(others: Sequence[str]) -> str:
    """Who else helps; many are only counted."""
    if len(others) < 2:
        return f"; so does {others[0]}, by less" if others else ""
    return f"; so do {listed(others) if len(others) < 4 else f'{len(others)} others'}, by less"
