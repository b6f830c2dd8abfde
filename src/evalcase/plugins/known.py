"""What suites mention, looked up: graders that are installed, targets and judge of a project.

Nothing is imported or read before a suite mentions something, and nothing of the project's own
code is imported at all.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from evalcase.errors import ConfigError
from evalcase.model.finding import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.known import What
    from evalcase.project.config import Config


class Installed:
    """The graders that are installed. It objects to nothing: a file may be read anywhere."""

    def __init__(self) -> None:
        self._graders: dict[str, DeclaredGrader | None] = {}
        self._broken: dict[str, str] = {}

    def grader(self, name: str) -> DeclaredGrader | None:
        if name not in self._graders:
            if ":" in name:
                return None  # it may be any of a million functions
            self._graders[name] = self._declared(name)
        return self._graders[name]

    def _declared(self, name: str) -> DeclaredGrader | None:
        from evalcase.model.grader_options import declared_grader
        from evalcase.plugins.registry import search_class

        try:
            made_by = search_class("graders", name)
            return None if made_by is None else declared_grader(made_by)
        except (ConfigError, AttributeError, TypeError) as error:
            self._broken[name] = str(error)
            return None

    def object_to(self, what: What, name: str) -> Unfit | None:
        del what, name
        return None

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        del function, arguments
        return None

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        del judge, target
        return None

    def describe_same_user(self, user: str, target: str | None) -> str | None:
        del user, target
        return None


class Existing(Installed):
    """The same, and a grader that nobody knows is objected to."""

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what != "grader":
            return None
        if name in self._broken:
            return Unfit("bad-grader", f"the grader `{name}` can't be used: {self._broken[name]}")
        from evalcase.plugins.grader_hints import hint_for_grader

        return Unfit("unknown-grader", f"there is no grader `{name}`", hint_for_grader(name))


class InProject(Existing):
    """The same for a project with its configuration: targets and a judge, too."""

    def __init__(self, read_config: Callable[[], Config]) -> None:
        super().__init__()
        self._read_config = read_config
        self._targets: dict[str, Unfit | None] = {}
        self._code: dict[str, Unfit | None] = {}
        self._programs: dict[tuple[What, str], Unfit | None] = {}
        self._same: dict[tuple[str, str], str | None] = {}

    @cached_property
    def config(self) -> Config:
        return self._read_config()

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what == "grader":
            return super().object_to(what, name)
        if what == "judge":
            return self._object_to_judge(name)
        if what == "code":
            return self._object_to_code(name)
        if what in ("program", "script"):
            return self._object_to_program(what, name)
        if name not in self._targets:
            from evalcase.plugins.target_names import object_to_target

            self._targets[name] = object_to_target(name, self.config, of_suite=True)
        return self._targets[name]

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        from evalcase.graders.python import check_call
        from evalcase.system.stand_ins import find_stand_in

        stand_in = find_stand_in(function, self.config.root)
        try:
            if stand_in is not None:
                check_call(stand_in, arguments)
        except ConfigError as error:
            return Unfit("bad-grader", str(error))
        return None

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        config = self.config
        default = config.judge.target if config.judge is not None else None
        judge, target = judge or default, target or config.target
        if judge is None or target is None:
            return None
        if (judge, target) not in self._same:
            from evalcase.plugins.target_names import describe_same_model

            same = describe_same_model(judge, target, config)
            # Of its own two, the configuration says so itself.
            own = (judge, target) == (default, config.target)
            self._same[judge, target] = None if own else same
        return self._same[judge, target]

    def describe_same_user(self, user: str, target: str | None) -> str | None:
        from evalcase.plugins.target_names import describe_same_user

        return describe_same_user(user, target or self.config.target)

    def _object_to_program(self, what: What, name: str) -> Unfit | None:
        if (what, name) not in self._programs:
            from evalcase.plugins.named_programs import object_to_program, object_to_script

            object_to = object_to_program if what == "program" else object_to_script
            self._programs[what, name] = object_to(name, self.config.root)
        return self._programs[what, name]

    def _object_to_code(self, reference: str) -> Unfit | None:
        if reference not in self._code:
            self._code[reference] = self._object_to_function(reference)
        return self._code[reference]

    def _object_to_function(self, reference: str) -> Unfit | None:
        from evalcase.system.definitions import find_broken, find_undefined

        broken = find_broken(reference, self.config.root)
        if broken is not None:
            return Unfit("bad-grader", *broken)
        undefined = find_undefined(reference, self.config.root)
        if undefined is not None:
            return Unfit("unknown-grader", *undefined)
        if not self.config.is_read:
            return None  # nobody says where the project begins, and so where its modules are
        from evalcase.system.missing_modules import find_missing_module

        missing = find_missing_module(reference, self.config.root)
        return None if missing is None else Unfit("missing-module", *missing)

    def _object_to_judge(self, field: str) -> Unfit | None:
        if self.config.judge is not None or not self.config.is_read or self.config.has_bad_judge:
            return None
        from evalcase.project.config_file import say_table

        table = say_table(self.config.path, "judge")
        hint = f'add {table}, with who judges, such as target = "openai:MODEL"'
        return Unfit("no-judge", f"`{field}` needs a judge, and none is configured", hint)
