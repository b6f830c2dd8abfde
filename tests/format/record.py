"""Write the canonical form of every valid document of the corpus to its record."""

import json
from pathlib import Path

import evalcase

CORPUS = Path(__file__).parent.parent / "corpus"


def main() -> None:
    forms = {
        path.name: evalcase.load(path).to_dict()
        for path in sorted((CORPUS / "valid").iterdir())
        if path.suffix in (".yaml", ".json", ".jsonl") and ".suite." not in path.name
    }
    text = json.dumps(forms, indent=1, ensure_ascii=False) + "\n"
    (CORPUS / "canonical.json").write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
