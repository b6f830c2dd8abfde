"""`evalcase import`, `harvest` and `migrate`: suites from files of other tools, from traces, and
from suites with deprecated names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TextIO

import click

from evalcase.cli.options import checked, stdin_format
from evalcase.cli.terminal import print_lines, print_problems, prose_screen, screen_for
from evalcase.config.catalogue import Catalogue
from evalcase.config.config import load_config
from evalcase.errors import ConfigError
from evalcase.format.fields import CASE_FIELDS
from evalcase.format.migrate import Rewrite, migrate_file
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, discover_files, format_of
from evalcase.importers.convert import IMPORTERS, import_suite
from evalcase.importers.draft import Choices
from evalcase.importers.harvest import Harvested, HarvestOptions, harvest_file
from evalcase.importers.sessions import find_case, read_session
from evalcase.importers.source import FileShape, UnusableError
from evalcase.report.diff import diff_style, unified_diff
from evalcase.report.problems import problem_lines
from evalcase.runner.plan import make_scrubber
from evalcase.targets.transcripts import STORED, StoredFormat
from evalcase.tracing.otlp import BadTraceError
from evalcase.types.options import may_hold_secret
from evalcase.types.problem import Problem, did_you_mean
from evalcase.util.files import OutsideError, write_atomically
from evalcase.util.project import leaves_by_link
from evalcase.util.secrets import PERSONAL, Finder
from evalcase.util.text import list_some, make_visible, write_count

_NAMED = 5
"""So many are named of those that have something in common."""


def _read_columns(given: tuple[str, ...]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for each in given:
        field, is_pair, column = each.partition("=")
        if not (is_pair and field and column):
            raise click.BadParameter(f"'{each}' is not FIELD=COLUMN, such as input=question.")
        if field not in CASE_FIELDS and not field.startswith("metadata."):
            hint = did_you_mean(field, CASE_FIELDS) or "see `evalcase schema`"
            raise click.BadParameter(f"'{field}' is not a field of a case; {hint}")
        if field in columns:
            raise click.BadParameter(f"'{field}' is filled twice.")
        columns[field] = column
    return columns


@click.command("import")
@click.argument("file")
@click.option(
    "--from", "format", type=click.Choice([*IMPORTERS, *STORED]), metavar="NAME",
    help=f"The tool it comes from: {', '.join(IMPORTERS)}. By default, detected from the file. Or "
    f"the session of a coding agent: {', '.join(STORED)}.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE",
    help="Where to write the suite; by default, standard output. Never overwrites a file; the "
    "answer of a session is added to it.",
)  # fmt: skip
@click.option("--case", metavar="ID", help="The case that a session answers.")
@click.option("--patch", metavar="FILE", help="What a session changed, as `git diff` prints it.")
@click.option(
    "--map", "columns", multiple=True, metavar="FIELD=COLUMN", callback=checked(_read_columns),
    help="Fill a field of cases from a column, or from a path such as item.question. Repeatable.",
)  # fmt: skip
@click.option(
    "--rest", type=click.Choice(["metadata"]),
    help="Where unmapped columns go. By default they are left out, and reported.",
)  # fmt: skip
@click.option(
    "--expected", type=click.Choice(["exact", "criteria"]),
    help="Whether expected texts are compared exactly, or are criteria for a judge.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option(
    "--stdin-format", type=click.Choice(["yaml", "json", "jsonl", "csv"]), default="yaml",
    show_default=True, help="The format of standard input, when FILE is '-'.",
)  # fmt: skip
def import_command(
    file: str, format: str | None, output: str | None, case: str | None, patch: str | None,
    columns: dict[str, str], rest: str | None, expected: str | None, dry_run: bool,
    stdin_format: FileShape,
) -> int:  # fmt: skip
    """Convert another tool's eval file, or any table, to a suite; or the session of a coding agent
    to an answer for `replay`.

    FILE is a .yaml, .yml, .json, .jsonl, .csv or .tsv file, or '-' for standard input. Nothing in
    it is executed or fetched. What has no counterpart in evalcase is left out: it becomes a comment
    at that place in the suite, and is reported with its line and column.

    \b
    evalcase import promptfooconfig.yaml -o suite.eval.yaml
    evalcase import evals.json -o skill.eval.yaml
    evalcase import goldens.json --from deepeval -o qa.eval.yaml
    evalcase import qa.csv --map input=question --map expected_output=answer
    evalcase import qa.csv --map input=question --rest metadata --dry-run
    evalcase import ID.jsonl --from claude-session --case fix -o answers.jsonl

    Exit code: 0 if everything was imported, 1 if something was left out, 2 if nothing was written.
    """
    path = output or STDIN
    stored = next((each for each in STORED if each == format), None)
    if stored is not None:
        return _import_session(file, stored, path, case, patch, dry_run=dry_run)
    if case is not None or patch is not None:
        raise click.UsageError("--case and --patch go with the session of a coding agent.")
    _refuse_existing(path)
    # A printed suite has no folder yet: files are looked up from that of the source.
    folder = os.path.dirname(os.path.abspath(file if path == STDIN else path))
    choices = Choices(columns, keeps_rest=rest is not None, expected=expected)
    try:
        imported = import_suite(
            file, format, choices, folder, stdin_format if file == STDIN else None
        )
    except UnusableError as error:
        print_problems(error.problems)
        sys.stderr.write("nothing was written\n")
        return 2
    print_problems(imported.problems)
    lost = len(imported.problems)
    left = f", {write_count(lost, 'thing')} not imported" if lost else ""
    what = f"{write_count(imported.cases, 'case')} from {IMPORTERS[imported.name].tool}{left}"
    talk = _write_suite(imported.text, path, what, dry_run=dry_run)
    if imported.ungraded:
        count = len(imported.ungraded)
        named = list_some(map(make_visible, imported.ungraded[:_NAMED]), count)
        what = "1 case has" if count == 1 else f"{count:,} cases have"
        talk.write(f"{what} nothing to grade, and can never pass: {named}\n")
    if imported.targets:
        talk.write(f"\nfor evalcase.toml:\n\n{imported.targets}")
    return 1 if lost else 0


def _import_session(
    file: str, format: StoredFormat, path: str, case: str | None, patch: str | None, *,
    dry_run: bool,
) -> int:  # fmt: skip
    if case is None:
        raise click.UsageError("--case says which case the session answers.")
    scrubber = make_scrubber(load_config(os.getcwd(), os.getcwd()), os.environ, lambda _: None)
    scrubber.watch(filter(may_hold_secret, os.environ))
    line = f"{read_session(file, format, case, patch, scrubber)}\n"
    before = ""
    if path != STDIN and os.path.lexists(path):
        if find_case(path, case):
            raise _nothing(f"{path} has an answer to `{case}`")
        with open(path, encoding="utf-8") as answers:
            before = answers.read()
        before += "" if not before or before.endswith("\n") else "\n"
    what = f"the answer to `{make_visible(case)}`"
    _write_suite(before + line, path, what, dry_run=dry_run, replace=True)
    return 0


def _read_only(given: tuple[str, ...]) -> tuple[str, ...]:
    for each in given:
        key, is_pair, _ = each.partition("=")
        if each not in ("errored", "slow") and not (is_pair and key):
            raise click.BadParameter(f"'{each}' is not errored, slow or KEY=VALUE.")
    return given


@click.command("harvest")
@click.argument("traces")
@click.option(
    "-o", "--output", metavar="FILE",
    help="Where to write the suite; by default, standard output. Never overwrites a file.",
)  # fmt: skip
@click.option(
    "--only", multiple=True, metavar="WHICH", callback=checked(_read_only),
    help="'errored': a span failed; 'slow': the slowest tenth; KEY=VALUE: a span has that "
    "attribute. Repeatable: all must hold.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="A random sample of N cases.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N",
    help="The seed of --sample: the same number draws the same cases.",
)  # fmt: skip
@click.option(
    "--criteria", is_flag=True,
    help="Draft criteria for a judge from the answers, instead of an expected output.",
)  # fmt: skip
@click.option("--keep-system", is_flag=True, help="Keep the agent's system messages.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def harvest_command(
    traces: str, output: str | None, only: tuple[str, ...], sample: int | None, seed: int,
    criteria: bool, keep_system: bool, dry_run: bool,
) -> int:  # fmt: skip
    """Draft a suite from an agent's traces, for a person to finish.

    TRACES is an OTLP JSON file, with one export per line or one for the whole file. Each trace
    becomes a case: the question is its input, and the answer a draft of its expected output.
    Near-duplicate questions are merged into one. Keys, e-mail addresses and whatever else your
    patterns match (`[harvest]` in evalcase.toml) are replaced. Nothing is executed or fetched.

    \b
    evalcase harvest traces.jsonl -o real.eval.yaml
    evalcase harvest traces.jsonl --only errored --dry-run
    evalcase harvest traces.jsonl --only service.name=shop --sample 50 --seed 1

    Exit code: 0, 1 if a trace could not be converted to a case, 2 if nothing was written.
    """
    path = output or STDIN
    if path != STDIN and format_of(path) != "yaml":
        raise _nothing(f"{path} is not a .yaml or .yml file, and a suite is YAML")
    _refuse_existing(path)
    config = load_config(os.getcwd(), os.getcwd())
    own = [Finder(name, pattern) for name, pattern in config.harvest.patterns.items()]
    finders = (*(PERSONAL if config.harvest.defaults else ()), *own)
    options = HarvestOptions(traces, only, sample, seed, criteria, keep_system, finders)
    try:
        harvested = harvest_file(options, make_scrubber(config, os.environ, lambda _: None))
    except OSError as error:
        raise _nothing(f"{traces} can't be read: {error.strerror or error}") from error
    except BadTraceError as error:
        raise _nothing(f"{traces}{error}") from error
    if not harvested.cases:
        print_lines(_describe_harvest(harvested), sys.stderr)
        raise _nothing(f"{traces} has no trace that can become a case")
    cases = write_count(harvested.cases, "case")
    what = f"{cases} of {write_count(harvested.traces, 'trace')}"
    talk = _write_suite(harvested.text, path, what, dry_run=dry_run)
    print_lines(_describe_harvest(harvested), talk)
    return 1 if harvested.left_out else 0


def _describe_harvest(harvested: Harvested) -> Iterator[str]:
    if harvested.chosen < harvested.traces:
        yield f"chosen    {harvested.chosen:,} by --only"
    if harvested.merged:
        yield f"folded    {harvested.merged:,} that ask nearly the same as another"
    if harvested.replaced:
        told = [f"{name} × {times:,}" for name, times in harvested.replaced.items()]
        yield f"replaced  {', '.join(told)}"
    for number, why in enumerate(harvested.left_out[:_NAMED]):
        yield f"{'' if number else 'left out':8}  {make_visible(why)}"
    if len(harvested.left_out) > _NAMED:
        yield f"          and {len(harvested.left_out) - _NAMED:,} more"


def _nothing(why: str) -> ConfigError:
    return ConfigError(f"{why}; nothing was written")


def _refuse_existing(path: str) -> None:
    if path != STDIN and os.path.lexists(path):
        raise _nothing(f"{path} already exists")


def _write_suite(
    text: str, path: str, what: str, *, dry_run: bool, replace: bool = False
) -> TextIO:
    """Write a new file, or to standard output, and say so. Return the stream for what else is to
    say: standard output, unless the suite itself is there."""
    talk = sys.stderr if path == STDIN and not dry_run else sys.stdout
    if not dry_run and path == STDIN:
        sys.stdout.write(text)
    elif not dry_run:
        try:
            if leaves_by_link(path):
                raise OutsideError
            write_atomically(path, text.encode(), replace=replace)
        except OSError as error:
            raise _nothing(f"{path} can't be written: {error.strerror or error}") from error
    place = f"{'would write' if dry_run else 'wrote'} {make_visible(path)}: "
    talk.write(f"{'' if path == STDIN else place}{what}\n")
    return talk


@click.command("migrate")
@click.argument("paths", nargs=-1, required=True)
@click.option("--diff", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something would change.")
@stdin_format
def migrate_command(paths: tuple[str, ...], diff: bool, check: bool, stdin_format: Format) -> int:
    """Rename deprecated names in place, and change nothing else.

    input_messages becomes input, expected_messages becomes expected_output, evalcases, eval_cases
    and tests become cases, evaluators, assertions and assert become graders, expected_outcome and
    outcome become criteria, and dataset becomes name. Grader names of promptfoo and AgentV become
    those of evalcase, with the options they imply: icontains becomes contains, with ignore_case. If
    the old and the new name are both there, the old one is left and reported. So is 'execution',
    which takes more than a rename.

    \b
    evalcase migrate evals/ --diff    look first
    evalcase migrate evals/           then do it
    evalcase migrate evals/ --check   in CI: fail if old names are left

    Standard input ('-') is written to standard output. Exit code: 0, 1 with --check if something
    would change, 2 if a file can't be read.
    """
    seen: set[str] = set()
    changed = failed = 0
    for path in discover_files(paths):
        unread = [Rewrite.of_unreadable(path)] if isinstance(path, Problem) else None
        for migration in unread or migrate_file(str(path), Catalogue(), stdin_format):
            if migration.path in seen:
                continue
            seen.add(migration.path)
            changed += bool(migration.changes)
            if diff:
                _write_diff(migration)
            elif not check:
                _write_migration(migration)
            failed += bool(migration.errors)
            # Standard output is for the text itself when that is what was asked for.
            talk = sys.stderr if diff or migration.path == STDIN else sys.stdout
            print_lines(_report_migration(migration, talk, done=not (diff or check)), talk)
    return 2 if failed else 1 if check and changed else 0


def _write_migration(migration: Rewrite) -> None:
    """Write the file anew; a failure to do so becomes one of its errors."""
    if migration.path == STDIN:
        sys.stdout.flush()
        sys.stdout.buffer.write(migration.after)
    elif migration.changes:
        try:
            write_atomically(migration.path, migration.after, before=migration.before)
        except OSError as error:
            message = f"the file can't be written: {error.strerror or error}"
            migration.errors.append(Problem("unwritable-file", message, migration.path))
            migration.changes.clear()


def _write_diff(migration: Rewrite) -> None:
    screen = screen_for(sys.stdout)
    for line in unified_diff(migration.before, migration.after, migration.path):
        if sys.stdout.isatty():
            text = make_visible(line.decode("utf-8", "replace").rstrip("\r\n"))
            print_lines([screen.paint(text, diff_style(text))])
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(line)


def _report_migration(migration: Rewrite, talk: TextIO, *, done: bool) -> Iterator[str]:
    screen = prose_screen(talk)
    path = screen.paint(make_visible(migration.path), "place")
    for span, old, new, _ in migration.changes:
        yield f"{path}:{span.line}:{span.column}: {old} → {screen.paint(new, 'good')}"
    if count := len(migration.changes):
        yield f"{path}: {write_count(count, 'name')} {'renamed' if done else 'to rename'}"
    elif not (migration.left or migration.errors):
        yield f"{path}: nothing to rename"
    for problem in (*migration.left, *migration.errors):
        yield from problem_lines(problem, screen)
