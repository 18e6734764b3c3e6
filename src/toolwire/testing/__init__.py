"""What authors test with: tools and agents without a gateway, a model or a network; production does not use it."""

from toolwire.testing.agents import Answered as Answered
from toolwire.testing.agents import Harness as Harness
