"""A judge's verdicts and people's labels in; how far the judge can be trusted out."""
