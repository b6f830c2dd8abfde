"""What a program says of a run when it calls `evaluate`, as a request. The command needs none of
it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial

from evalcase.evaluation.failed_of import find_failed
from evalcase.evaluation.listener import Listener, log_warning
from evalcase.evaluation.plan import Given
from evalcase.evaluation.request import AskedEngine, RunRequest
from evalcase.evaluation.secrets import make_scrubber
from evalcase.model.target import Surroundings
from evalcase.plugins.given import (
    GivenGraders,
    GivenTarget,
    name_graders,
    name_targets,
    name_users,
)
from evalcase.project.config import Config, read_config, read_config_of
from evalcase.project.keywords import Keywords, read_keywords
from evalcase.project.options import runs_folder
from evalcase.run.selection import FailedOf, draw_seed
from evalcase.suites.held_suites import hold_suites
from evalcase.suites.made import read_grader
from evalcase.system.world import World


def read_call(
    what: object, target: GivenTarget | Iterable[GivenTarget] | None, graders: GivenGraders,
    users: Mapping[str, GivenTarget], root: str | os.PathLike[str] | None, keywords: Keywords,
    world: World,
) -> RunRequest:  # fmt: skip
    """The names that it says, and the suites, targets and graders that it has itself."""
    config = _read_config(root, world.cwd)
    warn = keywords.get("on_warning", log_warning)
    scrubber = make_scrubber(config, world.environment, warn)
    around = Surroundings(
        config.root, world.environment, lambda text: warn(scrubber.text(text)), world.now
    )
    targets = name_targets(target, around)
    paths, suites = hold_suites(what)
    folder = runs_folder(keywords.get("runs_dir"), config)
    failed_of = _find_failed(keywords, folder, config)
    if keywords.get("seed") is None:
        keywords["seed"] = draw_seed(
            world.entropy, sample=keywords.get("sample"), stop=keywords.get("stop"),
            shard=keywords.get("shard"),
        )  # fmt: skip
    options = read_keywords(paths, tuple(targets), keywords, failed_of)
    read = partial(read_grader, config=config, no_exec=options.no_exec)
    given = Given(
        suites, {name: each for name, each in targets.items() if each is not None},
        name_graders(graders, read), users=name_users(users, around),
    )  # fmt: skip
    listener = Listener(keywords.get("on_result"))
    engine = AskedEngine(keywords.get("engine"), keywords.get("processes"), keywords.get("on"))
    return RunRequest(
        options, config, world, folder, listener, warn, warn, scrubber, given, engine
    )  # fmt: skip


def _read_config(root: str | os.PathLike[str] | None, cwd: str) -> Config:
    return read_config(cwd, cwd) if root is None else read_config_of(os.fspath(root), cwd)


def _find_failed(keywords: Keywords, folder: str, config: Config) -> FailedOf | None:
    origin = keywords.get("failed_of")
    return find_failed(origin, folder, config.root) if origin is not None else None
