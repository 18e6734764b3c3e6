"""What goes wrong between a card and its host, as exceptions; it decides nothing."""


class CardError(Exception):
    """The host refused a request; `code` says what kind of refusal it is.

    Attributes:
        code: one of `wire.card_messages.FAULT_CODES` or of the gateway's error codes.
        retry_after_ms: when trying again may help; `None` where it would not, or nobody knows.
    """

    def __init__(self, code: str, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_ms = retry_after_ms


class WireLost(Exception):
    """The connection is gone, or could not be opened; the text says why. Trying again may help."""
