"""Puts the parts of webhooks together; it decides nothing by itself."""

from msgspec import Struct

from toolwire.compose import Opened, open_poster
from toolwire.config import Config
from toolwire.gateway.agents import Agents
from toolwire.gateway.outbox import Outbox, SendRules
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_webhooks import WebhookRoutes
from toolwire.gateway.webhook_events import KeepTerms, WebhookEvents
from toolwire.gateway.webhook_secrets import SecretBox
from toolwire.gateway.webhook_shelf import WebhookShelf
from toolwire.gateway.webhooks import Webhooks


class WebhookService(Struct, frozen=True):
    """Webhooks of one gateway: `shelf.load` before calls come, `outbox.keep` while serving."""

    shelf: WebhookShelf
    webhooks: Webhooks
    outbox: Outbox

    def routes(self, reader: Reader) -> WebhookRoutes:
        """Their REST routes."""
        return WebhookRoutes(reader, self.webhooks)


def webhook_service(config: Config, opened: Opened, agents: Agents) -> WebhookService:
    """Webhooks on ports that are open already; from here on the engine lets them join its commits."""
    engine, store, clock = opened.engine, opened.store, opened.clock
    shelf, box, poster = WebhookShelf(store), SecretBox(opened.secret), open_poster(config, clock)
    schedule_s, attempts = config.webhook_schedule_s, len(config.webhook_schedule_s) + 1
    attempts_s = 1.1 * sum(schedule_s) + attempts * (config.webhook_timeout_s + 60)
    terms = KeepTerms(config.keyed_deadline_s, attempts_s, config.history_ttl_s)
    events = WebhookEvents(shelf, engine.recorder, clock, terms)
    rules = SendRules(config.webhook_timeout_s, schedule_s, config.webhook_parallel, config.compat_headers)
    outbox = Outbox(store, engine.recorder, shelf, box, poster, clock, rules, config.history_ttl_s)
    events.wake, events.wake_soon = outbox.wake, outbox.wake_soon
    engine.endings.witness = events
    webhooks = Webhooks(engine, shelf, events, box, poster)
    agents.on_removed(webhooks.agent_removed)
    return WebhookService(shelf, webhooks, outbox)
