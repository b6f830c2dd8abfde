"""Files of a traceback that are nobody's own, wherever they were."""

from __future__ import annotations

from evalcase.util.text import is_foreign_file
from tests.for_each import for_each


@for_each(
    ("path", "is_foreign"),
    [
        ("/srv/shop/agent.py", False),
        ("C:\\shop\\agent.py", False),
        ("/srv/libs/python3.py", False),
        ("/venv/lib/python3.11/site-packages/httpx/_client.py", True),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", True),
        ("C:\\Python\\Lib\\site-packages\\httpx\\_client.py", True),
        ("/usr/lib/python3.12/json/decoder.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("<string>", True),
    ],
)
def test_files_of_python_and_of_packages_are_foreign(path: str, is_foreign: bool) -> None:
    assert is_foreign_file(path) is is_foreign
