"""What the pages to sign in and OAuth's pages say, in English and Chinese; it lays nothing out."""

# ruff: noqa: RUF001 -- Chinese has commas and brackets of its own
from typing import Final

from toolwire.gateway.languages import language_of

Words = dict[str, str]

ENGLISH: Final[Words] = {
    "lang": "en",
    "title": "Toolwire",
    "sign_in": "Sign in",
    "sign_in_why": "An app asks to call your agents. Sign in to see what it asks for.",
    "sign_in_here": "Open the link that “toolwire sign-in” prints, or paste your owner key.",
    "key_is_in": "It is in owner.key of the data folder.",
    "owner_key": "Owner key (oag_…)",
    "owner_key_hint": "It is in owner.key of the data folder. Or open the link that “toolwire sign-in” prints.",
    "bad_key": "That is not an owner's key that is good here.",
    "asks": "asks to call your agents",
    "unproved": "The app chose this name itself.",
    "proved": "This app is known by its address",
    "leads_to": "Afterwards your browser goes to",
    "this_machine": "a program on this computer",
    "pick": "Agents it may call",
    "none_picked": "Pick at least one agent, or deny.",
    "no_agents": "You have no agent that is published over MCP. Publish one, and try again.",
    "may": "It may list and call the tools of the agents you pick, and read what they offer, until you revoke it.",
    "allow": "Allow",
    "deny": "Deny",
    "signed_in_as": "Signed in as",
    "sign_out": "Sign out",
    "stale": "This page was too old. Look at it again and decide.",
    "refused": "This cannot be done",
    "refused_why": "The app's request is not in order. Nothing was given to it.",
    "back": "Back to the app",
    "link_title": "Sign in on this browser",
    "link_why": "Only go on if you asked for this link yourself.",
    "link_bad": "This link was used, or is too old. “toolwire sign-in” prints a new one.",
}

CHINESE: Final[Words] = {
    "lang": "zh-CN",
    "title": "Toolwire",
    "sign_in": "登录",
    "sign_in_why": "有应用请求调用你的智能体。请先登录，再查看它的请求。",
    "sign_in_here": "请打开 “toolwire sign-in” 给出的链接，或粘贴所有者密钥。",
    "key_is_in": "它在数据目录的 owner.key 文件里。",
    "owner_key": "所有者密钥（oag_…）",
    "owner_key_hint": "它在数据目录的 owner.key 文件里。也可以打开登录链接：运行 “toolwire sign-in” 即可得到。",
    "bad_key": "这不是在此有效的所有者密钥。",
    "asks": "请求调用你的智能体",
    "unproved": "这个名称由应用自行填写。",
    "proved": "此应用以其网址为身份",
    "leads_to": "之后浏览器会前往",
    "this_machine": "本机上的程序",
    "pick": "允许它调用的智能体",
    "none_picked": "请至少选择一个智能体，或拒绝。",
    "no_agents": "你没有通过 MCP 发布的智能体。请先发布一个，再重试。",
    "may": "在你撤销之前，它可以列出并调用所选智能体的工具，并读取它们提供的内容。",
    "allow": "允许",
    "deny": "拒绝",
    "signed_in_as": "当前登录：",
    "sign_out": "退出登录",
    "stale": "页面已过期，请重新查看后再决定。",
    "refused": "无法完成",
    "refused_why": "应用的请求有误，没有给它任何权限。",
    "back": "返回应用",
    "link_title": "在此浏览器登录",
    "link_why": "仅当链接是你自己要来的时才继续。",
    "link_bad": "链接已被使用或已过期。运行 “toolwire sign-in” 可得到新的链接。",
}


def words_for(accept_language: str) -> Words:
    """The words for a browser."""
    return CHINESE if language_of(accept_language) == "zh" else ENGLISH
