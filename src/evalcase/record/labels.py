"""A file of labels, one JSON object in each line: read whole, written one by one.

It is kept with the suites, and people edit it: what is wrong in it is said with its line.
"""

from __future__ import annotations

import os

from evalcase.errors import ConfigError
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.label import Label
from evalcase.system.disk import Disk, LocalDisk, write_all
from evalcase.system.files import open_file, open_to_append
from evalcase.text.readable import as_json
from evalcase.text.strict_json import parse_object

_LONGEST = 1024 * 1024


def read_labels(path: str) -> list[Label]:
    """Every label, in order. Raise ConfigError if a line is none; FileNotFoundError is left."""
    labels: list[Label] = []
    try:
        with open_file(path) as file:
            number = 0
            while line := file.readline(_LONGEST + 1):
                number += 1
                if line.strip():
                    labels.append(_read_label(line, f"{path}:{number}"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error
    return labels


def _read_label(line: bytes, where: str) -> Label:
    if len(line) > _LONGEST:
        raise ConfigError(f"{where}: this line is too long for a label")
    try:
        label = decode_object(Label, parse_object(line))
        if label.drawn_from is not None and not 0 < label.drawn_from <= 1:
            raise ValueError("`drawn_from` must be a share of more than 0, and at most 1")
        return label
    except ValueError as error:
        raise ConfigError(f"{where}: this is not a label: {error}") from error


class LabelFile:
    """Appends labels. Each is on disk when `append` returns."""

    def __init__(self, path: str, disk: Disk | None = None) -> None:
        self._path = path
        self._disk = disk or LocalDisk()

    def append(self, label: Label) -> None:
        line = as_json(encode_object(label)).encode("utf-8", "backslashreplace") + b"\n"
        try:
            self._write(line)
        except OSError as error:
            message = f"{self._path} can't be written: {error.strerror or error}"
            raise ConfigError(message) from error

    def _write(self, line: bytes) -> None:
        fd = open_to_append(self._path)
        try:
            size = os.fstat(fd).st_size
            # An editor may have left the last line without its end.
            if size and os.pread(fd, 1, size - 1) != b"\n":
                line = b"\n" + line
            write_all(self._disk, fd, line)
            self._disk.fsync(fd)
        finally:
            os.close(fd)
