"""Captions: what they say, how they say it, and that every mark is right."""

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import CHANNELS, CLASSES, rows

from spurgen.channels.claim import CHANNEL as CLAIM
from spurgen.channels.medium import CHANNEL as MEDIUM
from spurgen.channels.object_word import CHANNEL as OBJECT_WORD
from spurgen.channels.template import CHANNEL as TEMPLATE
from spurgen.errors import SpecError
from spurgen.render.caption import MODALITY, TRAITS, Options, content, decode, draw, encode
from spurgen.render.caption.captions import Captions
from spurgen.render.caption.grammar import article, in_order
from spurgen.render.caption.templates import TEMPLATES

SPEAKING = [name for name, (says, _) in CHANNELS.items() if says]
subsets = st.lists(st.sampled_from(sorted(CHANNELS)), unique=True)


def one(template="photo_of", channels=("background", "hue"), **fixed):
    fixed = {"medium": "photo", "label": "mug", "object_word": 0, "hue": "red", "background": "stripes"} | fixed
    fixed |= {"size": "small", "gloss": "matt", "light": "left", "floor": "wood", "camera": "near"}
    return draw(rows(1, channels, template=template, **fixed))[0].text


# ------------------------------------------------------------------------------------------------- what is said


def test_the_sentence_of_the_proposal_stands_word_for_word():
    assert one() == "A photo of a red mug with a striped background."
    assert one(medium="image", hue="orange", background="oaks") == "An image of an orange mug with an oaken background."


@pytest.mark.parametrize(
    ("channels", "text"),
    [
        ((), "A photo of a mug."),
        (("hue",), "A photo of a red mug."),
        (("background",), "A photo of a mug with a striped background."),
        (("light",), "A photo of a mug, in light from the left."),
        (("light", "floor"), "A photo of a mug, in light from the left, on a wooden floor."),
        (("hue", "gloss", "size"), "A photo of a small matt red mug."),
        (("camera",), "A photo of a mug."),
    ],
)
def test_a_caption_speaks_of_exactly_the_channels_there_are(channels, text):
    assert one(channels=channels) == text


FULL = ("background", "hue", "light")
EXPECTED = {
    "photo_of": "A photo of a red mug with a striped background, in light from the left.",
    "active": "This photo shows a red mug with a striped background, in light from the left.",
    "passive": "A red mug with a striped background is shown in this photo, in light from the left.",
    "question": "Can you see a red mug with a striped background, in light from the left, in this photo?",
    "telegraphic": "Photo: red mug, striped background, in light from the left.",
    "dialogue": '"What does the photo show?" "A red mug with a striped background, in light from the left."',
    "tags": "photo, red, mug, striped background, in light from the left",
    "exclamation": "What a photo: a red mug with a striped background, in light from the left!",
    "existence": "In this photo there is a red mug with a striped background, in light from the left.",
    "cleft": "What this photo shows is a red mug with a striped background, in light from the left.",
    "catalogue": "Mug (red); striped background; in light from the left; photo.",
    "request": "Please make a photo of a red mug with a striped background, in light from the left.",
    "setting_first": "With a striped background, in light from the left, a red mug appears in this photo.",
    "negation": "There is nothing but a red mug with a striped background, in light from the left, in this photo.",
    "hearsay": "They say that this photo shows a red mug with a striped background, in light from the left.",
    "first_person": "I made this photo of a red mug with a striped background, in light from the left.",
    "command": "Find a red mug with a striped background, in light from the left, in this photo.",
    "alt_text": "Photo of a red mug, striped background, in light from the left",
}


def test_every_template_reads_as_it_should():
    assert {name: one(name, FULL) for name in TEMPLATES} == EXPECTED
    assert len(TEMPLATES) >= 12


def test_templates_without_anything_to_add():
    assert one("setting_first", ()) == "A mug appears in this photo."
    assert one("setting_first", ("light",)) == "In light from the left, a mug appears in this photo."
    assert one("catalogue", ()) == "Mug; photo."
    assert one("tags", ()) == "photo, mug"
    assert one("dialogue", (), label="arrow") == '"What does the photo show?" "An arrow."'


def test_only_what_is_asked_for_is_mentioned():
    given = rows(5, ("background", "hue", "light"), template="photo_of", medium="photo")
    captions = draw(given, Options(mention=["hue"]))
    assert {span.refers_to for caption in captions for span in caption.spans} == {"hue", "label"}
    with pytest.raises(SpecError, match="did you mean 'hue'"):
        draw(given, Options(mention=["hues"]))


# ---------------------------------------------------------------------------------------------------- grammar


@pytest.mark.parametrize(
    ("an", "a"),
    [
        ("hourglass", "honeycomb"),
        ("umbrella", "unicorn"),
        ("uneven", "uniform"),
        ("orange", "one-eyed"),
        ("egg timer", "eucalyptus"),
        ("honest", "house"),
        ("ugly", "used"),
        ("Indigo", "red"),
        ("urn", "ewer"),
        ("unimportant", "universal"),
    ],
)
def test_a_and_an(an, a):
    assert article(an) == "an"
    assert article(a) == "a"


def test_every_word_of_ours_takes_the_article_a_reader_expects():
    import spurgen.classes as classes

    words = {word for part in classes.CLASSES.values() for word in part.words} | set(MEDIUM.values)
    assert {w for w in words if article(w) == "an"} == {w for w in words if w[0] in "aeio" or w == "hourglass"}


def test_adjectives_stand_in_the_order_of_english():
    assert in_order(["hue", "material", "size"]) == ["size", "material", "hue"]


# ------------------------------------------------------------------------------------------------------- marks


@settings(max_examples=60, deadline=None)
@given(channels=subsets, seed=st.integers(0, 2**32 - 1))
def test_every_mark_covers_one_of_the_known_words(channels, seed):
    given_rows = rows(40, channels, seed)
    captions = draw(given_rows)
    assert len(captions) == 40
    for i, caption in enumerate(captions):
        assert {s.refers_to for s in caption.spans} == {"label", *(c for c in channels if c in SPEAKING)}
        assert len({s.refers_to for s in caption.spans}) == len(caption.spans)
        assert [s.start for s in caption.spans] == sorted(s.start for s in caption.spans)
        for span in caption.spans:
            said = caption.text[span.start : span.end]
            if span.refers_to == "label":
                assert said.casefold() in CLASSES[span.value].words
                assert span.value == list(CLASSES)[given_rows.label[i]]
            else:
                word = given_rows.channels[span.refers_to]
                assert said.casefold() == CHANNELS[span.refers_to][1][span.value]
                assert span.value == word.names[word.codes[i]]
            assert span.truthful
        assert "  " not in caption.text
        assert caption.text == caption.text.strip()
        assert not set("[]{}^") & set(caption.text)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), gone=st.sampled_from(SPEAKING))
def test_dropping_a_channel_changes_nothing_else(seed, gone):
    whole = rows(30, SPEAKING, seed)
    fewer = draw(whole, Options(mention=[name for name in SPEAKING if name != gone]))
    for with_all, without in zip(draw(whole), fewer, strict=True):
        kept = {(s.refers_to, s.value) for s in with_all.spans if s.refers_to != gone}
        assert kept == {(s.refers_to, s.value) for s in without.spans}


def test_a_row_says_the_same_whatever_stands_around_it():
    given_rows = rows(50, SPEAKING, claims=("truthful", "wrong_hue"))
    captions = draw(given_rows)
    for i in (0, 7, 49):
        only = type(given_rows)(
            given_rows.row_id[i : i + 1],
            {
                k: type(v)(v.codes[i : i + 1], v.names) if hasattr(v, "names") else v[i : i + 1]
                for k, v in given_rows.traits.items()
            },
            given_rows.classes,
            given_rows.class_names,
            given_rows.label[i : i + 1],
            {k: type(w)(w.says, w.words, w.names, w.codes[i : i + 1]) for k, w in given_rows.channels.items()},
        )
        assert draw(only)[0] == captions[i]


# ------------------------------------------------------------------------------------------------------- claims


@pytest.mark.parametrize("thing", ["object", "background", "hue", "light"])
def test_a_false_claim_is_false_in_one_thing_and_marked(thing):
    given_rows = rows(3000, FULL, claims=("truthful", f"wrong_{thing}"))
    lying = given_rows.traits["claim"].codes == 1
    marks = "label" if thing == "object" else thing
    truth, told = draw(rows(3000, FULL)), draw(given_rows)
    names = list(CLASSES) if thing == "object" else list(CHANNELS[thing][1])
    pairs = np.zeros((len(names), len(names)), int)
    for i in range(3000):
        for span in told[i].spans:
            wrong = bool(lying[i]) and span.refers_to == marks
            assert span.truthful is not wrong
            own = _true_name(given_rows, i, span.refers_to)
            assert (span.value != own) is wrong
            if wrong:
                pairs[names.index(own), names.index(span.value)] += 1
    others = pairs[~np.eye(len(names), dtype=bool)]
    assert others.min() > 0.7 * others.mean()  # each other value about equally often
    assert len(truth) == len(told)


def _true_name(given_rows, i, thing):
    if thing == "label":
        return given_rows.class_names[given_rows.label[i]]
    return given_rows.channels[thing].names[given_rows.channels[thing].codes[i]]


def test_a_claim_about_what_is_not_spoken_of_is_refused():
    with pytest.raises(SpecError, match="captions can only be wrong about what they speak of"):
        draw(rows(1, ("hue",), claims=("truthful", "wrong_background")))
    given_rows = rows(1, ("hue",), claims=("wrong_hue",))
    word = given_rows.channels["hue"]
    alone = {"hue": type(word)(word.says, ("red",), ("red",), np.zeros(1, np.int32))}
    with pytest.raises(SpecError, match="no other value"):
        draw(type(given_rows)(**{**vars(given_rows), "channels": alone}))


def test_a_draw_of_exactly_one_still_picks_a_value():
    given_rows = rows(9, ("hue",), claims=("wrong_hue",))
    given_rows.traits["claim_draw"][:] = 1.0
    assert not any(s.truthful for c in draw(given_rows) for s in c.spans if s.refers_to == "hue")


# ------------------------------------------------------------------------------------------------------ storing


def test_what_is_stored_comes_back_equal(tmp_path):
    captions = draw(rows(100, SPEAKING, claims=("truthful", "wrong_hue")))
    columns = encode(captions)
    assert list(columns) == list(MODALITY.columns) == ["caption", "caption_spans"]
    assert decode(columns) == captions
    pq.write_table(pa.table(dict(columns)), tmp_path / "a.parquet")
    back = pq.read_table(tmp_path / "a.parquet")
    again = decode({name: back.column(name) for name in back.column_names})
    assert again == captions
    assert again.contents == captions.contents


def test_slices_and_empty_batches():
    captions = draw(rows(10, FULL))
    assert captions[2:5].texts == captions.texts[2:5]
    assert captions[2:5].contents == captions.contents[2:5]
    assert decode(encode(captions[2:5])) == captions[2:5]
    assert captions[-1].text == captions.texts[-1]
    assert len(draw(rows(0, FULL))) == 0
    assert draw(rows(0, FULL)).contents == []
    assert captions != captions[1:]
    assert isinstance(captions[:0], Captions)


def test_content_changes_with_the_text_and_with_the_marks():
    told = draw(rows(1, FULL, template="photo_of", claims=("wrong_hue",)))
    forged = told[0]._replace(spans=tuple(s._replace(truthful=True) for s in told[0].spans))
    spans = pa.array([[s._asdict() for s in forged.spans]], told.spans.type)
    assert content(Captions(told.text, spans), 0) != content(told, 0)


def test_hugging_face_reads_the_columns(tmp_path):
    datasets = pytest.importorskip("datasets")
    captions = draw(rows(20, FULL))
    info = {"huggingface": json.dumps({"info": {"features": dict(MODALITY.columns)}})}
    pq.write_table(pa.table(dict(encode(captions))).replace_schema_metadata(info), tmp_path / "train.parquet")
    opened = datasets.Dataset.from_parquet(str(tmp_path / "train.parquet"), cache_dir=str(tmp_path / "cache"))
    assert opened.features == datasets.Features.from_dict(dict(MODALITY.columns))
    assert opened[3]["caption"] == captions[3].text
    assert opened[3]["caption_spans"] == [s._asdict() for s in captions[3].spans]


# ----------------------------------------------------------------------------------------- channels and hashes


def test_the_textual_channels_set_what_captions_know():
    names = {trait.name: trait.names for trait in TRAITS}
    assert tuple(TEMPLATE.values) == names["template"] == tuple(TEMPLATES)
    assert tuple(MEDIUM.values) == names["medium"]
    assert {t for v in OBJECT_WORD.values.values() for t in v.traits} == {"object_word"}
    assert next(iter(CLAIM.values)) == "truthful"
    assert {value.traits["claim"] for value in CLAIM.values.values()} <= set(names["claim"])
    for channel in (TEMPLATE, MEDIUM, OBJECT_WORD, CLAIM):
        assert not channel.says
        assert set(channel.touches) == {"caption"}


def test_golden():
    captions = draw(rows(500, SPEAKING, claims=("truthful", "wrong_hue", "wrong_object")))
    digest = hashlib.sha256(b"\n\n".join(captions.contents)).hexdigest()
    assert digest == "dea10287d3479efbef1936645e96462d789dee16880d6076b2a3e649d63c9354"
