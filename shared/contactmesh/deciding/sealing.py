"""Cursors and tokens: what a service gives away and wants back unchanged."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

_MAC_BYTES = 16


class NotSealedHere(Exception):
    """The text is malformed, was changed, or was sealed under another key or for something else."""


def seal(key: bytes, purpose: tuple[str, ...], content: bytes) -> str:
    """Write content so that nobody else can have written it; it is readable all the same.

    Args:
        key: the secret that all copies of the service share.
        purpose: what the content is for and whom it belongs to, as many parts in every text of one
            kind, without NUL characters.
        content: what to write.

    Returns:
        Text that a URL may hold.
    """
    return urlsafe_b64encode(content + _mac(key, purpose, content)).decode().rstrip("=")


def unseal(key: bytes, purpose: tuple[str, ...], text: str) -> bytes:
    """The content that was sealed under this key for this purpose.

    Raises:
        NotSealedHere: it was not.
    """
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as error:
        raise NotSealedHere from error
    content, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, purpose, content)):
        raise NotSealedHere
    return content


def _mac(key: bytes, purpose: tuple[str, ...], content: bytes) -> bytes:
    message = b"\0".join([*(part.encode() for part in purpose), content])
    return hmac.digest(key, message, sha256)[:_MAC_BYTES]
