from __future__ import annotations

from pathlib import Path

from evalcase.editor.complete import TagIndex


def test_tags_of_all_suites_the_most_frequent_first(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text("tags: [all]\ncases:\n- {input: x, tags: [b, a]}\n")
    (tmp_path / "b.eval.jsonl").write_text('{"input": "x", "tags": ["a"]}\nno JSON\n')
    (tmp_path / "c.eval.json").write_text("{")
    (tmp_path / "d.eval.yaml").write_text(
        "- {input: x, tags: [5, {a: b}], metadata: {tags: [m]}}\n"
    )
    tags = TagIndex()
    assert tags.find(str(tmp_path)) == ["a", "all", "b"]
    assert tags.find(str(tmp_path), [{"tags": ["new"]}]) == ["a", "all", "b", "new"]
