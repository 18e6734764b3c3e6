"""From a goal to an answer: rounds, calls, permissions, endings, recovery; it stores nothing by itself."""
