"""The pages to sign in and OAuth's as HTML without scripts, and the headers that guard them; they know no request.

Everything that comes from outside is escaped, the one style is let in by its hash, and nothing can be loaded, framed or
sent elsewhere than the policy says.
"""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from msgspec import Struct
from starlette.responses import Response

from toolwire.gateway.oauth.words import Words

_STYLE = """
:root{color-scheme:light dark;--ink:#16181d;--soft:#5b6270;--paper:#f4f5f7;--sheet:#fff;--line:#d9dce3;--go:#1a56db;
--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaf0;--soft:#9aa3b2;--paper:#101216;--sheet:#1a1d23;--line:#323743;
--go:#7aa2ff;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;padding:24px 16px;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}main{max-width:30rem;margin:8vh auto 0;padding:24px;background:var(--sheet);
border:1px solid var(--line);border-radius:12px}h1{margin:0 0 8px;font-size:1.25rem;overflow-wrap:anywhere}
p{margin:8px 0;overflow-wrap:anywhere}.soft{color:var(--soft);font-size:.875rem}.bad{color:var(--bad)}
.to{padding:8px 12px;border:1px solid var(--line);border-radius:8px}.to b{overflow-wrap:anywhere}
fieldset{margin:16px 0;padding:8px 12px;border:1px solid var(--line);border-radius:8px;max-height:40vh;overflow:auto}
legend{padding:0 4px}label{display:block;padding:4px 0;overflow-wrap:anywhere}
input[type=password]{width:100%;padding:8px;border:1px solid var(--line);border-radius:8px;background:transparent;
color:inherit;font:inherit}
button{padding:8px 20px;border:1px solid var(--line);border-radius:8px;background:transparent;
color:inherit;font:inherit;cursor:pointer}button.go{border-color:var(--go);background:var(--go);color:var(--sheet)}
button.as-link{padding:0;border:0;color:var(--go)}.row{display:flex;gap:12px;margin-top:16px}
:focus-visible{outline:2px solid var(--go);outline-offset:2px}a{color:var(--go)}footer{margin-top:16px}
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()


class AgentChoice(Struct, frozen=True):
    """An agent that can be picked."""

    agent_id: str
    name: str
    picked: bool


class Asked(Struct, frozen=True):
    """What an owner is asked. `document` is the host that proves who the client is, "" where nothing does."""

    client_name: str
    redirect_host: str
    local: bool
    document: str
    agents: Sequence[AgentChoice]
    owner: str
    token: str


def page(body: str, words: Words, status: int = 200, form_sources: Sequence[str] = ()) -> Response:
    """A page.

    Args:
        body: what stands in it, as HTML.
        words: its language.
        status: the HTTP status.
        form_sources: where its forms may lead beside this server, as sources of a policy.
    """
    text = (
        f'<!doctype html><html lang="{words["lang"]}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="robots" content="noindex"><title>{words["title"]}</title><style>{_STYLE}</style></head>'
        f"<body><main>{body}</main></body></html>"
    )
    return Response(text, status, guarding_headers(form_sources), "text/html; charset=utf-8")


def guarding_headers(form_sources: Sequence[str] = ()) -> dict[str, str]:
    """What guards a page: no scripts, no frames around it, nothing loaded, no address told to others.

    A browser holds the redirect that answers a form against `form-action`, so where the form leads must stand there.
    The referrer policy is not `no-referrer`, because with that a form's Origin would be `null`.
    """
    sources = ["'self'", *form_sources]
    policy = (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action {' '.join(sources)}"
    )
    return {
        "content-security-policy": policy,
        "x-frame-options": "DENY",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "content-language": "en, zh-CN",
        "vary": "Accept-Language, Cookie",
    }


def sign_in_body(words: Words, wrong: bool) -> str:
    """The form in which an owner shows its key to see what a client asks for."""
    return _key_form(words, "sign_in_why", "owner_key_hint", words["bad_key"] if wrong else "")


def arrival_body(words: Words, problem: str = "") -> str:
    """The same form before the canvas, with what went wrong."""
    return _key_form(words, "sign_in_here", "key_is_in", problem)


def _key_form(words: Words, why: str, hint: str, problem: str) -> str:
    return (
        f"<h1>{words['sign_in']}</h1><p>{words[why]}</p>{_bad(problem)}"
        f'<form method="post"><input type="hidden" name="action" value="sign_in">'
        f'<label for="key">{words["owner_key"]}</label>'
        '<input id="key" type="password" name="owner_key" autocomplete="off" required autofocus>'
        f'<p class="soft">{words[hint]}</p>'
        f'<div class="row"><button class="go">{words["sign_in"]}</button></div></form>'
    )


def consent_body(words: Words, asked: Asked, problem: str = "") -> str:
    """What a client asks for, and the two answers to it."""
    trust = f"{words['proved']}: <b>{escape(asked.document)}</b>" if asked.document else words["unproved"]
    host = escape(asked.redirect_host)
    place = f"<b>{host}</b>" + (f" ({words['this_machine']})" if asked.local else "")
    agents = "".join(_choice(agent) for agent in asked.agents)
    allow = f'<button class="go" name="action" value="allow">{words["allow"]}</button>' if asked.agents else ""
    return (
        f"<h1>“{escape(asked.client_name)}” {words['asks']}</h1>"
        f'<p class="soft">{trust}</p><p class="to">{words["leads_to"]} {place}</p>{_bad(problem)}'
        f'<form method="post"><input type="hidden" name="token" value="{asked.token}">'
        f"<fieldset><legend>{words['pick']}</legend>{agents or words['no_agents']}</fieldset>"
        f'<p class="soft">{words["may"]}</p><div class="row">{allow}'
        f'<button name="action" value="deny">{words["deny"]}</button></div>'
        f'<footer class="soft">{words["signed_in_as"]} {escape(asked.owner)} · '
        f'<button class="as-link" name="action" value="sign_out">{words["sign_out"]}</button></footer></form>'
    )


def refusal_body(words: Words, description: str, back: str = "", host: str = "") -> str:
    """Why a request goes no further; with `back` a way to where the client waits, which is at `host`."""
    link = f'<p><a href="{escape(back)}" rel="noreferrer">{words["back"]} ({escape(host)})</a></p>' if back else ""
    told = f'<p class="soft"><code>{escape(description)}</code></p>'
    return f"<h1>{words['refused']}</h1><p>{words['refused_why']}</p>{told}{link}"


def link_body(words: Words, owner: str) -> str:
    """The question whether the opener of a link wants to be signed in: programs open links, too, to look at them."""
    return (
        f"<h1>{words['link_title']}</h1><p>{words['signed_in_as']} <b>{escape(owner)}</b></p><p>{words['link_why']}</p>"
        f'<form method="post"><div class="row"><button class="go">{words["sign_in"]}</button></div></form>'
    )


def _choice(agent: AgentChoice) -> str:
    checked = " checked" if agent.picked else ""
    agent_id = escape(agent.agent_id)
    return (
        f'<label><input type="checkbox" name="agent" value="{agent_id}"{checked}> {escape(agent.name)}'
        f' <span class="soft">{agent_id}</span></label>'
    )


def _bad(text: str) -> str:
    return f'<p class="bad" role="alert">{escape(text)}</p>' if text else ""
