"""Every page does what it shows: its blocks are run, and its outputs are what was printed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.images import make_run_svg
from docs.images.make_check_svg import COMMAND, FOLDER, PICTURE, draw, terminal_output
from docs.regenerate import ROOT, Ran, blocks_of, pages, run_page
from tests.for_each import for_each
from tests.run.project import Project
from tests.servers.server import INSTALLED, Server

OUTDATED = "run `python docs/regenerate.py` and read the diff"
NOT_RUN = {"sh", "text"}
RUN = {"console", "python", "yaml", "json", "jsonl", "toml"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module", params=pages(), ids=name)
def page(request: pytest.FixtureRequest) -> tuple[Path, Ran]:
    return request.param, run_page(request.param)


def test_shown_outputs_are_real(page: tuple[Path, Ran]) -> None:
    path, ran = page
    assert path.read_text(encoding="utf-8") == ran.text, OUTDATED


def test_eval_files_are_as_good_as_their_marks_say(page: tuple[Path, Ran]) -> None:
    from evalcase.types.problem import CODES

    path, ran = page
    for line, claim, codes in ran.verdicts:
        where = f"{name(path)}:{line}"
        if claim == "good":
            assert codes == [], where
        elif claim == "valid":
            assert not [code for code in codes if CODES[code].severity == "error"], where
        else:
            assert set(codes) == {path.stem}, where


@for_each("path", pages(), ids=name)
def test_every_block_is_either_run_or_known_not_to_be(path: Path) -> None:
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{name(path)}:{block.start}"
        assert block.language in RUN | NOT_RUN, where
        if block.language in ("yaml", "json", "jsonl", "toml"):
            assert block.verdict or block.file or "show" in block.marks, where
        if block.language == "sh" and not block.file:  # a file is run by a command beside it
            assert "evalcase " not in block.text.replace("/evalcase ", ""), where


@for_each("path", pages(), ids=name)
def test_a_page_can_be_followed_in_one_shell(path: Path) -> None:
    """Each command begins where the page is run: one that goes elsewhere on its own comes back."""
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "console":
            gone = re.findall(r"^\$ cd .*&&.*", block.text, re.MULTILINE)
            assert not gone, f"{name(path)}:{block.start}"


def test_the_verbs_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    for path in pages():
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make (?:[A-Z]+=\S+ )?([a-z]+)", text, re.MULTILINE))
        assert named <= verbs, name(path)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {verb for verb in verbs if f"`make {verb}`" in contributing} == verbs - {"help"}


def test_the_picture_shows_what_the_command_prints() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(terminal_output(COMMAND, FOLDER)), OUTDATED


def test_the_picture_of_a_run_shows_what_it_prints() -> None:
    assert make_run_svg.PICTURE.read_text(encoding="utf-8") == make_run_svg.picture(), OUTDATED


# Links inside the documentation lead somewhere, headings included


_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """The anchors that a code host gives to the headings of a page."""
    headings = (re.sub(r"[^\w\- ]", "", found.lower()) for found in _HEADING.findall(prose(path)))
    return {heading.replace(" ", "-") for heading in headings}


@for_each("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_internal_links_resolve(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        assert path.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(path), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in _LINK.findall(prose(page)):
            path = (page.parent / link.partition("#")[0]).resolve()
            if path.is_dir():
                waiting.extend(path.rglob("README.md"))
            elif path.suffix == ".md":
                waiting.append(path)
    assert set(pages()) <= reached


def test_the_readme_itself_links_every_guide() -> None:
    linked = {(ROOT / link.partition("#")[0]) for link in _LINK.findall(prose(ROOT / "README.md"))}
    assert sorted(set((ROOT / "docs").glob("*.md")) - linked) == []


def test_pages_agree_on_how_evalcase_is_installed() -> None:
    for page in [*pages(), *(ROOT / "examples").rglob("*.yml")]:
        assert "pip install evalcase" not in page.read_text(encoding="utf-8"), page


# The list of faults has a file of tests for each row, and every such test is on the list


PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8").partition("\n## ")[0]
TESTS = ROOT / "tests"
_ROW = re.compile(r"^\| \[(\d+)\]\(\.\./tests/faults/(\S+)\) \|", re.MULTILINE)
_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def names(path: Path) -> list[str]:
    return _TEST.findall(path.read_text(encoding="utf-8"))


def test_every_row_has_a_file_whose_tests_are_named_after_it() -> None:
    rows = _ROW.findall(PAGE)
    assert len(rows) == PAGE.count("\n| ") - 1, "a row that links to no file"
    for number, file in rows:
        found = names(TESTS / "faults" / file)
        assert found, file
        prefix = f"test_fault_{int(number):02}_"
        assert file.startswith(prefix)
        assert [name for name in found if not name.startswith(prefix)] == []


def test_every_file_of_faults_is_in_one_row() -> None:
    listed = [file for _, file in _ROW.findall(PAGE)]
    assert sorted(listed) == sorted(path.name for path in (TESTS / "faults").glob("test_*.py"))


def test_every_test_that_is_named_after_a_fault_names_a_row() -> None:
    numbers = {f"{int(number):02}" for number, _ in _ROW.findall(PAGE)}
    for path in TESTS.rglob("test_*.py"):
        for name in names(path):
            fault = re.match(r"test_fault_(\w+?)_", name)
            assert fault is None or fault[1] in numbers, f"{path.name}: {name}"


def test_numbers_are_unique_and_go_up() -> None:
    numbers = [int(number) for number, _ in _ROW.findall(PAGE)]
    assert numbers == sorted(set(numbers))


# The recipes work, as far as this machine can tell: the FastAPI service is started and asked


RECIPES = ROOT / "docs" / "recipes.md"
FILES = {block.file: block.text for block in blocks_of(RECIPES.read_text()) if block.file}
SDKS = ("with_openai.py", "with_responses.py", "with_anthropic.py", "with_langgraph.py")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "service.py").write_text(FILES["service.py"])
    uvicorn = (INSTALLED / "bin" / "python", "-m", "uvicorn", "--app-dir", tmp_path)
    server = Server((*uvicorn, "service:app", "--port", "0"))
    yield server.await_address()
    server.stop()


def test_the_fastapi_service_is_asked_as_it_is_configured(tmp_path: Path, address: str) -> None:
    project = Project(tmp_path)
    assert "http://localhost:8000" in FILES["evalcase.toml"]
    config = FILES["evalcase.toml"].replace("http://localhost:8000", address)
    (tmp_path / "evalcase.toml").write_text(config)
    (tmp_path / "shop.eval.yaml").write_text(FILES["shop.eval.yaml"])
    done = project.run("run")
    assert (done.code, done.out.startswith("1 passed")) == (0, True), done


@for_each("file", SDKS)
def test_code_for_sdks_is_python_with_a_function_that_answers(file: str) -> None:
    code = compile(FILES[file], file, "exec")
    assert "answer" in code.co_names
