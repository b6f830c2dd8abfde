"""Graders, one small file each. What a grader is stands in `model.grader`."""
