import struct
import zlib

from toolwire.agent import Agent, Image

agent = Agent("weather")


@agent.tool
def sky() -> Image:
    """Show the colour of the sky, as a picture of one pixel."""
    return Image(png_of_one_pixel(bytes((120, 180, 250))), "image/png")


@agent.tool
def climate(city: str) -> dict[str, object]:
    """Tell the climate of a city as data."""
    return {"city": city, "mean_c": 17.5, "rainy_days": 104}


def png_of_one_pixel(rgb: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" + rgb)) + chunk(b"IEND", b"")
