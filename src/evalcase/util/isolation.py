"""What a program in a workspace sees: this machine, or nothing but the system, the workspace, a
home and what is mounted for it.

`bwrap` needs no rights and no images. `docker` and `podman` run an image. The workspace is then
`/workspace`, and the home `/home/agent`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from evalcase.errors import ConfigError
from evalcase.types.workspace import Space
from evalcase.util.processes import Process

WORKSPACE, HOME = "/workspace", "/home/agent"
_TMP = "/tmp"  # noqa: S108 - a folder of its own
_ENGINES = ("docker", "podman")
_LABEL = "evalcase"
_CHECK_S = 30.0
_OF_CLIENT = ("HOME", "PATH", "PWD", "TMPDIR")
"""Variables that the client of containers needs as they are."""


def check_isolation(isolation: str, variables: Mapping[str, str]) -> None:
    """Raise ConfigError if programs can't be isolated like this here."""
    engine = isolation.partition(":")[0]
    if engine == "none":
        return
    program = shutil.which(engine, path=variables.get("PATH"))
    if program is None:
        what = f'`isolation = "{isolation}"` needs the program `{engine}`'
        raise ConfigError(f"{what}, and there is none on this machine")
    check = [*_sandbox(network=False), "true"] if engine == "bwrap" else ["info"]
    try:
        ran = subprocess.run(  # noqa: S603 - with our own arguments
            [program, *check], capture_output=True, timeout=_CHECK_S, check=False
        )
        if ran.returncode == 0:
            return
        said = ran.stderr.decode(errors="replace").strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    raise ConfigError(f"`{engine}` can't be used on this machine: {said[-300:]}")


def enclose(
    space: Space, argv: Sequence[str], environment: Mapping[str, str], *, network: bool,
    writable: Sequence[str] = (),
) -> tuple[list[str], dict[str, str], str]:  # fmt: skip
    """How a program is started that sees what the isolation of its workspace allows: arguments,
    variables, and the name of its container, if it has one. `writable` are further folders that
    it may use, at the paths that they have."""
    if space.isolation == "none":
        return [*argv], {**environment}, ""
    engine, _, image = space.isolation.partition(":")
    program = shutil.which(engine, path=environment.get("PATH")) or engine
    argv = [as_seen(space, each) for each in argv]
    inside = {name: as_seen(space, value) for name, value in environment.items()}
    inside |= {"HOME": HOME, "PWD": WORKSPACE, "TMPDIR": _TMP}
    binds = [(each, each, ":ro") for each in space.mounts]
    binds += [(each, each, "") for each in writable]
    binds += [(space.path, WORKSPACE, ""), (space.home, HOME, "")]
    if engine == "bwrap":
        options = _sandbox(network=network)
        for source, place, is_read_only in binds:
            options += ["--ro-bind" if is_read_only else "--bind", source, place]
        return [program, *options, "--chdir", WORKSPACE, "--", *argv], inside, ""
    name = f"{_LABEL}-{os.urandom(6).hex()}"
    options = ["run", "--rm", "-i", "--init", "--name", name, "--label", _label_of(space.path)]
    options += ["--user", f"{os.getuid()}:{os.getgid()}", "-w", WORKSPACE]
    options += ["--userns=keep-id"] if engine == "podman" else []
    options += [] if network else ["--network", "none"]
    for source, place, is_read_only in binds:
        options += ["-v", f"{source}:{place}{is_read_only}"]
    # By name alone, the client passes a variable on: no value is seen among the arguments.
    passed = {each: value for each, value in inside.items() if each not in _OF_CLIENT}
    options += ["-e", f"HOME={HOME}", *(word for each in passed for word in ("-e", each))]
    return [program, *options, image, *argv], {**os.environ, **passed}, name


def _sandbox(*, network: bool) -> list[str]:
    """The options by which bwrap shows the system and nothing else."""
    options = ["--unshare-all", *(["--share-net"] if network else []), "--die-with-parent"]
    options += ["--new-session", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]
    for folder in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        else:
            options += ["--ro-bind-try", folder, folder]
    names = "/run/systemd/resolve"  # where /etc/resolv.conf leads on many machines
    options += ["--ro-bind-try", names, names, "--proc", "/proc", "--dev", "/dev"]
    return [*options, "--tmpfs", _TMP]


def as_seen(space: Space, text: str) -> str:
    """A text with the paths that the workspace and the home have inside."""
    return text.replace(space.path, WORKSPACE).replace(space.home, HOME)


def hide_paths(space: Space, data: bytes) -> bytes:
    """The same for what a program printed: it is alike in all trials, and on all machines."""
    for path, place in ((space.path, WORKSPACE), (space.home, HOME)):
        for each in {path, os.path.realpath(path)}:
            data = data.replace(os.fsencode(each), place.encode())
    return data


@asynccontextmanager
async def process_in(
    space: Space, argv: Sequence[str], environment: Mapping[str, str], most_bytes: int, *,
    cwd: str | None = None, network: bool = True, writable: Sequence[str] = (),
) -> AsyncIterator[Process]:  # fmt: skip
    """A process in a workspace. Leaving the context ends it, its descendants and its container."""
    argv, environment, container = enclose(
        space, argv, environment, network=network, writable=writable
    )
    try:
        async with Process(argv, cwd or space.path, environment, most_bytes) as process:
            yield process
    finally:
        if container:  # killing the client does not end it
            await asyncio.to_thread(_run_client, [argv[0], "rm", "-f", container])


def _label_of(path: str) -> str:
    """Containers of a run have the name of its folder, by which a later run finds them."""
    folder = next((each for each in path.split(os.sep) if each.startswith("run-")), "")
    return f"{_LABEL}={folder}"


def note_containers(folder: str, isolation: str) -> None:
    """Note in the folder of a run that it has containers."""
    if isolation.startswith(_ENGINES):
        with open(os.path.join(folder, isolation.partition(":")[0]), "wb"):
            pass


def remove_containers(folder: str) -> None:
    """Remove the containers that a run left, whose workspaces were in a folder."""
    for name in _ENGINES:
        program = shutil.which(name) if os.path.exists(os.path.join(folder, name)) else None
        if program is None:
            continue
        label = f"label={_LABEL}={os.path.basename(folder)}"
        for each in _run_client([program, "ps", "-aq", "--filter", label]).split():
            _run_client([program, "rm", "-f", each])


def _run_client(argv: Sequence[str]) -> str:
    """What the client of containers prints; nothing where it fails."""
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(  # noqa: S603 - with our own arguments
            argv, capture_output=True, text=True, timeout=_CHECK_S, check=True
        ).stdout
    return ""
