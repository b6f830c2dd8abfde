"""Content of a message to parts that every chat API knows in a shape of its own.

| content | part |
|---|---|
| text, `{type: text}` | text |
| data | its JSON, as text |
| `{type: file, path}` | text with the name of the file, an image, or a PDF |
| `{type: image}` with `path`, `url`, `data` (base64), or `value`, which is any of them | an image |
| any other mapping with a type | itself |
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import NamedTuple, TypeAlias

from evalcase.errors import TargetError
from evalcase.targets.asking.files import ContentFile, Files, image_type
from evalcase.types.message import find_picture, part_text, parts_of
from evalcase.types.value import JSON


class TextPart(NamedTuple):
    text: str
    extras: dict[str, JSON]


class ImagePart(NamedTuple):
    url: str | None
    """Where it is; None where there is data."""
    media_type: str
    data: str
    """Base64."""
    extras: dict[str, JSON]

    @property
    def address(self) -> str:
        """Where it is, or a data URL."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


class PdfPart(NamedTuple):
    name: str
    data: str
    """Base64."""
    extras: dict[str, JSON]


ContentPart: TypeAlias = TextPart | ImagePart | PdfPart | dict[str, JSON]


def read_content_parts(content: JSON, files: Files) -> list[ContentPart]:
    """The parts of some content. Raise TargetError for one that can't be sent."""
    if content is None:
        return []
    if isinstance(content, str):
        return [TextPart(content, {})]
    parts = parts_of(content)
    if not parts:
        return [TextPart(json.dumps(content, ensure_ascii=False), {})]
    return [_read_part(part, files) for part in parts]


def _read_part(part: dict[str, JSON], files: Files) -> ContentPart:
    kind = part["type"]
    text = part_text(part)
    if text is not None:
        return TextPart(text, _drop_names(part, "text", "value"))
    name = part.get("path", part.get("value"))
    if kind == "file" and isinstance(name, str) and name in files:
        return _part_of_file(files[name], _drop_names(part, "path", "value"))
    return _read_image(part, files) if kind == "image" else part


def _part_of_file(file: ContentFile, extras: dict[str, JSON]) -> ContentPart:
    if file.media_type == "application/pdf":
        return PdfPart(file.name, file.data, extras)
    if file.media_type == "text/plain":
        return TextPart(f'<file name="{file.name}">\n{file.data}\n</file>', extras)
    return ImagePart(None, file.media_type, file.data, extras)


def _read_image(part: dict[str, JSON], files: Files) -> ContentPart:
    found = find_picture(part)
    if found is None:
        # An image in the shape of some provider: that is what it was written for.
        return part
    extras = _drop_names(part, found.key, "media_type", "mime_type")
    if found.kind == "file":
        file = files[found.text]
        if not file.media_type.startswith("image/"):
            raise TargetError(f"`{found.text}` is not a PNG, JPEG, GIF or WebP image")
        return ImagePart(None, file.media_type, file.data, extras)
    if found.kind == "address":
        return read_address(found.text, extras)
    media_type = part.get("media_type", part.get("mime_type"))
    return _read_inline_image(
        found.text, media_type if isinstance(media_type, str) else None, extras
    )


def read_address(url: str, extras: dict[str, JSON]) -> ImagePart:
    """An image of an address, which may hold the image itself."""
    head, comma, data = url.partition(",")
    scheme, _, kind = head.partition(":")
    if scheme.lower() == "data" and kind.endswith(";base64") and comma:
        return _read_inline_image(data, kind.partition(";")[0] or None, extras)
    return ImagePart(url, "", "", extras)


def _read_inline_image(data: str, media_type: str | None, extras: dict[str, JSON]) -> ImagePart:
    data = "".join(data.split())
    try:
        start = b64decode(data[:64], validate=True)
    except ValueError:
        raise TargetError("`data` of an image is not base64") from None
    found = media_type or image_type(start)
    if found is None:
        raise TargetError("an image has `data` without a `media_type`, such as image/png")
    return ImagePart(None, found, data, extras)


def _drop_names(part: dict[str, JSON], *names: str) -> dict[str, JSON]:
    return {key: value for key, value in part.items() if key != "type" and key not in names}
