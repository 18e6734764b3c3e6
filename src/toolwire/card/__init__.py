"""The library of those who write cards in Python, and what a card's manifest may say."""
