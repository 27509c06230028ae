"""Images that every provider takes. Pure, and without any library: the service asks too."""

MOST_IMAGES = 5
LARGEST_IMAGE = 3_500_000
"""Bytes; in base64 that is just within what the strictest provider takes."""
_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def media_type(content: bytes) -> str | None:
    """Of PNG, JPEG, GIF and WebP; None for anything else."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _TYPES if content.startswith(start)), None)
