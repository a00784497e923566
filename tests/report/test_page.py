from __future__ import annotations

import re
import shutil

import pytest

import spurgen
from spurgen.errors import DataError
from spurgen.report.page import once
from tests.report.pages import Page
from tests.report.studies import CONTRASTIVE, ERM, METHODS, Told, fabricate, usual
from tests.worlds import world

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def source(made, tmp_path_factory) -> str:
    out = tmp_path_factory.mktemp("pages") / "page.html"
    assert spurgen.report(made, out) == out
    return out.read_text("utf-8")


@pytest.fixture(scope="module")
def page(source) -> Page:
    return Page(source)


def test_it_is_whole(page):
    assert page.wrong == [] and page.open == []
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_nothing_is_loaded_from_elsewhere(page, source):
    for tag, attrs in page.tags:
        for name in ("src", "href", "data", "srcset", "action"):
            value = attrs.get(name)
            assert value is None or value.startswith(("data:", "#")), (tag, name, value)
    style = re.search(r"<style>(.*?)</style>", source, re.S)[1]
    assert "url(" not in style and "@import" not in style
    script = "".join(re.findall(r"<script>(.*?)</script>", source, re.S))
    assert not re.search(r"fetch|XMLHttpRequest|import\(|https?:", script)


def test_it_answers_in_order(page):
    text = page.text
    places = [
        text.index(words)
        for words in (
            "small_cnn leans on the background; contrastive",
            "Which channels do harm",
            "Which remedy helps",
            "What does it cost",
            "What does the data look like",
            "Counterfactual strips",
            "Accuracy of every group",
            "Variants:",
            "Learning curves",
            "Mistakes:",
            "All selection rules",
            "All trials",
            "Trials that failed",
            "Study file and worlds",
            "Environment and digests",
            "How to make all of this again",
        )
    ]
    assert places == sorted(places)


def test_every_picture_and_chart_has_words(page):
    several = [span for span in page.all("span") if "pic" in span.get("class", "").split()]
    pictures = page.all("img") + [{"alt": s["aria-label"]} for s in several if s["role"] == "img"]
    # 3 classes × 2 splits × 4; strips of 3 backgrounds and 4 hues; and mistakes of two methods
    assert len(pictures) > 24 + 7 and all(p["alt"] for p in pictures)
    assert all(p["src"].startswith("data:image/png;base64,") for p in page.all("img"))
    charts = [s for s in page.all("svg") if s.get("role") == "img"]
    assert len(charts) > 12 and all(c["aria-label"] for c in charts)


def test_pictures_that_are_shown_several_times_are_held_once():
    one, two = ("data:image/png;base64," + word for word in ("AAAA", "BBBB"))

    def image(uri: str, alt: str) -> str:
        return f'<img src="{uri}" alt="{alt}" width="64" height="64">'

    page = f"<html><head></head><body>{image(one, 'a &lt;b')}{image(two, 'c')}{image(one, 'd')}</body></html>"
    found = once(page)
    assert found.count(one) == 1 and f".p0{{background-image:url({one})}}" in found
    assert image(two, "c") in found
    for alt in ("a &lt;b", "d"):
        assert f'<span class="pic p0" role="img" aria-label="{alt}" style="--px:64px"></span>' in found
    assert once(image(two, "c")) == image(two, "c")


def test_controls_name_every_panel(page):
    values = [attrs["value"] for attrs in page.all("option")]
    assert {"worst_group_accuracy", "sss_background", "ig_conflicting", "oracle"} <= set(values)
    shown = {d["data-measure"] for d in page.all("div") if "data-measure" in d}
    assert shown <= set(values)
    visible = [d for d in page.all("div") if "data-measure" in d and "hidden" not in d]
    assert len(visible) == 1 and "worst_group" in visible[0]["data-rule"].split()


def test_strips_say_what_each_model_makes_of_each_picture(page):
    text = page.text
    assert text.count("as it is") >= 2
    assert re.search(r"erm [✓✗] (mug|heart|star) \d+%", text)
    assert "not asked" not in text


def test_it_says_how_to_make_things_again(page, made):
    text = page.text
    assert f"spurgen study {made.name}/study.toml --out {made.name}" in text
    assert "spurgen counterfactual" in text and "spurgen generate" in text and "--option epochs=20.0" in text
    assert str(made.parent) not in text  # where it lies on this machine is nobody's business


def test_the_same_study_gives_the_same_page(made, source, tmp_path):
    assert spurgen.report(made, tmp_path / "again.html").read_text("utf-8") == source


def test_it_is_small(source):
    assert len(source) < 1_500_000


# ------------------------------------------------------------------------------------------------- what is missing


def page_of(path) -> Page:
    found = Page(spurgen.report(path).read_text("utf-8"))
    assert found.wrong == [] and found.open == []
    assert not re.search(r"\b(nan|None|Undefined)\b", found.text)
    return found


def test_a_study_of_which_nothing_is_done(tmp_path):
    path = fabricate(
        tmp_path / "s", {"small-0": world()}, [Told("erm", ERM, is_open=True), Told("dfr", ERM, fails="x")]
    )
    text = page_of(path).text
    assert "Nothing has been found yet" in text and "1 failed" in text and "early look" in text


def test_one_seed_of_one_method(tmp_path):
    text = page_of(fabricate(tmp_path / "s", {"small-0": world()}, [Told("erm", ERM)])).text
    assert "no remedy was tried" in text and "One seed only" in text
    assert "There is no other method to compare with" in text and "no variants of its worlds" in text


def test_one_seed_decides_nothing(tmp_path):
    trials = [Told("erm", ERM), Told("contrastive", CONTRASTIVE)]
    text = page_of(fabricate(tmp_path / "s", {"small-0": world()}, trials)).text
    assert "one seed decides nothing" in text


def test_an_early_look(tmp_path):
    trials = [*usual(2), Told("erm", ERM, seed=2, is_open=True)]
    text = page_of(fabricate(tmp_path / "s", {"small-0": world()}, trials)).text
    assert "1 is still to be run, so this is an early look" in text


def test_captions_and_no_pictures(tmp_path):
    path = fabricate(tmp_path / "s", {"small-0": text_world()}, [Told(m, b) for m, b in METHODS.items()])
    page = page_of(path)
    assert not page.all("img") and page.all("q") and "Texts of each class" in page.text


def text_world():
    from spurgen.spec import World
    from tests.worlds import small

    data = small(modalities=["caption"])
    del data["image"]
    return World.from_dict(data)


def test_no_channels(tmp_path):
    plain = world(channels={}, environments={"strong": {}, "weak": {}, "even": {}})
    text = page_of(fabricate(tmp_path / "s", {"small-0": plain}, usual(2))).text
    assert "it is not known which channels" in text


@pytest.mark.parametrize("without", ["keep_predictions", "keep_checks", "keep_strips"])
def test_files_that_were_not_kept(tmp_path, without):
    text = page_of(fabricate(tmp_path / "s", {"small-0": world()}, usual(2), **{without: False})).text
    said = {
        "keep_predictions": "or its predictions were not kept",
        "keep_checks": "No checks were kept during training",
        "keep_strips": "not asked",
    }
    assert said[without] in text


def test_a_dataset_that_is_gone(tmp_path):
    path = fabricate(tmp_path / "s", {"small-0": world()}, usual(2))
    shutil.rmtree(path / "data")
    text = page_of(path).text
    assert "The dataset cannot be opened, so no rows are shown" in text and "contrastive" in text


def test_several_models_and_worlds(tmp_path):
    other = [Told(t.method, t.believer, t.config, t.settings, t.seed, model="resnet18") for t in usual(2)]
    page = page_of(fabricate(tmp_path / "s", {"small-0": world()}, [*usual(2), *other]))
    assert [o["value"] for o in page.all("option")][:2] == ["0", "1"]
    assert "leans most on" in page.text and "The rows are those of" in page.text


def test_large_pictures_are_made_small(tmp_path):
    path = fabricate(tmp_path / "s", {"small-0": world(image__size_px=160, rows=60)}, [Told("erm", ERM)])
    page = page_of(path)
    assert {img["width"] for img in page.all("img")} == {"96"}
    assert len(spurgen.report(path).read_bytes()) < 2_000_000


# ------------------------------------------------------------------------------------------------------- strangers


def test_whatever_is_written_in_a_study_stays_text(tmp_path):
    hostile = world(description=HOSTILE)
    trials = [*usual(2), Told("dfr", ERM, config=HOSTILE, seed=7), Told("irm", ERM, fails=HOSTILE)]
    path = fabricate(tmp_path / "s", {"small-0": hostile}, trials, description=HOSTILE)
    (path / "study.toml").write_text(f'id = "made-up"\n# {HOSTILE}\n', "utf-8")
    source = spurgen.report(path).read_text("utf-8")
    page = Page(source)
    assert page.wrong == [] and len(page.all("script")) == 2
    assert not any("onerror" in attrs for _, attrs in page.tags)
    assert page.text.count("alert(") >= 4  # it is all there to be read


def test_a_page_that_cannot_be_written_is_one_sentence(made, tmp_path):
    with pytest.raises(DataError, match="is a directory"):
        spurgen.report(made, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        spurgen.report(made, tmp_path / "file" / "page.html")


def test_where_it_goes_unless_told(tmp_path):
    path = fabricate(tmp_path / "s", {"small-0": world()}, [Told("erm", ERM)])
    assert spurgen.report(path) == path / "report" / "index.html"


def test_the_package_holds_its_templates():
    from importlib.resources import files

    names = {f.name for f in files("spurgen.report").joinpath("templates").iterdir()}
    assert {"page.html", "style.css", "script.js"} <= names
