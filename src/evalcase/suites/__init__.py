"""One file through `read` and `resolve`; streams of cases; the suites of a run; renaming."""
