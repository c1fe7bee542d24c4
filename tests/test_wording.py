"""Numbers in sentences: one is not several."""

from __future__ import annotations

import re
from pathlib import Path

from trope.wording import counted

SOURCE = Path(__file__).parents[1] / "src" / "trope"
NOUNS = "epochs|errors|warnings|pairs|texts|weights|components|dimensions"


def test_one_is_not_several() -> None:
    assert [counted(n, "fold") for n in (0, 1, 1_200)] == ["0 folds", "1 fold", "1,200 folds"]
    assert [counted(n, "row is", "rows are") for n in (1, 2)] == ["1 row is", "2 rows are"]


def test_commands_count_in_one_way() -> None:
    """A number before a noun in the plural says `1 epochs` sooner or later."""
    wrong = re.compile(rf"\{{[^{{}}]*(:,)?\}} ({NOUNS})\b")
    paths = [*SOURCE.glob("training/*.py"), *SOURCE.glob("evaluation/**/*.py")]
    paths += [SOURCE / name for name in ("cli/train.py", "cli/check.py", "checkpoints.py")]
    for path in paths:
        for line in path.read_text().splitlines():
            assert not wrong.search(line), f"{path.name}: {line.strip()}"
