"""Numbers of the page and of the terminal are rounded by one rule: the script is run by node."""

from evalcase.report.figures import write_percent
from tests.report.page.in_node import run_script

SAY = """
const values = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify([values.map(sayPercent), values.map(sayScore)]));
"""


def test_rates_and_scores_are_what_the_terminal_says() -> None:
    shares = [k / n for n in (*range(1, 130), 160, 400, 800, 1000, 3000) for k in range(n + 1)]
    percents, scores = run_script(["numbers.js"], SAY, shares)
    assert percents == [write_percent(share) for share in shares]
    assert scores == [f"{share:.2f}" for share in shares]
    assert percents[shares.index(65 / 80)] == "81.2%"
