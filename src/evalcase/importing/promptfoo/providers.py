"""Providers of promptfoo to targets for the configuration, and who is asked which prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.importing.promptfoo.folder import FILE, Folder, is_code
from evalcase.importing.promptfoo.services import read_service
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import Item
from evalcase.types.value import JSON

SIMULATED = "promptfoo:simulated-user"
_TOLD = ("transform", "delay", "env", "inputs", "functionToolCallbacks")


class Provider(NamedTuple):
    """A provider, in whichever of its spellings it is."""

    id: str
    label: str
    item: Item
    """Where it is named."""
    config: Item
    whole: Item
    """All that is said of it."""
    prompts: list[str] | None = None
    """The labels of the only prompts that it is asked."""


def read_providers(several: Item, folder: Folder) -> Iterator[Provider]:
    """Each provider. Raise ValueError for a file that can't be read."""
    for item in several.items() if isinstance(several.value, list) else [several]:
        if item.value is not None:
            yield from _read_provider(item, folder)


def _read_provider(item: Item, folder: Folder) -> Iterator[Provider]:
    value = item.value
    if isinstance(value, str):
        if value.startswith(FILE) and not is_code(value):
            with folder.reading(value):
                yield from read_providers(folder.parse(value).root, folder)
        else:
            yield Provider(value, "", item, item.at("config"), item)
    elif isinstance(value, dict) and isinstance(value.get("id"), str):
        yield _describe_provider(str(value["id"]), item.at("id"), item)
    elif isinstance(value, dict) and len(value) == 1:
        ((id, held),) = value.items()
        whole = item.at(id)
        if isinstance(held, dict) and isinstance(held.get("id"), str):
            yield _describe_provider(str(held["id"]), whole.at("id"), whole)
        else:
            yield _describe_provider(id, whole, whole)
    else:
        yield Provider("", "", item, item.at("config"), item)


def _describe_provider(id: str, item: Item, whole: Item) -> Provider:
    label, prompts = whole.at("label").value, whole.at("prompts").value
    names = [prompts] if isinstance(prompts, str) else prompts
    wanted = [str(each) for each in names] if isinstance(names, list) else None
    return Provider(
        id, label if isinstance(label, str) else "", item, whole.at("config"), whole, wanted
    )


class Providers:
    """The providers that became targets."""

    def __init__(self, suite: SuiteDraft, folder: Folder) -> None:
        self.suite = suite
        self.folder = folder
        self._named: dict[str, str] = {}
        """The names of targets, by the ids and labels of their providers."""
        self._prompts: dict[str, list[str] | None] = {}

    def add_all(self, several: Item) -> None:
        """Make targets of all providers; what can't be mapped is told."""
        try:
            for provider in read_providers(several, self.folder):
                self._add(provider)
        except ValueError as error:
            self.suite.lose(several, f"providers: {error}")
        names = list(self._prompts)
        if names:
            self.suite.fields["targets"] = [*names]

    def _add(self, provider: Provider) -> None:
        name = self.map(provider)
        if name is not None:
            self._prompts[name] = provider.prompts

    def map(self, provider: Provider) -> str | None:
        """The name of the target that a provider becomes; None, if there is none."""
        known = self._named.get(provider.label or provider.id)
        if known is not None and not isinstance(provider.whole.value, dict):
            return known
        try:
            target = read_service(provider.id, provider.config, self._tell)
        except NoCounterpartError as error:
            self.suite.lose(provider.item, str(error), error.hint)
            return None
        for field in _TOLD:
            held = provider.whole.at(field)
            if held.value is not None:
                self._tell(held._replace(value=None), f"`{field}` of a provider")
        name = self._name(provider, target)
        self.suite.targets[name] = target
        for each in filter(None, (provider.label, provider.id)):
            self._named.setdefault(each, name)
        return name

    def _tell(self, item: Item, why: str, hint: str | None = None) -> None:
        self.suite.lose(item, why, hint, at="key")

    def _name(self, provider: Provider, target: Mapping[str, JSON]) -> str:
        base = provider.label or str(target.get("model") or provider.id.split(":")[0])
        name, number = base, 1
        while name in self.suite.targets:
            number += 1
            name = f"{base}-{number}"
        return name

    def targets_for(
        self, fields: Mapping[str, Item], prompt: str, case: CaseDraft
    ) -> list[JSON] | None:
        """Who is asked in a case; None, if it is everybody."""
        override = fields.get("provider")
        if override is not None and self.simulated_user(override) is None:
            return self._override(override, case)
        names = [each for each, wanted in self._prompts.items() if _is_wanted(prompt, wanted)]
        if "providers" in fields:
            names = self._filter(names, fields["providers"])
        return None if names == list(self._prompts) or not names else [*names]

    def simulated_user(self, item: Item | None) -> Provider | None:
        """A provider that is no service, but plays the user of a conversation."""
        try:
            found = next(read_providers(item, self.folder), None) if item is not None else None
        except ValueError:
            return None
        return found if found is not None and found.id == SIMULATED else None

    def _override(self, item: Item, case: CaseDraft) -> list[JSON] | None:
        try:
            provider = next(read_providers(item, self.folder))
        except (ValueError, StopIteration) as error:
            case.lose(item, f"`provider` of a test: {error}", at="key")
            return None
        known = self._named.get(provider.id)
        name = known if known and isinstance(item.value, str) else self.map(provider)
        return None if name is None else [name]

    def _filter(self, names: list[str], item: Item) -> list[str]:
        wanted = item.value if isinstance(item.value, list) else [item.value]
        meant = {self._named.get(str(each), str(each)) for each in wanted}
        kinds = tuple(str(each).removesuffix("*") for each in wanted if str(each).endswith("*"))
        by_name = {target: id for id, target in self._named.items()}
        return [
            each for each in names
            if each in meant or (kinds and by_name.get(each, "").startswith(kinds))
        ]  # fmt: skip


def _is_wanted(prompt: str, wanted: list[str] | None) -> bool:
    return wanted is None or any(prompt == each or prompt.startswith(f"{each}:") for each in wanted)
