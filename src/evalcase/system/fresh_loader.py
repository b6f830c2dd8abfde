"""Loads a file of a project from its text, never from what was compiled of it before: that is known
by its second and its length, and an edit may change neither."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from types import CodeType


class FreshLoader(SourceFileLoader):
    """Compiles the text as it is now."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)
