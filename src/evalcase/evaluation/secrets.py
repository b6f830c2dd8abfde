"""What is secret in a run, as its configuration and its targets say; and nothing of it in errors
and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from evalcase.config.config import Config
from evalcase.config.targets import key_names
from evalcase.errors import ConfigError, RecordError, TargetError
from evalcase.types.target import Target, Warn
from evalcase.util.secrets import Scrubber


def make_scrubber(config: Config, environment: Mapping[str, str], warn: Warn) -> Scrubber:
    """One that knows what the configuration names. What a person should know of it goes to `warn`,
    as it is."""
    names = key_names(config, ())
    scrubber = Scrubber(environment, names, warn)
    for options in config.targets.values():
        own: object = options.get("env")
        # A program may be given a variable that evalcase itself hasn't got.
        for name, value in own.items() if isinstance(own, dict) else ():
            if name in names and isinstance(value, str):
                scrubber.add(name, value)
    return scrubber


def watch_keys(scrubber: Scrubber, *targets: Target) -> None:
    """Take in the variables that targets take secrets from. Some know them once they are open."""
    scrubber.watch(name for target in targets for name in target.traits.key_names)


@contextmanager
def errors_without_secrets(scrubber: Scrubber) -> Iterator[None]:
    """What keeps a run from being carried out is printed, and may have a key in it."""
    try:
        yield
    except (ConfigError, RecordError, TargetError) as error:
        said = str(error)
        clean = scrubber.text(said)
        if clean == said:
            raise
        if isinstance(error, ConfigError) and error.messages:
            raise ConfigError.several([scrubber.text(each) for each in error.messages]) from None
        raise type(error)(clean) from None


def refuse_secret_names(names: Iterable[str], scrubber: Scrubber) -> None:
    """Names are kept in the record as they are, or no run could be resumed."""
    for name in names:
        shown = scrubber.data(name)
        if shown != name:
            raise ConfigError(
                f"target `{shown}` has a secret in its name, and names are kept in the record: let "
                "it take the value from the environment, or configure it under a name of its own"
            )
