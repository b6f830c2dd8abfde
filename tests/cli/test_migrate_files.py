from __future__ import annotations

from pathlib import Path

from tests.cli.command import evalcase, shell, unprivileged
from tests.cli.migrating import NEW, OLD, migrate
from tests.for_each import for_each

# Standard input


def test_standard_input_goes_to_standard_output(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + OLD.replace(b"\n", b"\r\n")
    result = evalcase("migrate", "-", stdin=data, cwd=tmp_path)
    assert result.code == 0
    assert result.stdout == b"\xef\xbb\xbf" + NEW.replace(b"\n", b"\r\n")
    assert "-:1:3: input_messages → input" in result.err
    assert list(tmp_path.iterdir()) == []


def test_standard_input_in_every_format() -> None:
    line = b'{"input_messages": "a"}\n'
    for format in ("json", "jsonl"):
        result = evalcase("migrate", "-", "--stdin-format", format, stdin=line)
        assert (result.code, result.stdout) == (0, b'{"input": "a"}\n')
    result = evalcase("migrate", "-", "--stdin-format", "jsonl", stdin=line * 3)
    assert result.stdout == b'{"input": "a"}\n' * 3


def test_standard_input_with_errors_comes_out_as_it_went_in() -> None:
    data = b"- input_messages: [\r\n"
    result = evalcase("migrate", "-", stdin=data)
    assert (result.code, result.stdout) == (2, data)
    assert "error[syntax]" in result.err


# Files


def test_a_folder_is_searched_and_each_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.eval.yaml").write_bytes(OLD)
    (tmp_path / "sub" / "b.eval.json").write_bytes(b'[{"input": "a", "criteria": "x"}]')
    (tmp_path / "other.yaml").write_bytes(OLD)
    result = evalcase("migrate", tmp_path)
    assert result.code == 0
    assert (tmp_path / "a.eval.yaml").read_bytes() == NEW
    assert (tmp_path / "other.yaml").read_bytes() == OLD
    assert "a.eval.yaml: 2 names renamed" in result.out
    assert "b.eval.json: nothing to rename" in result.out


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "x.yaml"
    target.write_bytes(OLD)
    link = tmp_path / "x.yaml"
    link.symlink_to("real/x.yaml")
    assert evalcase("migrate", link).code == 0
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert [path.name for path in tmp_path.rglob(".*")] == []


@for_each("mode", [0o600, 0o644, 0o755, 0o640])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(OLD)
    path.chmod(mode)
    assert evalcase("migrate", path).code == 0
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o7777 == mode


def test_a_file_that_is_read_only_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(OLD)
    path.chmod(0o400)
    result = unprivileged("migrate", path)
    assert (result.code, path.read_bytes()) == (2, OLD)
    assert "can't be written: it is read-only" in result.out


def test_a_disk_that_takes_nothing_leaves_the_file_alone(tmp_path: Path) -> None:
    # No file may grow beyond zero bytes, as on a full disk.
    (tmp_path / "x.yaml").write_bytes(OLD)
    result = shell("ulimit -f 0; $EVALCASE migrate x.yaml | cat", cwd=tmp_path)
    assert "x.yaml: error[" in result.out
    assert "can't be written: File too large" in result.out
    assert "renamed" not in result.out
    assert (tmp_path / "x.yaml").read_bytes() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml"]
    code = shell("ulimit -f 0; $EVALCASE migrate x.yaml > /dev/null", cwd=tmp_path).code
    assert code == 2


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "evals"
    folder.mkdir()
    (folder / "x.yaml").write_bytes(OLD)
    folder.chmod(0o555)
    try:
        result = unprivileged("migrate", folder / "x.yaml")
    finally:
        folder.chmod(0o755)
    assert result.code == 2
    assert "Permission denied" in result.out
    assert (folder / "x.yaml").read_bytes() == OLD


def test_a_failure_in_one_file_does_not_stop_the_next(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_bytes(OLD)
    (tmp_path / "a").chmod(0o555)
    try:
        result = unprivileged("migrate", "a/x.yaml", "b/x.yaml", cwd=tmp_path)
    finally:
        (tmp_path / "a").chmod(0o755)
    assert result.code == 2
    assert (tmp_path / "a" / "x.yaml").read_bytes() == OLD
    assert (tmp_path / "b" / "x.yaml").read_bytes() == NEW


def test_thousands_of_names(tmp_path: Path) -> None:
    data = b"".join(b"- {id: c%d, input_messages: hi, outcome: x}\n" % n for n in range(3_000))
    result, found = migrate(tmp_path, "x.yaml", data)
    assert result.code == 0
    assert found == data.replace(b"input_messages", b"input").replace(b"outcome", b"criteria")
    assert "6,000 names renamed" in result.out
