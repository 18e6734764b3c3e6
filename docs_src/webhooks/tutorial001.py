import hashlib
import hmac
import time


def is_genuine(signature: str, body: bytes, secret: str, tolerance_s: float = 300) -> bool:
    """Whether `X-Toolwire-Signature` holds for the bytes of a body, and is fresh."""
    pairs = [pair.partition("=")[::2] for pair in signature.split(",")]
    at = next((value for name, value in pairs if name == "t"), "")
    if not at.isdigit() or abs(time.time() - int(at)) > tolerance_s:
        return False
    expected = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value, expected) for name, value in pairs)
