"""What holds of all sources of the package, found by parsing each once."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

import evalcase

SOURCES = Path(evalcase.__file__).parent

Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    return parse_all(SOURCES)


def parse_all(folder: Path) -> Trees:
    """Nothing of it is garbage: to look for some takes longer than all else."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_bytes()) for path in sorted(folder.rglob("*.py"))}
    finally:
        gc.enable()


def name_of(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def statements(body: Iterable[Any]) -> Iterator[ast.AST]:
    """All statements, those inside of others too. It leaves out expressions, which are most."""
    for each in body:
        yield each
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(each, inner, ()))


# One word stands for one thing.

MAY_STAND_OFTEN = {
    "command": "each module of a command has one, by which it is found",
    "option": "graders and targets have options as commands have them: `declare.option`",
}


def _names_a_type(name: str) -> bool:
    return name.lstrip("_")[:1].isupper() and not name.isupper()


def definitions(trees: Trees) -> dict[str, list[str]]:
    """Where each class, name of a type, and function for others is defined, by its name."""
    found: dict[str, list[str]] = {}
    for path, module in trees.items():
        inside = statements(module.body)
        classes = [node.name for node in inside if isinstance(node, ast.ClassDef)]
        functions = {
            node.name
            for node in module.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_"
        }  # a set: an overloaded function is one
        aliases = [
            target.id
            for node in module.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name) and _names_a_type(target.id)
        ]
        for name in (*classes, *aliases, *functions):
            found.setdefault(name, []).append(name_of(path))
    return found


def test_one_word_stands_for_one_thing(trees: Trees) -> None:
    several = {name: places for name, places in definitions(trees).items() if len(places) > 1}
    assert {name: several[name] for name in several.keys() - MAY_STAND_OFTEN} == {}
    assert several.keys() >= MAY_STAND_OFTEN.keys(), "one of these needs no leave any more"


def test_one_value_stands_in_one_place(trees: Trees) -> None:
    """A constant for others that has the name and the value of another is a copy of it."""
    found: dict[tuple[str, str], list[str]] = {}
    for path, module in trees.items():
        for node in module.body:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(name)], value=ast.expr() as value)
                    | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value)
                ) if name.isupper() and name[0] != "_" and len(name) > 1:
                    found.setdefault((name, ast.unparse(value)), []).append(name_of(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


# What a function does is done by one: what several need lies beneath them.

_LONG = 100
"""Of how many characters on a body says something of its own."""


def doubles(trees: Trees) -> dict[str, list[str]]:
    """Where functions of several modules have the same body, word for word, by their names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, module in trees.items():
        lines = path.read_text().splitlines()
        for node in statements(module.body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = [each for each in node.body if not _is_docstring(each)]
                first, last = (body[0].lineno, body[-1].end_lineno) if body else (1, 0)
                text = "\n".join(line.strip() for line in lines[first - 1 : last])
                if len(text) >= _LONG:
                    found.setdefault(text, []).append((node.name, str(path)))
    return {
        several[0][0]: [place for _, place in several]
        for several in found.values()
        if len({place for _, place in several}) > 1
    }


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_no_function_stands_in_two_modules(trees: Trees) -> None:
    assert doubles(trees) == {}


def test_a_function_that_stands_twice_is_found(tmp_path: Path) -> None:
    long = "".join(f".removeprefix('{n}')" for n in range(8))
    bodies = {"one": long, "two": long, "other": long.upper(), "short_one": "", "short_two": ""}
    for name, body in bodies.items():
        source = f'def {name}(path):\n    """What {name} does."""\n    return path{body}\n'
        (tmp_path / f"{name}.py").write_text(source)
    assert doubles(parse_all(tmp_path)) == {
        "one": [str(tmp_path / "one.py"), str(tmp_path / "two.py")]
    }


# What is counted is told with its noun, and cut lists with what is left, in one way.

BENEATH = ("model/", "errors.py")
"""What lies beneath `text`, and can't use what is there."""


def counted_by_hand(trees: Trees) -> list[str]:
    """Where the ending of a noun depends on its number."""
    return [
        f"{name_of(path)}:{node.lineno}"
        for path, module in trees.items()
        for node in ast.walk(module)
        if isinstance(node, ast.IfExp)
        and {"", "s"} == {getattr(each, "value", None) for each in (node.body, node.orelse)}
        and not name_of(path).startswith(BENEATH)
    ]


def test_what_is_counted_is_told_in_one_way(trees: Trees) -> None:
    assert [place.partition(":")[0] for place in counted_by_hand(trees)] == ["text/counted.py"]


# What anybody may raise is caught at borders: to code of users, to other packages, at the end.

BORDERS = {
    "cli/app.py": "the end of the command, which says by its code how it went",
    "cli/main.py": "the beginning of the process",
    "cli/running.py": "how far a run came is in the record, whatever ended it",
    "evaluation/conduct.py": "a watcher may be the user's own code",
    "grade/apply.py": "graders",
    "places/away.py": "what is asked for a grader elsewhere; who asked is told",
    "places/ray_channel.py": "Ray",
    "places/ray_worker.py": "the end of a process on another machine",
    "places/service.py": "the end of a worker",
    "pytest_plugin/asserting.py": "raised again in the thread that asked",
    "pytest_plugin/conductor.py": "raised again by each test",
    "run/attempt.py": "targets",
    "run/gate.py": "targets, which say what decides an answer",
    "run/life.py": "set-up and tear-down of users",
    "system/guest.py": "code of users, awaited",
    "system/http/server.py": "a page that can't be shown: the browser and the terminal are told",
    "system/loop.py": "the event loop, which may be left by what anybody raised",
    "system/stubborn.py": "tasks of users that nobody waits for",
    "system/threads.py": "raised again where the call was made",
    "text/crash.py": "errors of users, asked what they are",
    "targets/reading/answers.py": "objects of users, looked at for a hint",
}
"""The modules that keep what anybody may raise, and whom they have before them."""


def test_what_anybody_may_raise_is_caught_at_borders_only(trees: Trees) -> None:
    found = {name_of(path): list(_swallowing(module)) for path, module in trees.items()}
    found = {name: lines for name, lines in found.items() if lines}
    assert {name: found[name] for name in found.keys() - BORDERS} == {}
    assert found.keys() == BORDERS.keys(), "one of these needs no leave any more"


def test_a_handler_that_swallows_everything_is_found() -> None:
    text = """
try: a()
except Exception: pass
try: a()
except (OSError, BaseException): pass
try: a()
except: pass
try: a()
except BaseException: raise
try: a()
except OSError: pass
with suppress(Exception): a()
with suppress(OSError): a()
"""
    assert list(_swallowing(ast.parse(text))) == [3, 5, 7, 12]


def _swallowing(module: ast.Module) -> Iterator[int]:
    """The lines of handlers that catch everything, and don't raise."""
    for node in statements(module.body):
        match node:
            case ast.ExceptHandler(type=caught) if _is_broad(caught):
                if not any(isinstance(each, ast.Raise) for each in ast.walk(node)):
                    yield node.lineno
            case ast.With(items=items):
                for each in items:
                    called = each.context_expr
                    if isinstance(called, ast.Call) and ast.unparse(called.func) == "suppress":
                        yield from [node.lineno] if any(map(_is_broad, called.args)) else []


def _is_broad(caught: ast.expr | None) -> bool:
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        each is None or ast.unparse(each) in ("Exception", "BaseException") for each in names
    )


# Constructors only keep.

OUTSIDE = {
    "environ", "getenv", "getcwd", "urandom", "token_hex", "random", "uuid4", "time", "time_ns",
    "monotonic", "perf_counter", "now", "utcnow", "this_world", "open", "TemporaryFile", "start",
}  # fmt: skip
"""The environment, the clock, chance and the disk, by the names that lead there."""


def test_constructors_keep_what_they_are_given_and_do_nothing_else(trees: Trees) -> None:
    assert [each for path, tree in trees.items() for each in _reaching_out(path, tree)] == []


def test_a_constructor_that_reaches_out_by_another_function_is_found() -> None:
    text = """
class Direct:
    def __init__(self): self.now = time()
class ByMethod:
    def __init__(self): self.write()
    def write(self): open("x")
class ByFunction:
    def __init__(self): self.at = look()
@dataclass
class ByFactory:
    at: str = field(default_factory=os.getcwd)
class ByCheck:
    def __post_init__(self): self.now = time()
class Late:
    def __init__(self): self.at = look
    def write(self): open("x")
def look(): return os.getcwd()
"""
    assert _reaching_out(Path("made.py"), ast.parse(text)) == [
        "made.py: Direct uses `time`",
        "made.py: ByMethod uses `open`",
        "made.py: ByFunction uses `getcwd`",
        "made.py: ByFunction uses `getcwd`",
        "made.py: ByFactory uses `getcwd`",
        "made.py: ByCheck uses `time`",
    ]


def _reaching_out(path: Path, module: ast.Module) -> list[str]:
    """What constructors use that nobody gave them, themselves or by what they call beside them."""
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    return [
        f"{path.name}: {made.name} uses `{name}`"
        for made in statements(module.body)
        if isinstance(made, ast.ClassDef)
        for statement in _constructing(made, functions)
        for node in ast.walk(statement)
        if (name := _name_of(node)) in OUTSIDE
    ]


def _constructing(made: ast.ClassDef, functions: dict[str, ast.FunctionDef]) -> Iterator[ast.stmt]:
    """The statements of a constructor, and of what it calls in its class and its module."""
    methods = {each.name: each for each in made.body if isinstance(each, ast.FunctionDef)}
    yield from (each for each in made.body if isinstance(each, ast.AnnAssign))
    for constructor in _constructors(made):
        yield from constructor.body
        for node in ast.walk(constructor):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("self"), attr=name)):
                    yield from methods[name].body if name in methods else ()
                case ast.Call(func=ast.Name(name)):
                    yield from functions[name].body if name in functions else ()


def _constructors(made: ast.ClassDef) -> list[ast.FunctionDef]:
    """What is run when an object is made."""
    functions = [each for each in made.body if isinstance(each, ast.FunctionDef)]
    return [each for each in functions if each.name in ("__init__", "__post_init__")]


def _name_of(node: ast.AST) -> str:
    """What is called, or what `os` and `sys` are asked for."""
    if isinstance(node, ast.Call):
        called = node.func
        return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    is_system = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.attr if is_system and node.value.id in ("os", "sys") else ""  # type: ignore[attr-defined]


# What an object needs is given to its constructor: nothing is put into it from outside.

MAY_PUT_IN = {
    "found": "diagnostics of editors, a class of another package",
    "told.__cause__": "an exception, which has no other way",
    "file.watcher": "a task that needs the file it is in",
    "lines.service": "each of the two needs the other",
    "batch.is_left": "something that happens to it later",
}


def test_what_an_object_needs_is_given_to_its_constructor(trees: Trees) -> None:
    put_in = [each for path, tree in trees.items() for each in _put_in(path, tree)]
    used = {name for name in MAY_PUT_IN for each in put_in if each.split(": ")[1].startswith(name)}
    assert [each for each in put_in if not each.split(": ")[1].startswith((*MAY_PUT_IN,))] == []
    assert used == MAY_PUT_IN.keys(), "one of these needs no leave any more"


def test_what_is_put_in_from_outside_is_found() -> None:
    text = """
class Work:
    def __init__(self, session):
        session.replaced = True
        self.session = session
def make():
    work = Work(Session())
    work.place = 1
    other = find_work()
    other.place = 1
"""
    assert _put_in(Path("made.py"), ast.parse(text)) == [
        "made.py: session.replaced",
        "made.py: work.place",
    ]


def _put_in(path: Path, module: ast.Module) -> list[str]:
    """What constructors write into what they are given, and functions into what they have made."""
    found = []
    for node in statements(module.body):
        if isinstance(node, ast.ClassDef):
            for constructor in _constructors(node):
                found += _written(constructor, {each.arg for each in constructor.args.args[1:]})
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found += _written(node, set(_made_in(node)))
    return [f"{path.name}: {each}" for each in found]


def _made_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The names of objects that a function makes by calling a class."""
    for node in statements(function.body):
        match node:
            case ast.Assign(value=ast.Call(func=called)) if _names_a_type(
                ast.unparse(called).rpartition(".")[2]
            ):
                yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def _written(function: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str]) -> list[str]:
    return [
        ast.unparse(target)
        for node in statements(function.body)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) in names
    ]


# Importing a module changes no other.


def _patched(path: Path, module: ast.Module) -> list[str]:
    """What a module, when it is imported, puts into a thing that another one made."""
    brought = {
        (alias.asname or alias.name).partition(".")[0]
        for node in statements(module.body)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return [
        f"{path.name}: {ast.unparse(target)}"
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and ast.unparse(target).partition(".")[0] in brought
    ]


def test_no_module_changes_another_when_it_is_imported(trees: Trees) -> None:
    assert [each for path, tree in trees.items() for each in _patched(path, tree)] == []


def test_a_method_that_is_put_in_from_outside_is_found() -> None:
    text = "from evalcase import Case\nclass Own: ...\nOwn.made = 1\nCase.read = print\n"
    assert _patched(Path("made.py"), ast.parse(text)) == ["made.py: Case.read"]


# One place reads files.


def openings(module: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "open", "os.open", "io.open", "Path.open",
        ):  # fmt: skip
            yield node


def reads(call: ast.Call) -> bool:
    """Whether a call of `open` opens for reading, by what it says of its mode."""
    if ast.unparse(call.func) == "os.open":
        return "O_RDONLY" in ast.unparse(call)
    modes = [each.value for each in call.args[1:2] if isinstance(each, ast.Constant)]
    return not modes or "r" in str(modes[0])


def test_files_are_opened_for_reading_in_one_place(trees: Trees) -> None:
    found: dict[str, list[str]] = {}
    for path, module in trees.items():
        name = name_of(path)
        # Its own process table, which is no file that anybody named.
        if name == "system/files.py" or name.startswith("system/processes/"):
            continue
        if b"open" in path.read_bytes():  # few do
            found[name] = [ast.unparse(call) for call in openings(module) if reads(call)]
    # A folder is opened to be synced.
    found = {name: calls for name, calls in found.items() if calls}
    assert found == {"system/disk.py": ["os.open(path or '.', os.O_RDONLY)"]}


# Any module can be imported first.


def imported(statements: Sequence[ast.AST]) -> Iterator[str]:
    """What is imported when a module is, and not only by a function of it or for its types."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from imported(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            yield from imported([*ast.iter_child_nodes(statement)])


def graph(trees: Trees, folder: Path) -> dict[str, set[str]]:
    """Which modules each imports, with the packages that these are in."""
    modules = {_module_of(path, folder): tree for path, tree in trees.items()}
    found: dict[str, set[str]] = {}
    for module, tree in modules.items():
        names = [name.split(".") for name in imported(tree.body)]
        parts = {".".join(name[:end]) for name in names for end in range(1, len(name) + 1)}
        found[module] = (parts & modules.keys()) - {module}
    return found


def _module_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_no_imports_go_in_a_circle(trees: Trees) -> None:
    imports = graph(trees, SOURCES)
    assert len(imports) > 40
    assert "evalcase.cli.declare" in imports["evalcase.cli.app"]
    TopologicalSorter(imports).prepare()


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(f"if 1:\n    from {tmp_path.name} import two\n")
    (tmp_path / "two.py").write_text(f"class A:\n    import {tmp_path.name}.one\n")
    with pytest.raises(CycleError):
        TopologicalSorter(graph(parse_all(tmp_path), tmp_path)).prepare()


# Clock, randomness, environment and working folder are given, not taken, from the pipeline down.

AT_THE_TOP = ("cli/", "pytest_plugin/", "lsp/", "pipeline.py")
TAKEN = {
    "os": {"getcwd", "getcwdb", "environ", "environb", "getenv", "urandom", "getlogin"},
    "time": {"time", "time_ns", "localtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "Path": {"cwd", "home"},
    "random": {"random", "randint", "choice", "shuffle", "sample", "uniform", "SystemRandom"},
    "secrets": {"token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice"},
    "uuid": {"uuid1", "uuid4"},
    "evalcase.system.world": {"this_world"},
}
MAY_TAKE = {
    "system/world.py": "here all of it is taken, for whoever begins a run",
    "system/error_place.py": "whether an error came of looking something up there",
    "system/disk.py": "the name of a draft, which is gone before anybody could see it",
    "system/processes/tree.py": "the mark of this process, by which it knows its children",
    "system/project_root.py": "how a path looks from where whoever reads a hint is",
    "plugins/named_programs.py": "whether a program is on this machine, which its PATH says",
    "places/pool.py": "the numbers of messages, which are in no record",
    "places/ray_cluster.py": "Ray reads its settings from the environment",
    "places/ray_worker.py": "the beginning of a process on another machine, whose folder it is",
    "places/process_worker.py": "the beginning of a process",
    "traces/context.py": "ids of traces, which no other process may give",
}


def things_taken(module: ast.Module) -> set[str]:
    """What a module takes from its process: by attribute, or by a name that it imports."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [(node.value.id, node.attr)]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "", each.name) for each in node.names]
        else:
            continue
        found |= {f"{of}.{name}" for of, name in names if name in TAKEN.get(of, ())}
    return found


def test_clock_randomness_environment_and_folder_are_given(trees: Trees) -> None:
    taken = {name_of(path): things_taken(module) for path, module in trees.items()}
    below = {
        name: things for name, things in taken.items() if things and not name.startswith(AT_THE_TOP)
    }
    assert {name: below[name] for name in below.keys() - MAY_TAKE} == {}
    assert below.keys() >= MAY_TAKE.keys(), "one of these needs no leave any more"
