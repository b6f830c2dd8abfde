"""What is wrong with options, told to whoever writes TOML."""

from __future__ import annotations

from evalcase.model.shape import OptionFault


def in_toml(fault: OptionFault) -> OptionFault:
    """The same with its example as TOML has it."""
    if fault.example is None:
        return fault
    from evalcase.text.toml_writer import write_setting

    return fault._replace(hint=f"for example {write_setting(*fault.example)}")
