"""`vars`, `var_files`, `matrix` and `rows`: one case as written to the cases that it stands for."""
