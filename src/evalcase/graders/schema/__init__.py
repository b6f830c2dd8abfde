"""JSON Schema 2020-12, as far as people use it: schemas checked, values held to them."""
