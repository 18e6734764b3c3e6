"""A request of OAuth that is refused, in OAuth's own words; how that is told is the routes' to say."""


class Refused(Exception):
    """What a client is told.

    Args:
        error: a code of RFC 6749, 5.2 or 4.1.2.1, of RFC 7591, 3.2.2, or of RFC 8707, 2.
        description: for people; lower case, ASCII without quotes and backslashes, as RFC 6749 has it.
        status: the HTTP status where it is told as JSON.
    """

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status
