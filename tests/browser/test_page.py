"""The page of a run, as a person uses it: in a real browser, from disk."""

import json

from playwright.sync_api import Page, expect

from tests.browser.pages import names, open_file, open_report, panel, rows, run_mixed
from tests.browser.test_accessible import find_faults
from tests.run.project import Project, case
from tests.tracing.otlp import chat, line, span

ORDER = ["delta", "beta", "alpha", "gamma", "omega"]


def test_verdicts_are_seen_at_a_glance_and_trouble_comes_first(
    page: Page, project: Project
) -> None:
    run_mixed(project)
    open_report(page, project)
    overview = page.get_by_role("region", name="Overview")
    expect(overview).to_contain_text("50.0% of 4 cases passed")
    expect(overview).to_contain_text("95% interval")
    expect(overview.get_by_role("button", name="1 errored")).to_be_visible()
    assert names(page) == ORDER


def test_the_header_says_what_was_tested(page: Page, project: Project) -> None:
    for number in range(3):
        project.suite(case(f"c{number}"), name=f"s{number}")
    project.run_process("run", "s0.eval.yaml")
    open_report(page, project)
    header = page.get_by_role("banner").locator(".subject span")
    assert header.all_inner_texts() == ["suite s0.eval.yaml", "target agent"]
    project.suite(case("c3"), name="s3")
    project.run_process("run", "--target", "python:agent:answer", "--target", "python:agent:other")
    open_report(page, project)
    told = header.all_inner_texts()
    assert told == ["4 suites", "targets python:agent:answer, python:agent:other"]


PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def test_an_image_is_a_picture_only_if_the_page_holds_it(page: Page, project: Project) -> None:
    (project.path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    named = [
        {"type": "image", "path": "a.png"},
        {"type": "image", "value": "a.png"},
        {"type": "image", "url": "http://127.0.0.1:9/b.png"},
        {"type": "image", "url": "http://127.0.0.1:9/c.png", "detail": "low"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/d.png"}},
    ]
    held = {"type": "image", "url": PIXEL}
    question = [{"role": "user", "content": [*named, held]}]
    project.suite(case("a") | {"input": question})
    project.run_process("run", "--target", "echo")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_report(page, project)
    rows(page).first.click()
    shown = panel(page).locator(".message.user").first
    expect(shown).to_be_visible()
    pictures = shown.locator("img")
    assert [each.get_attribute("src") for each in pictures.all()] == [PIXEL]
    assert pictures.first.evaluate("picture => picture.complete && picture.naturalWidth") == 1
    for text in ("a.png", "http://127.0.0.1:9/b.png", '"detail": "low"', "9/d.png"):
        expect(shown).to_contain_text(text)
    kinds = shown.locator(".kind").all_inner_texts()
    assert kinds == ["image", "image", "image", "image", "image_url"]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert not any(url.endswith(".png") for url in asked)


def test_filters_sort_and_an_open_case_survive_reload_and_back(
    page: Page, project: Project
) -> None:
    run_mixed(project)
    open_report(page, project)
    bar = page.get_by_role("search")
    bar.get_by_role("combobox", name="Any tag").select_option("hard")
    expect(rows(page)).to_have_count(3)
    page.get_by_role("columnheader", name="Case").get_by_role("button").click()
    assert names(page) == ["beta", "delta", "gamma"]
    rows(page).first.click()
    expect(panel(page)).to_contain_text("a needle in the hay")
    page.reload()
    expect(panel(page)).to_contain_text("a needle in the hay")
    assert names(page) == ["beta", "delta", "gamma"]
    page.go_back()
    expect(panel(page)).to_be_hidden()
    page.go_back()
    assert names(page) == ["delta", "beta", "gamma"]
    page.go_back()
    expect(rows(page)).to_have_count(5)
    bar.get_by_role("button", name="failed").click()
    assert names(page) == ["beta"]
    bar.get_by_role("button", name="errored").click()
    assert names(page) == ["delta", "beta"]
    bar.get_by_role("button", name="Clear").click()
    bar.get_by_role("combobox", name="Failed by any grader").select_option("expected")
    assert names(page) == ["beta"]


def test_search_goes_through_all_text(page: Page, project: Project) -> None:
    run_mixed(project)
    open_report(page, project)
    page.get_by_role("searchbox").fill("NEEDLE hay")
    expect(rows(page)).to_have_count(1)
    assert names(page) == ["beta"]
    expect(page.get_by_role("status")).to_contain_text("1 of 5 cases")
    page.get_by_role("searchbox").fill("no such words")
    expect(page.get_by_text("No case fits these filters.")).to_be_visible()


def test_the_keyboard_is_enough(page: Page, project: Project) -> None:
    run_mixed(project)
    open_report(page, project)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(panel(page).get_by_role("heading", name="beta")).to_be_visible()
    page.keyboard.press("n")
    expect(panel(page).get_by_role("heading", name="delta")).to_be_visible()
    page.keyboard.press("N")
    expect(panel(page).get_by_role("heading", name="beta")).to_be_visible()
    page.keyboard.press("j")
    expect(panel(page).get_by_role("heading", name="alpha")).to_be_visible()
    page.keyboard.press("k")
    expect(panel(page).get_by_role("heading", name="beta")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(rows(page).nth(1)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_buttons_of_a_case_lead_to_its_neighbours(page: Page, project: Project) -> None:
    run_mixed(project)
    open_report(page, project)
    rows(page).first.click()
    steps = panel(page).get_by_role("navigation", name="Cases")
    for name in (*ORDER[1:], ORDER[-1]):
        steps.get_by_role("button", name="Next case").click()
        expect(panel(page).get_by_role("heading", name=name)).to_be_visible()
    for name in (*ORDER[-2::-1], ORDER[0]):
        steps.get_by_role("button", name="Previous case").click()
        expect(panel(page).get_by_role("heading", name=name)).to_be_visible()


def test_an_indicator_is_named_and_does_not_look_like_a_failure(
    page: Page, project: Project
) -> None:
    shown = {"type": "regex", "value": "never", "indicator": True}
    project.suite(case("a", "say no", graders=[shown]))
    project.run_process("run")
    open_report(page, project)
    rows(page).first.click()
    grades = panel(page).locator(".grades > li")
    expect(grades).to_have_count(2)
    assert grades.locator(".kind").all_inner_texts() == ["indicator"]
    filled = "mark => getComputedStyle(mark).fill"
    one, other = (each.locator(".outline").evaluate(filled) for each in grades.all())
    assert one != other


def test_data_is_set_in_one_width_and_a_call_has_its_id_apart(page: Page, project: Project) -> None:
    call = {"tool": "Write", "id": "t2", "input": {}}
    asked = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "user", "content": '{"a": [1]}'},
    ]
    project.suite({"id": "a", "input": asked, "expected_output": '{"a": 2}'})
    project.run_process("run", "--target", "echo")
    open_report(page, project)
    rows(page).first.click()
    expect(panel(page).locator(".call").first).to_contain_text("Write t2")
    sides = panel(page).locator(".trial .diff .text").all()
    assert [each.get_attribute("class") for each in sides] == ["text data", "text data"]
    assert "data" in (panel(page).locator(".message .text").last.get_attribute("class") or "")


def test_a_case_shows_what_differs_word_by_word(page: Page, project: Project) -> None:
    project.suite(
        {
            "id": "a", "input": "say the quick red fox jumps",
            "expected_output": "the quick brown fox jumps",
        }
    )  # fmt: skip
    project.run_process("run")
    open_report(page, project, "")
    rows(page).first.click()
    compared = panel(page).locator(".trial > div > .diff")
    assert compared.locator("del").all_inner_texts() == ["brown"]
    assert compared.locator("ins").all_inner_texts() == ["red"]


def test_why_a_case_failed_stands_before_what_an_agent_changed(
    page: Page, project: Project
) -> None:
    (project.path / "shop").mkdir()
    (project.path / "shop/a.txt").write_text("a\n")
    asked = {"id": "a", "input": "hi", "workspace": {"template": "shop"}}
    project.suite({**asked, "graders": [{"diff": {"only": ["a.txt"]}}]})
    project.run_process("run", "--target", "command:touch b.txt")
    open_report(page, project, "")
    rows(page).first.click()
    headings = panel(page).locator(".trial h3").all_inner_texts()
    assert headings[-2:] == ["Grades", "Changed: 1 file, +0 -0 lines"]


def test_markup_and_direction_marks_of_a_model_are_text(page: Page, project: Project) -> None:
    hostile = (
        "</script><img src=x onerror=document.title='owned'><script>document.title='owned'"
        "</script> \u202egnorw si siht\u202c \x1b[31m javascript:alert(1) <a href=//evil.example>x"
    )
    project.add_to_agent(f"def hostile(question):\n    return {hostile!r}\n")
    project.suite(
        {"id": "<b>id</b>", "input": "x", "expected_output": hostile[:40], "tags": ["<i>t</i>"]},
        target="python:agent:hostile",
    )
    project.run_process("run")
    open_report(page, project)
    expect(rows(page).locator(".name")).to_have_text("<b>id</b>")
    rows(page).first.click()
    said = panel(page).locator(".ins-side .text").first
    expect(said).to_contain_text("</script><img src=x onerror=")
    expect(said.locator(".spelt").first).to_have_text("U+202E")
    expect(said).to_contain_text("U+001B[31m")
    assert "owned" not in page.title()
    assert page.locator("img, iframe, a[href^='http'], a[href*='evil']").count() == 0
    isolated = said.evaluate("element => getComputedStyle(element).unicodeBidi")
    assert isolated in ("isolate", "plaintext")


def test_labels_are_kept_and_exported_as_calibrate_reads_them(page: Page, project: Project) -> None:
    run_mixed(project)
    open_report(page, project)
    rows(page).nth(1).click()
    panel(page).get_by_role("textbox", name="Your name").fill("ada")
    panel(page).get_by_role("textbox", name="Your name").press("Tab")
    panel(page).get_by_role("button", name="pass").click()
    page.keyboard.press("j")
    expect(panel(page).get_by_role("heading", name="alpha")).to_be_visible()
    page.keyboard.press("-")
    expect(panel(page).get_by_role("button", name="fail")).to_have_attribute("aria-pressed", "true")
    page.reload()
    with page.expect_download() as found:
        page.get_by_role("button", name="Export labels 2").click()
    found.value.save_as(project.path / "labels.jsonl")
    done = project.run_process("calibrate", "--grader", "expected", "--labels", "labels.jsonl")
    assert "2 used, by ada" in done.out


def test_labels_can_be_made_blind(page: Page, project: Project) -> None:
    run_mixed(project)
    open_report(page, project)
    rows(page).nth(1).click()
    expect(panel(page)).to_contain_text("which may influence your label")
    panel(page).get_by_role("button", name="Label blind").click()
    assert names(page) == ["alpha", "beta", "delta", "gamma", "omega"]
    expect(panel(page).get_by_role("heading", name="beta")).to_be_visible()
    telling = page.locator(
        ".headline, .charts, .rows .mark, .word, .why, .cell.score, .title .mark, .graded"
    )
    grades = panel(page).get_by_role("heading", name="Grades")
    page.reload()
    expect(panel(page)).to_contain_text("hidden until you have labelled")
    assert [each for each in telling.all() if each.is_visible()] == []
    expect(panel(page).get_by_text("score 0.00")).to_be_hidden()
    assert find_faults(page) == []
    assert "%" not in page.title()
    page.keyboard.press("-")
    expect(grades).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(panel(page).get_by_role("heading", name="gamma")).to_be_visible()
    expect(grades).to_be_hidden()
    panel(page).get_by_role("button", name="Label blind").click()
    expect(grades).to_be_visible()
    assert names(page) == ORDER


def test_paper_has_every_row(page: Page, project: Project) -> None:
    project.suite(*[case(f"c{number}") for number in range(150)])
    project.run_process("run")
    open_report(page, project)
    assert rows(page).count() < 100
    page.emulate_media(media="print")
    expect(rows(page)).to_have_count(150)
    expect(page.get_by_role("searchbox")).to_be_hidden()
    assert len(page.pdf()) > 10_000
    expect(page.locator(".subject")).to_be_visible()
    page.emulate_media(media="screen")
    assert rows(page).count() < 100


def test_a_phone_shows_the_list_and_then_the_case(page: Page, project: Project) -> None:
    run_mixed(project)
    page.set_viewport_size({"width": 390, "height": 800})
    open_report(page, project)
    width = page.locator("html").evaluate("element => element.scrollWidth")
    assert width <= 390
    assert page.locator(".brand").evaluate("element => element.getClientRects().length") == 1
    expect(page.get_by_role("banner")).to_contain_text("suite s.eval.yaml")
    rows(page).first.click()
    expect(panel(page).get_by_role("heading", name="delta")).to_be_in_viewport()
    panel(page).get_by_role("button", name="Close the case").click()
    expect(panel(page)).to_be_hidden()


def test_repeats_are_folded_and_each_trial_can_be_seen(page: Page, project: Project) -> None:
    project.add_to_agent(
        'def turns(question):\n    note("calls", "x")\n'
        '    return "ok" if calls_of("x") % 3 else "no"\n'
    )
    project.suite(case("a", "x", repeat=4), target="python:agent:turns")
    project.run_process("run", "--concurrency", "1")
    open_report(page, project)
    expect(rows(page)).to_have_count(1)
    expect(rows(page).first).to_contain_text("3/4")
    rows(page).first.click()
    expect(panel(page)).to_contain_text("3 of 4 trials passed")
    expect(panel(page)).to_contain_text("2 different answers")
    panel(page).get_by_role("button", name="trial 4").click()
    expect(panel(page).get_by_role("region", name="Trial 4")).to_be_visible()
    assert "trial=4" in page.url
    open_file(page, project, "#" + page.url.split("#")[1])
    expect(panel(page).get_by_role("region", name="Trial 4")).to_be_visible()


def test_ten_thousand_cases_scroll_and_are_found(page: Page, project: Project) -> None:
    lines = [
        json.dumps({"id": f"c{number}", "input": f"say {number}", "expected_output": f"{number}"})
        for number in range(10_000)
    ]
    (project.path / "many.eval.jsonl").write_text("\n".join(lines))
    project.run_process("run", "--concurrency", "50")
    open_report(page, project)
    assert rows(page).count() < 100
    page.keyboard.press("End")
    expect(rows(page).filter(has_text="c9999")).to_be_in_viewport()
    page.get_by_role("searchbox").fill("say 7777")
    expect(rows(page)).to_have_count(1)
    assert names(page) == ["c7777"]


def test_the_steps_of_a_traced_answer_are_a_tree(page: Page, project: Project) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
    spans = [
        span({"evalcase.case": "a"}, id="01", name="agent"),
        span(tool, id="02", parent="01", name="execute_tool find", error="<b>no</b> disk"),
        span(parent="02", name="retrieve"),
        chat("ok", parent="01", start=3),
    ]
    (project.path / "t.jsonl").write_text(line(*spans))
    project.suite(case("a"))
    project.run_process("run", "--target", "otlp:t.jsonl")
    open_report(page, project)
    rows(page).first.click()
    panel(page).get_by_text("Steps: 4, 1 failed").click()
    steps = panel(page).get_by_role("list", name="Steps")
    expect(steps.locator("li li li")).to_have_text(["retrieve1.00 s"])
    expect(steps).to_contain_text("failed: <b>no</b> disk")
    assert find_faults(page) == []


def test_a_conversation_is_read_turn_by_turn_with_grades_beside_their_turn(
    page: Page, project: Project
) -> None:
    project.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
        '[targets.user]\nkind = "replay"\npath = "u.jsonl"\n'
    )
    (project.path / "u.jsonl").write_text(
        json.dumps({"case": "played", "turns": ["say cheese", "say more", "DONE"]}) + "\n"
    )
    project.suite(
        {
            "id": "written",
            "turns": [
                {"input": "say one", "expected_output": "one"},
                {"input": "say two", "expected_output": "zwei"},
            ],
            "graders": [{"turns": {"max": 2}}],
        },
        {
            "id": "played",
            "user": {"goal": "Get more cheese.", "target": "user", "max_turns": 5},
            "graders": [{"contains": "more"}],
        },
    )
    assert project.run_process("run", "--quiet").code == 1
    open_report(page, project)
    rows(page).first.click()
    second = panel(page).get_by_role("region", name="Turn 2")
    expect(second).to_contain_text("say two")
    expect(second).to_contain_text("expected")
    expect(second).not_to_contain_text("say one")
    expect(panel(page)).to_contain_text("Grades of the whole")
    assert find_faults(page) == []
    page.get_by_role("button", name="Next case").click()
    expect(panel(page)).to_contain_text("Get more cheese.")
    expect(panel(page).get_by_role("region", name="Turn 1")).to_contain_text("say cheese")
    expect(panel(page)).to_contain_text("It ended because the user said that they were done.")
    expect(panel(page)).to_contain_text("The user was played by user: asked 3 times")


def test_cases_at_several_targets_are_counted_as_they_were_written(
    page: Page, project: Project
) -> None:
    project.suite(case("a"), case("b"), case("kiwi"))
    project.run_process("run", "--target", "python:agent:answer", "--target", "python:agent:other")
    open_report(page, project)
    overview = page.get_by_role("region", name="Overview")
    expect(overview).to_contain_text("of 3 cases × 2 targets passed")
    shown = page.get_by_role("search").get_by_role("status")
    expect(shown).to_have_text("3 cases × 2 targets")
    page.get_by_role("searchbox").fill("kiwi")
    expect(shown).to_contain_text("2 of 6 (3 cases × 2 targets)")


def test_whether_trials_were_answered_alike_is_said_in_words(page: Page, project: Project) -> None:
    project.suite(case("a", repeat=2))
    project.run_process("run")
    open_report(page, project)
    expect(page.get_by_role("img", name="all answers identical")).to_be_visible()


def run_at_two_targets(project: Project) -> None:
    project.suite(
        case("alpha", "say ok"),
        case("beta", "say  a\nneedle"),
        case("gamma", "call", expected_output=None, graders=[{"tool_calls": {"max": 1}}]),
        case("delta", "raise it broke"),
    )
    code = "def loud(text):\n    return text.upper()\n"
    code += "def call(text):\n    tool = {'tool': 'find', 'input': {'order': 'A-1'}}\n"
    code += "    return {'role': 'assistant', 'tool_calls': [tool]}\n"
    (project.path / "second.py").write_text(code)
    second = ("--target", "python:second:loud", "--target", "python:second:call")
    project.run_process("run", "--target", "agent", *second)


def test_targets_stand_side_by_side_with_what_each_said(page: Page, project: Project) -> None:
    run_at_two_targets(project)
    open_report(page, project)
    assert rows(page).count() == 12
    toggle = page.get_by_role("button", name="Targets side by side")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    heads = page.get_by_role("columnheader")
    told = ["Case", "agent2 passed", "python:second:loud1 passed", "python:second:call1 passed"]
    assert heads.all_inner_texts() == told
    # Where trouble is worst comes first.
    assert names(page) == ["delta", "alpha", "beta", "gamma"]
    alpha = rows(page).filter(has_text="alpha").locator(".excerpt")
    expect(alpha.nth(0)).to_have_text("ok")
    expect(alpha.nth(1)).to_have_text("SAY OK")
    expect(alpha.nth(2)).to_contain_text("find {")
    beta = rows(page).filter(has_text="beta").locator(".excerpt")
    expect(beta.nth(0)).to_have_text("a needle")
    delta = rows(page).filter(has_text="delta").locator(".excerpt")
    expect(delta.nth(0)).to_contain_text("it broke")
    assert find_faults(page) == []
    page.get_by_role("combobox", name="Any target").select_option("agent")
    assert heads.all_inner_texts() == ["Case", "agent2 passed"]


def test_the_page_is_drawn_with_its_charts_when_it_has_loaded(page: Page, project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), case("c", tags=["x"]))
    project.run_process("run", "--target", "python:agent:answer", "--target", "python:agent:other")
    project.run_process("report", "-o", "report.html")
    page.goto((project.path / "report.html").as_uri(), wait_until="load")
    assert page.evaluate("document.body.classList.contains('ready')")
    assert page.evaluate("document.querySelectorAll('.charts figure').length") > 0


def test_the_reason_stands_in_the_cell_of_a_target_that_failed(
    page: Page, project: Project
) -> None:
    project.suite(case("a"), case("b", "say no"))
    project.run_process("run", "--target", "python:agent:answer", "--target", "python:agent:other")
    open_report(page, project, "#view=grid")
    expect(page.locator(".row:not(.head) .said .why")).to_have_text('expected "ok", got "no"')
