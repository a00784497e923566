from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@contextmanager
def opened(
    browser: Any, path: Path, viewport: dict[str, int] = DESKTOP, scheme: str = "light", **how: Any
) -> Iterator[Any]:
    """The page from disk, without a network; whatever it asks for or complains of is an error."""
    context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True, **how)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    yield page
    context.close()
    elsewhere = [url for url in asked if url != path.as_uri() and not url.startswith(("data:", "blob:"))]
    assert elsewhere == [] and said == []


def open_all(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")


def visible(page: Any, selector: str) -> list[str]:
    """The text of what is shown of a selector."""
    shown = "elements => elements.filter(e => e.checkVisibility()).map(e => e.innerText)"
    return page.eval_on_selector_all(selector, shown)  # type: ignore[no-any-return]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_barriers(browser, axe, page_path, viewport, scheme):
    with opened(browser, page_path, viewport, scheme) as page:
        open_all(page)
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [(v["id"], v["help"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found["violations"]]
        assert told == [], json.dumps(told, indent=1)


def test_no_barriers_in_what_controls_show(browser, axe, page_path):
    with opened(browser, page_path) as page:
        page.evaluate(axe)
        page.select_option("#pick-scope", "1")
        page.select_option("#pick-measure", "ig_conflicting")
        page.click("#theme")
        open_all(page)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [v["id"] for v in found["violations"]] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE, {"width": 320, "height": 600}], ids=["desktop", "phone", "small"])
def test_nothing_scrolls_sideways_but_tables(browser, page_path, viewport, scheme):
    with opened(browser, page_path, viewport, scheme) as page:
        open_all(page)
        for at in ("0", "1"):
            page.select_option("#pick-scope", at)
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_measure_is_chosen(browser, page_path):
    with opened(browser, page_path) as page:
        seen = set()
        for key in page.eval_on_selector_all("#pick-measure option", "o => o.map(e => e.value)"):
            page.select_option("#pick-measure", key)
            (shown,) = visible(page, "#remedies .panel")
            assert page.locator("#remedies .panel:visible").get_attribute("data-measure") == key
            seen.add(shown)
        assert len(seen) == page.locator("#pick-measure option").count() > 4


def test_the_rule_is_chosen(browser, page_path):
    with opened(browser, page_path) as page:
        for rule in page.eval_on_selector_all("#pick-rule option", "o => o.map(e => e.value)"):
            page.select_option("#pick-rule", rule)
            panel = page.locator("#remedies .panel:visible")
            assert panel.count() == 1 and rule in panel.get_attribute("data-rule").split()
            assert page.locator("#cost .panel:visible").count() == 1


def test_the_model_is_chosen(browser, page_path):
    with opened(browser, page_path) as page:
        before = visible(page, "main")
        assert visible(page, "h1")[0].startswith("small_cnn")
        page.select_option("#pick-scope", "1")
        assert visible(page, "h1")[0].startswith("resnet18") and visible(page, "main") != before
        for section in ("harm", "remedies", "cost", "data"):
            assert page.locator(f"#{section} .panel:visible").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser, page_path, scheme):
    with opened(browser, page_path, scheme=scheme) as page:
        colour = "getComputedStyle(document.body).backgroundColor"
        first = page.evaluate(colour)
        assert (first == "rgb(253, 253, 251)") == (scheme == "light")
        page.click("#theme")
        second = page.evaluate(colour)
        assert second != first
        page.click("#theme")
        assert page.evaluate(colour) == first


def test_the_page_follows_the_system_until_someone_chooses(browser, page_path):
    with opened(browser, page_path) as page:
        page.emulate_media(color_scheme="dark")
        assert page.inner_text("#theme") == "Light"


def test_tables_are_sorted_both_ways(browser, page_path):
    with opened(browser, page_path) as page:
        open_all(page)
        table = page.locator("table[data-name=trials]")
        head = table.locator("thead th", has_text="worst_group_accuracy")
        at = head.evaluate("e => e.cellIndex")
        cells = f"rows => rows.map(r => r.cells[{at}].dataset.v).filter(v => v)"
        head.locator("button").click()
        up = [float(v) for v in table.locator("tbody tr").evaluate_all(cells)]
        head.locator("button").click()
        down = [float(v) for v in table.locator("tbody tr").evaluate_all(cells)]
        assert up == sorted(up) and down == up[::-1] and len(set(up)) > 3
        assert head.get_attribute("aria-sort") == "descending"
        assert table.locator("tbody tr").last.locator("td").nth(at - 1).inner_text() == "–"  # what failed has no score


def test_every_table_can_be_had_as_csv(browser, page_path):
    with opened(browser, page_path, accept_downloads=True) as page:
        open_all(page)
        buttons = page.locator("button.csv:visible")
        assert buttons.count() > 8
        for i in range(buttons.count()):
            page.wait_for_timeout(120)  # Chromium refuses more than ten downloads within a second
            table = buttons.nth(i).locator("xpath=../preceding-sibling::div[1]//table")
            with page.expect_download() as coming:
                buttons.nth(i).click()
            assert coming.value.suggested_filename == table.get_attribute("data-name") + ".csv"
            rows = list(csv.reader(io.StringIO(Path(coming.value.path()).read_text("utf-8"), newline="")))
            assert len(rows) == table.locator("tr").count()
            assert {len(row) for row in rows} == {table.locator("thead th").count()}


def test_csv_holds_numbers_as_they_are(browser, page_path):
    with opened(browser, page_path, accept_downloads=True) as page:
        open_all(page)
        with page.expect_download() as coming:
            page.locator("button[aria-label='Download as CSV: Every trial']").click()
        rows = list(csv.DictReader(io.StringIO(Path(coming.value.path()).read_text("utf-8"), newline="")))
        done = [row for row in rows if row["state"] == "done"]
        assert len(rows) == 34 and len(done) == 33 and all(len(row["key"]) == 32 for row in rows)
        assert all(0 <= float(row["worst_group_accuracy"]) <= 1 for row in done)


def test_every_control_can_be_clicked(browser, page_path):
    with opened(browser, page_path) as page:
        open_all(page)
        for link in page.locator("nav a").all():
            link.click()
        for button in page.locator("button.sort:visible").all():
            button.click()
        for summary in page.locator("summary:visible").element_handles()[::-1]:  # the inner ones first
            summary.click()
        assert page.locator("details.chapter[open]").count() == 0
        for summary in page.locator(".chapter > summary").all():
            summary.focus()
            page.keyboard.press("Enter")
        assert page.locator("details.chapter:not([open])").count() == 0


def test_it_reads_without_javascript(browser, page_path):
    with opened(browser, page_path, java_script_enabled=False) as page:
        assert page.locator("h1").first.is_visible() and page.locator("svg.chart").first.is_visible()
        assert not page.locator("#theme").is_visible() and not page.locator("button.csv").first.is_visible()
        assert page.locator("#remedies .panel").first.is_visible()
        page.locator("details.chapter summary", has_text="Learning curves").click()
        assert page.locator("figure", has_text="Training loss").first.is_visible()


def test_on_paper_all_is_open_and_controls_are_gone(browser, page_path):
    with opened(browser, page_path, scheme="dark") as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator("details:not([open])").count() == 0
        assert page.locator("svg .bar:visible").count() > 0
        assert not page.locator("header.top").is_visible() and not page.locator("button.csv").first.is_visible()
        assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#fff"
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator("details:not([open])").count() > 0
        assert len(page.pdf()) > 100_000


def test_charts_fill_their_width_and_stay_within_it(browser, page_path):
    with opened(browser, page_path, PHONE) as page:
        open_all(page)
        wide = page.eval_on_selector_all(
            "svg.chart:not(.heat) text",
            "texts => texts.filter(t => t.checkVisibility()).map(t => t.getBoundingClientRect())"
            ".filter(r => r.width && (r.left < 0 || r.right > 360)).length",
        )
        assert wide == 0
