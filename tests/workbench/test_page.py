"""The workbench page: a real server and real clicks in a headless browser."""

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from builders import compact
from report.browser import chromium, why_not
from rulewright import CompactRulesRegressor, load_model
from rulewright.model import hash_model
from rulewright.workbench import Desk, EditLog, Session, Workbench, edit_of

in_browser = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser")


def served(session, path):
    """Start the server of a session in a thread; give the workbench and its address."""
    workbench, ready = Workbench(Desk(session, path, path.name)), threading.Event()
    found = []

    def show(address):
        found.append(address)
        ready.set()

    thread = threading.Thread(target=workbench.serve, args=(0, show), daemon=True)
    thread.start()
    assert ready.wait(30)
    workbench.thread = thread
    return workbench, found[0]


def stop(workbench):
    workbench.server.should_exit = True
    workbench.thread.join(30)
    assert not workbench.thread.is_alive()


def rows(seed=5, n=300):
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(size=n), "b": rng.integers(0, 5, n), "c": rng.choice(list("xyz"), n)}
    score = 2.0 * (X["a"] > 0.5) - 1.5 * (X["b"] >= 3) + 1.0 * (X["c"] == "x")
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "good", "bad")


@pytest.fixture
def session():
    X, y = rows()
    return Session(compact(random_state=0, max_rules=4, size="max").fit(X, y), X, y, cv=3)


@pytest.fixture
def running(session, tmp_path):
    path = tmp_path / "model.json"
    session.model.save(path)
    workbench, address = served(session, path)
    yield workbench, address
    stop(workbench)


def ask(address, task, asked, **headers):
    """Send a request to the server and give status, headers and answer."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    sent = {"x-token": parts.query.removeprefix("token="), **headers}
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    connection.request("POST", f"/api/{task}", body, {k: v for k, v in sent.items() if v})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, dict(reply.getheaders()), text


def test_only_the_own_page_is_answered(running):
    """A missing or wrong token, another host and another origin are refused."""
    _, address = running
    assert ask(address, "state", {})[0] == 200
    for headers in (
        {"x-token": ""},
        {"x-token": "wrong"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Origin": "null"},
    ):
        status, _, text = ask(address, "state", {}, **headers)
        assert status == 403
        assert "income" not in text
        assert text.startswith("refused")
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().status == 403
    connection.close()
    _, headers, _ = ask(address, "state", {})
    assert "default-src 'none'" in headers["content-security-policy"]
    assert parts.hostname == "127.0.0.1"


@pytest.mark.parametrize(
    ("task", "asked", "status"),
    [
        ("nothing", {}, 404),
        ("preview", {"edit": {"do": "explode"}, "version": 0}, 400),
        ("preview", {"edit": {"do": "drop", "rules": [99]}, "version": 0}, 400),
        ("preview", {"edit": {"do": "drop", "what": 1}, "version": 0}, 400),
        ("preview", {"edit": {"do": "refit"}, "version": 7}, 409),
        ("preview", {}, 400),
        ("column", {"name": "q"}, 400),
        ("start", {"work": "mine"}, 400),
        ("job", {"job": "q"}, 400),
        ("export", {"to": "elf"}, 400),
        ("state", b"[1]", 400),
        ("state", b"{", 400),
        ("state", b"x" * 1_000_001, 413),
    ],
)
def test_wrong_requests_get_an_error(running, task, asked, status):
    """Each is answered by a message, and the server goes on."""
    _, address = running
    found, _, text = ask(address, task, asked)
    assert found == status
    assert json.loads(text)["error"]
    assert ask(address, "state", {})[0] == 200


def test_edits_of_a_killed_server_can_be_made_again(session, tmp_path):
    """Applied edits are kept in a file beside the model until it is saved."""
    path = tmp_path / "model.json"
    session.model.save(path)
    first = Desk(session, path, "m")
    first.apply({"do": "drop", "rules": [2]}, "a reason", 0)
    first.apply({"do": "refit"}, "", 1)
    expected = hash_model(session.model)
    X, y = rows()
    other = Session(load_model(path), X, y, cv=3)
    second = Desk(other, path, "m")
    assert [entry.reason for entry in second.unsaved()] == ["a reason", ""]
    second.resume()
    assert hash_model(other.model) == expected
    second.save(second.version)
    assert not second.autosaved.exists()
    assert hash_model(load_model(path)) == expected
    assert len(EditLog.of(load_model(path)).entries) == 2


def test_a_column_is_shown_with_its_answer(session, tmp_path):
    """Bars count all rows, the line is the share of a class, and thresholds make conditions."""
    desk, (X, y) = Desk(session, tmp_path / "m.json", "m"), rows()
    wide, labels = desk.column("a", "good"), desk.column("c", "bad")
    assert (sum(wide["counts"]), len(wide["counts"]), len(wide["edges"])) == (300, 24, 25)
    inside = (wide["edges"][5] <= X["a"]) & (X["a"] < wide["edges"][6])
    assert wide["counts"][5] == inside.sum()
    assert wide["means"][5] == pytest.approx((y[inside] == "good").mean())
    assert wide["counts"][0] == (X["a"] < wide["edges"][1]).sum()
    assert wide["labels"][0].startswith("up to ")
    assert all(
        session.preview(edit_of({"do": "add", "text": text})) for _, text in wide["lows"][:2]
    )
    assert labels["values"] == ["x", "y", "z"]
    assert labels["means"][0] == pytest.approx((y[X["c"] == "x"] == "bad").mean())


def started(model, data):
    """Start the command in a process of its own; give it and its address."""
    command = [
        str(Path(sys.executable).with_name("rulewright")),
        "edit",
        str(model),
        "--no-browser",
    ]
    process = subprocess.Popen(
        [*command, "--data", str(data), "--target", "y"], stdout=subprocess.PIPE, text=True
    )
    word, address = process.stdout.readline().split()
    assert word == "workbench:"
    return process, address


def test_a_killed_server_loses_the_pending_edit_only(session, tmp_path):
    """What was applied is offered at the next start, and nothing but its file is written."""
    X, y = rows()
    lines = zip(*X.values(), y, strict=True)
    text = "\n".join(",".join(map(str, line)) for line in [[*X, "y"], *lines])
    (tmp_path / "d.csv").write_text(text + "\n")
    session.model.save(tmp_path / "m.json")
    before = (tmp_path / "m.json").read_bytes()
    process, address = started(tmp_path / "m.json", tmp_path / "d.csv")
    drop, refit = {"do": "drop", "rules": [2]}, {"do": "refit"}
    asked = {"edit": drop, "reason": "a law", "version": 0}
    assert ask(address, "apply", asked)[0] == 200
    assert ask(address, "preview", {"edit": refit, "version": 1})[0] == 200
    process.kill()
    process.communicate()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"d.csv", "m.json", ".m.json.session"}
    assert (tmp_path / "m.json").read_bytes() == before

    process, address = started(tmp_path / "m.json", tmp_path / "d.csv")
    try:
        state = json.loads(ask(address, "state", {})[2])
        [text] = state["unsaved"]
        assert text.startswith("drop ")
        state = json.loads(ask(address, "resume", {})[2])["state"]
        assert [entry["reason"] for entry in state["log"]] == ["a law"]
        assert ask(address, "save", {"version": state["version"]})[0] == 200
    finally:
        process.terminate()
        process.communicate()
    assert {path.name for path in tmp_path.iterdir()} == {"d.csv", "m.json"}
    assert len(EditLog.of(load_model(tmp_path / "m.json")).entries) == 1


def test_edits_that_do_not_fit_any_more_are_named(session, tmp_path):
    """Edits of an earlier session are made again on a changed model as far as they can be."""
    path = tmp_path / "model.json"
    session.model.save(path)
    first = Desk(session, path, "m")
    first.apply({"do": "drop", "rules": [2]}, "", 0)
    first.apply({"do": "add", "text": "a >= 2", "votes": "good", "points": 1.0}, "", 1)
    X, y = rows()
    model = load_model(path)
    other = Session(model.with_rules(model.rules[:1]), X, y, cv=3)
    answer = Desk(other, path, "m").resume()
    assert ["there is no rule" in text or "has no rule" in text for text in answer["left_out"]] == [
        True
    ]
    assert len(other.log.entries) == 1


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        online = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        started.devtools("Network.emulateNetworkConditions", **online)
        yield started


def wait_for(browser, script, *arguments, seconds=30):
    """Run a script until it gives something."""
    end = time.monotonic() + seconds
    while not (found := browser.run(script, *arguments)):
        assert time.monotonic() < end, (script, browser.run("return document.body.innerText"))
        time.sleep(0.05)
    return found


def click(browser, text):
    """Press the button with a text."""
    script = """
    const found = [...document.querySelectorAll("button")].find(
      (x) => x.textContent === arguments[0] && !x.disabled);
    if (found) found.click();
    return Boolean(found);
    """
    wait_for(browser, script, text)


def previewed(browser, text):
    """Wait until the preview shows a text."""
    script = "return document.getElementById('preview').innerText.includes(arguments[0])"
    wait_for(browser, script, text)


def apply(browser, n_edits, reason=""):
    """Apply the previewed edit and wait for the log."""
    fill = "const f = document.getElementById('reason'); if (f) f.value = arguments[0]; return !!f"
    wait_for(browser, fill, reason)
    click(browser, "Apply")
    wait_for(
        browser, "return document.querySelectorAll('#log li').length === arguments[0]", n_edits
    )


def opened(browser, address):
    browser.call("url", url=address)
    wait_for(browser, "return document.querySelectorAll('.rule').length > 0")


SLIDE = """
const slider = document.getElementById("slider-low") || document.getElementById("slider-high");
if (!slider || !slider.getAttribute("aria-label").endsWith(" a")) return false;
slider.value = Number(slider.value) + 2;
slider.dispatchEvent(new Event("input")); slider.dispatchEvent(new Event("change"));
return true;
"""
ADD = """
document.getElementById("add-text").value = "b >= 4";
document.getElementById("add-class").value = "bad";
document.querySelector("#add-form button[type=submit]").click();
"""


@in_browser
def test_a_session_by_clicks(browser, running, session):
    """Edit by slider and by text, add, freeze, refit, undo, save, and load again."""
    workbench, address = running
    opened(browser, address)
    n_rules = len(session.model)
    place = next(r for r in session.model.rules if any(c.column == "a" for c in r.body.conditions))
    number = session.model.numbers[session.model.rules.index(place)]
    browser.run("document.querySelector(`[data-number='${arguments[0]}']`).click()", number)
    chip = (
        "return [...document.querySelectorAll('.chip')].find((x) => x.textContent.includes('a '))"
    )
    wait_for(browser, f"const x = (() => {{ {chip} }})(); if (x) x.click(); return !!x")
    wait_for(browser, SLIDE)
    previewed(browser, "replace")
    assert browser.run("return document.getElementById('preview').innerText").count("[") >= 3
    apply(browser, 1, "rounder")
    assert place.body not in [rule.body for rule in session.model.rules]

    browser.run(ADD)
    previewed(browser, "add b >= 4 for bad")
    apply(browser, 2)
    assert len(session.model) == n_rules + 1
    click(browser, "Freeze")
    previewed(browser, "freeze")
    apply(browser, 3)
    click(browser, "Refit")
    previewed(browser, "refit")
    apply(browser, 4)
    assert len(session.frozen) == 1
    click(browser, "Undo")
    wait_for(browser, "return document.querySelectorAll('#log li').length === 3")
    click(browser, "Redo")
    wait_for(browser, "return document.querySelectorAll('#log li').length === 4")
    click(browser, "Save")
    wait_for(browser, "return document.getElementById('message').innerText.startsWith('Saved')")
    saved = load_model(workbench.desk.path)
    assert hash_model(saved) == hash_model(session.model)
    assert EditLog.of(saved).entries[0].reason == "rounder"
    opened(browser, address)
    wait_for(browser, "return document.querySelectorAll('#log li').length === 4")
    click(browser, "Alternatives")
    wait_for(browser, "return document.querySelectorAll('#suggestions tbody tr').length > 0")
    assert not [text for text in browser.complaints() if "favicon" not in text]


@in_browser
def test_long_work_is_previewed_and_can_be_cancelled(browser, running, session, monkeypatch):
    """Growing shows its progress, ends on Cancel, and gives a preview otherwise."""
    workbench, address = running
    opened(browser, address)
    grow, started = session.grow, threading.Event()

    def endless(n_rules, check):
        started.set()
        while True:
            check()
            time.sleep(0.01)

    monkeypatch.setattr(session, "grow", endless)
    click(browser, "Grow")
    assert started.wait(30)
    previewed(browser, "working")
    click(browser, "Cancel")
    previewed(browser, "cancelled")
    monkeypatch.setattr(session, "grow", grow)
    click(browser, "Grow")
    previewed(browser, "grow a rule")
    apply(browser, 1)
    assert workbench.desk.session.log.entries[0].edit.word == "grow"


@in_browser
def test_rules_are_ordered_and_fixed_points_have_a_cost(browser, running):
    """By column, rules stand under the name of a column; freezing prints what it costs."""
    _, address = running
    opened(browser, address)
    by_column = """
    const order = document.getElementById("order");
    order.value = "column"; order.dispatchEvent(new Event("change"));
    return [...document.querySelectorAll("#rules h3")].map((x) => x.textContent);
    """
    assert set(browser.run(by_column)) <= {"a", "b", "c"}
    click(browser, "Freeze")
    previewed(browser, "freeze")
    apply(browser, 1)
    found = "return document.getElementById('cost').innerText.includes(arguments[0])"
    wait_for(browser, found, "fixed points of 1 rule change Log-loss")


TYPE = """
const field = document.getElementById(arguments[0]);
field.focus(); field.value = arguments[1]; field.dispatchEvent(new Event("input"));
return [...document.querySelectorAll(`#${arguments[0]}-offers li`)].map((x) => x.textContent);
"""


@in_browser
def test_rules_are_completed_and_errors_stand_at_their_field(browser, running):
    """Columns, operators and labels are offered; a wrong rule is marked where it was typed."""
    _, address = running
    opened(browser, address)
    assert set(browser.run(TYPE, "add-text", "")) == {"a ", "b ", "c "}
    assert browser.run(TYPE, "add-text", "a ")[:2] == [">= ", "<= "]
    assert browser.run(TYPE, "add-text", "a >= 1 and c = ") == ["x", "y", "z"]
    assert browser.run(TYPE, "add-text", "a >= 1 ") == ["and "]
    assert "in {" in browser.run(TYPE, "add-text", "c not ")
    browser.run(TYPE, "add-text", "a >= 1 and c = ")
    keys = """
    const field = document.getElementById("add-text");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"])
      field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    return field.value;
    """
    assert browser.run(keys) == "a >= 1 and c = y"
    browser.run(TYPE, "add-text", "nobody >= 3")
    click(browser, "Preview rule")
    wait_for(browser, "return document.getElementById('add-text-error') !== null")
    found = "const f = document.getElementById('add-text'); return f.getAttribute('aria-invalid')"
    assert browser.run(found) == "true"
    text = browser.run("return document.getElementById('add-text-error').textContent")
    assert "'nobody >= 3': the model has no column 'nobody'. The columns are: " in text
    browser.run(TYPE, "add-text", "a >= 1.25")
    click(browser, "Preview rule")
    previewed(browser, "add a >= 1.25")
    assert browser.run(found) == "false"


@in_browser
def test_labels_and_both_ends_are_edited_by_hand(browser, running, session):
    """Boxes choose labels, a range has two sliders, and rules are split and merged."""
    session.apply(session.add("c = x and -1 <= a <= 1", votes="good"))
    _, address = running
    opened(browser, address)
    number = session.model.numbers[-1]
    browser.run("document.querySelector(`[data-number='${arguments[0]}']`).click()", number)
    check = """
    const box = [...document.querySelectorAll("fieldset input")].find((x) => x.value === "y");
    if (box) box.click();
    return Boolean(box);
    """
    wait_for(browser, check)
    previewed(browser, "c in {x, y}")
    click(browser, "-1 <= a <= 1")
    both = "return document.querySelectorAll('#slider-low, #slider-high').length === 2"
    wait_for(browser, both)
    browser.run(SLIDE)
    previewed(browser, "replace")
    browser.run("document.querySelector('#editor details').open = true")
    browser.run(TYPE, "split-text", "b >= 2")
    click(browser, "Preview split")
    previewed(browser, "split")
    apply(browser, 2)
    click(browser, "Preview merge")
    previewed(browser, "merge")


@in_browser
def test_constraints_groups_and_rounding(browser, running):
    """A forbidden column names the rules that use it; groups are chosen on the page."""
    _, address = running
    opened(browser, address)
    browser.run("document.getElementById('more').open = true")
    browser.run("document.getElementById('constrain-column').value = 'b'")
    click(browser, "Preview constraint")
    previewed(browser, "uses the forbidden column b")
    apply(browser, 1, "not allowed")
    wait_for(browser, "return document.getElementById('constraints').innerText.includes('Broken')")
    click(browser, "Preview rounding")
    previewed(browser, "round thresholds to 2 digits")
    by = "const x = document.getElementById('by'); x.value = 'c'; x.dispatchEvent(new Event('"
    browser.run(f"{by}change'))")
    previewed(browser, "P(good) before")


@in_browser
def test_the_final_part_is_opened_on_the_page(browser, tmp_path):
    """The button appears if rows were kept aside, and the count is kept in the log."""
    X, y = rows()
    est = compact(random_state=0, max_rules=4, size="max").fit(X, y)
    session = Session(est, X, y, cv=3, holdout=0.3)
    workbench, address = served(session, tmp_path / "m.json")
    try:
        opened(browser, address)
        click(browser, "Final part")
        click(browser, "Open it")
        shown = "return document.getElementById('final-figures').innerText.includes('opened once')"
        wait_for(browser, shown)
        assert EditLog.of(session.model).opened == 1
        workbench.desk.save(workbench.desk.version)
        assert EditLog.of(load_model(tmp_path / "m.json")).opened == 1
    finally:
        stop(workbench)


@in_browser
def test_unsaved_edits_are_offered_before_anything_else(browser, session, tmp_path):
    """A dialog lists them; they are made again, or discarded, and their file goes."""
    path = tmp_path / "model.json"
    session.model.save(path)
    Desk(session, path, "m").apply({"do": "drop", "rules": [2]}, "a reason", 0)
    X, y = rows()
    for answer, n_edits in (("Make them again", 1), ("Discard them", 0)):
        other = Session(load_model(path), X, y, cv=3)
        workbench, address = served(other, path)
        try:
            opened(browser, address)
            wait_for(browser, "return document.getElementById('resume-dialog').open")
            assert "drop" in browser.run("return document.getElementById('unsaved').innerText")
            click(browser, answer)
            script = "return document.querySelectorAll('#log li').length === arguments[0]"
            wait_for(browser, script, n_edits)
            assert workbench.desk.autosaved.exists() is bool(n_edits)
        finally:
            stop(workbench)


@in_browser
def test_two_tabs_do_not_overwrite_each_other(browser, running):
    """An edit for an older model is refused, and the page says what to do."""
    workbench, address = running
    opened(browser, address)
    workbench.desk.apply({"do": "refit"}, "in another tab", 0)
    click(browser, "Remove")
    wait_for(browser, "return document.getElementById('message').innerText.includes('another tab')")
    assert len(workbench.desk.session.log.entries) == 1
    click(browser, "Show the model as it is")
    wait_for(browser, "return document.querySelectorAll('#log li').length === 1")


@in_browser
def test_a_file_that_changed_is_not_replaced_unasked(browser, running):
    """Saving over another program's file needs a second click."""
    workbench, address = running
    opened(browser, address)
    click(browser, "Refit")
    previewed(browser, "refit")
    apply(browser, 1)
    workbench.desk.path.write_text("somebody else's")
    click(browser, "Save")
    wait_for(browser, "return document.getElementById('message').innerText.includes('changed by')")
    assert workbench.desk.path.read_text() == "somebody else's"
    click(browser, "Replace the file")
    wait_for(browser, "return document.getElementById('message').innerText.startsWith('Saved')")
    assert len(load_model(workbench.desk.path)) > 0


@in_browser
def test_a_stopped_server_is_told(browser, session, tmp_path):
    """The page says that the server has stopped, and what is kept."""
    workbench, address = served(session, tmp_path / "m.json")
    opened(browser, address)
    stop(workbench)
    click(browser, "Refit")
    wait_for(browser, "return document.getElementById('message').innerText.includes('has stopped')")


@in_browser
def test_hostile_names_do_not_run(browser, tmp_path):
    """Names of columns, labels and classes are text, whatever they contain."""
    evil = "<img src=x onerror=window.bad=1><script>window.bad=1</script>"
    rng = np.random.default_rng(0)
    X = {evil: rng.normal(size=200), "c": rng.choice([evil, "b"], 200)}
    y = np.where(X[evil] + (X["c"] == "b") > 0, evil, "other")
    est = compact(random_state=0, max_rules=4, size="max").fit(X, y)
    workbench, address = served(Session(est, X, y, cv=3, by=["c"]), tmp_path / "m.json")
    try:
        opened(browser, address)
        click(browser, "Refit")
        previewed(browser, "refit")
        apply(browser, 1, evil)
        assert browser.run("return window.bad === undefined")
        assert "onerror" in browser.run("return document.body.innerText")
        assert browser.run("return document.querySelectorAll('img').length") == 0
    finally:
        stop(workbench)


@in_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_knows_other_models(browser, tmp_path, width):
    """Regression and several classes work; nothing is wider than the screen, light and dark."""
    X, _ = rows()
    numbers = CompactRulesRegressor(max_rules=4, size="max", random_state=0).fit(X, X["a"] * 2)
    three = np.array(["p", "q", "r"])[np.digitize(X["a"], [-0.4, 0.5])]
    classes = compact(random_state=0, max_rules=5, size="max").fit(X, three)
    for place, (est, target) in enumerate(((numbers, X["a"] * 2), (classes, three))):
        workbench, address = served(Session(est, X, target, cv=3), tmp_path / f"{place}.json")
        try:
            browser.look(width=width, dark=bool(place))
            opened(browser, address)
            click(browser, "Remove")
            previewed(browser, "drop")
            fits = "const e = document.documentElement; return e.scrollWidth <= e.clientWidth"
            assert browser.run(fits)
            browser.screenshot(tmp_path / "page.png")
        finally:
            stop(workbench)
