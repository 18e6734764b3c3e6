"""What authors test with: tools and agents without a gateway, a model or a network; production does not use it."""

from toolwire.testing.agents import Answered as Answered
from toolwire.testing.agents import Harness as Harness
from toolwire.testing.cards import MockCall as MockCall
from toolwire.testing.cards import MockHost as MockHost
from toolwire.testing.cards import text_of as text_of
